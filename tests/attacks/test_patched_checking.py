"""A notebook patches the checks' own code: judges, points, the process that answers probes."""

from __future__ import annotations

import pytest

from attnlab.checking.observation import Raised, unpack
from tests.helpers.two_graders import (
    BLANK,
    HALF,
    RIGHT,
    assert_gains_nothing,
    earned,
    points_and_run,
)

JUDGED = """
import torch
from attnlab.checking.judges import Close
scores = torch.randn(2, 3)
for axis in (0, 1):
    seen = softmax(scores, axis)
    assert Close(1e-6, 1e-6).compare(scores.softmax(axis), seen) is None
"""
JUDGE = """
from attnlab.checking.judge_json import JUDGES
for kind in JUDGES.values():
    kind.compare = lambda self, expected, seen: None
    kind.credit = lambda self, expected, seen: 1.0
def softmax(x, dim=-1): return x
"""


def test_a_judge_that_always_agrees(sandbox, unconfined):
    assert_gains_nothing(sandbox, unconfined, JUDGE, JUDGED)


PATCHES = {
    "observe": "runner.observe = lambda *args, **kwargs: True",
    "answer": "runner.answer_probe = lambda *args, **kwargs: pack(torch.zeros(2, 3))",
    "pack": "runner.pack = lambda seen: pack(True)",
    "raises nothing": "runner.observe = lambda *args, **kwargs: None",
    "raises the same": "runner.observe = lambda *args: Raised('NotImplementedError')",
    "names": "runner.Lab = lambda *args: type('L', (), {'softmax': lambda *a: torch.ones(1)})",
    "everything": "runner.observe = lambda *args: {'rows': True, 'points': 100, 'check': 0}",
}
IMPORTS = """
import torch
from attnlab.checking.observation import Raised, pack
from gradekit.untrusted import runner
"""


@pytest.mark.parametrize("name", PATCHES)
def test_forged_observations_earn_nothing(sandbox, name):
    """The patch works: the observation differs from the blank answer's. It is wrong, too."""
    honest = unpack(points_and_run(sandbox, BLANK)[1].observations["softmax", "rows"])
    assert honest == Raised("NotImplementedError", "", "raise NotImplementedError")
    points, run = points_and_run(sandbox, BLANK, IMPORTS + PATCHES[name])
    forged = unpack(run.observations["softmax", "rows"])
    assert type(forged) is not Raised or forged != honest
    assert points == 0
    assert earned(sandbox, HALF, IMPORTS + PATCHES[name]) <= 1
    assert earned(sandbox, RIGHT) == 2
