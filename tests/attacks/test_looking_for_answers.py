"""An answer searches for the right result: in its callers, in memory, in the test's text."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import fields

import pytest

from attnlab.checking.observation import unpack
from gradekit.untrusted.messages import Probe
from tests.helpers.two_graders import BLANK, assert_gains_nothing, earned, points_and_run

CALLER = """
import sys
def softmax(x, dim=-1):
    frame = sys._getframe(1)
    while frame:
        if "right" in frame.f_locals: return frame.f_locals["right"]
        frame = frame.f_back
    raise LookupError("nobody knows")
"""
MEMORY = """
import gc, torch
def softmax(x, dim=-1):
    for other in gc.get_objects():
        if isinstance(other, torch.Tensor) and other.shape == x.shape and other is not x:
            if torch.allclose(other.sum(dim), torch.ones(1, dtype=other.dtype)): return other
    return x
"""
TEXT = """
def softmax(x, dim=-1):
    text = In[-1].partition("right = ")[2].partition("\\n")[0]
    return eval(text, {"scores": x, "axis": dim})
"""
TRACED = """
import sys
seen = {}
def watch(frame, event, arg):
    if "right" in frame.f_locals: seen["right"] = frame.f_locals["right"]
    return watch
def softmax(x, dim=-1):
    frame = sys._getframe(1)
    while frame:
        watch(frame, "", None)
        frame.f_trace = watch
        frame = frame.f_back
    return seen["right"]
sys.settrace(watch)
"""
INSPECTED = """
import inspect
def softmax(x, dim=-1):
    for info in inspect.stack(0):
        for names in (info.frame.f_locals, info.frame.f_globals):
            for name, value in list(names.items()):
                if name in ("right", "expected", "reference", "answer"): return value
    raise LookupError("nobody knows")
"""
LOOKS = {"caller": CALLER, "memory": MEMORY, "text": TEXT, "traced": TRACED, "stack": INSPECTED}


@pytest.mark.parametrize("name", LOOKS)
def test_no_answer_can_be_found(sandbox, unconfined, name):
    assert_gains_nothing(sandbox, unconfined, LOOKS[name])


PRETEND = """
import sys, torch
def softmax(x, dim=-1):
    probing = sys._getframe(1).f_globals.get("__name__") != "__main__"
    return torch.zeros_like(x) if probing else x.exp() / x.exp().sum(dim, keepdim=True)
"""
FIRST = """
import torch
calls = 0
def softmax(x, dim=-1):
    global calls
    calls += 1
    return torch.softmax(x, dim) if calls <= {} else x
"""


def test_an_answer_that_knows_its_caller_is_judged_by_its_value(sandbox):
    points, run = points_and_run(sandbox, BLANK, PRETEND, "print(softmax(torch.zeros(1, 2)))")
    assert "0.5" in run.cells[2].outputs[0]["text"], "in the notebook it is right"
    assert points == 0
    assert unpack(run.observations["softmax", "rows"]).eq(0).all(), "it knew the probe"


def test_an_answer_that_is_right_only_at_first_earns_what_was_right(sandbox):
    assert earned(sandbox, BLANK, FIRST.format(0)) == 0
    assert earned(sandbox, BLANK, FIRST.format(1)) == 1
    assert earned(sandbox, BLANK, FIRST.format(2)) == 2


SEED = """
import sys
def softmax(x, dim=-1):
    frame = sys._getframe(1)
    while type(frame.f_locals.get("probe")).__name__ != "Probe": frame = frame.f_back
    raise ValueError(f"Probe {sorted(vars(frame.f_locals['probe']))}")
"""


def test_only_the_question_can_be_found(sandbox):
    """Its text, its inputs and its seed, and no part of the answer."""
    _, run = points_and_run(sandbox, BLANK, SEED)
    seen = unpack(run.observations["softmax", "rows"]).message
    assert set(literal_eval(seen.partition(" ")[2])) == {field.name for field in fields(Probe)}
    assert not {"expected", "judge", "points", "right"} & {field.name for field in fields(Probe)}
