"""One step, a softmax, graded in two ways: by a test in the notebook's own process, and by a judge.

The first is how many graders work: they run tests behind the answers, and a test cell without an
error in its outputs has passed.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from attnlab.checking.draw import Draw
from attnlab.checking.judges import Close
from attnlab.checking.lab import Lab, observe
from attnlab.checking.observation import NoAnswer, ObservationError, pack, unpack
from attnlab.checking.verdict import PreparedCheck, judge_exercise
from gradekit.sandbox.result import SubmissionRun
from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.messages import Cell, Probe, Stopped

BLANK = "def softmax(x, dim=-1):\n    raise NotImplementedError"
HALF = "import torch\ndef softmax(x, dim=-1):\n    return torch.softmax(x, -1)"
RIGHT = "import torch\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)"

TEST = """
import torch

def test_softmax():
    scores = torch.randn(2, 3)
    for axis in (0, 1):
        right = scores.exp() / scores.exp().sum(axis, keepdim=True)
        assert torch.allclose(softmax(scores, axis), right, atol=1e-6)

test_softmax()
"""

_ASKED = {
    "rows": "def rows(lab, draw):\n    return lab.softmax(draw.normal(2, 3))\n",
    "columns": "def columns(lab, draw):\n    return lab.softmax(draw.normal(4, 3), 0)\n",
}
PROBES = tuple(Probe("softmax", name, text, seed=5) for name, text in _ASKED.items())


def passes_in_its_own_process(unconfined: Sandbox, *sources: str, test: str = TEST) -> bool:
    """Whether the test cell behind these cells shows no error and nothing on stderr."""
    cells = [Cell(str(i), source) for i, source in enumerate((*sources, test))]
    outputs = unconfined.run(cells, []).cells[-1].outputs
    return not any(o["output_type"] == "error" or o.get("name") == "stderr" for o in outputs)


def points_and_run(
    sandbox: Sandbox, *sources: str, files: Mapping[str, bytes] | None = None
) -> tuple[float, SubmissionRun]:
    """The points that a notebook of these cells earns, of 2, and its run."""
    cells = [Cell(str(i), source) for i, source in enumerate(sources)]
    run = sandbox.run(cells, [PROBES], files)
    seen = {probe.check: _open(run.observations["softmax", probe.check]) for probe in PROBES}
    return judge_exercise([_prepared(probe) for probe in PROBES], seen, []).earned, run


def earned(sandbox: Sandbox, *sources: str) -> float:
    """The points that a notebook of these cells earns, of 2."""
    return points_and_run(sandbox, *sources)[0]


def assert_gains_nothing(
    sandbox: Sandbox, unconfined: Sandbox, cheat: str, test: str = TEST
) -> None:
    """A cheat that passes every test of its own process earns what its answers are worth."""
    assert passes_in_its_own_process(unconfined, RIGHT, test=test)
    assert not passes_in_its_own_process(unconfined, BLANK, test=test)
    assert passes_in_its_own_process(unconfined, BLANK, cheat, test=test), "it does not even work"
    assert earned(sandbox, BLANK, cheat) == 0
    assert earned(sandbox, HALF, cheat) <= 1
    assert earned(sandbox, RIGHT) == 2, "the next hand-in was touched"


def _prepared(probe: Probe) -> PreparedCheck:
    space: dict = {}
    exec(probe.source, space)
    names = {"softmax": lambda x, dim=-1: torch.softmax(x, dim)}
    right = unpack(pack(observe(space[probe.check], Lab(names), Draw(probe.seed))))
    return PreparedCheck(probe.check, probe.check, 1, False, Close(), right, {})


def _open(answer: bytes | Stopped):
    if isinstance(answer, Stopped):
        return NoAnswer(answer.reason)
    try:
        return unpack(answer)
    except ObservationError as error:
        return NoAnswer(str(error))
