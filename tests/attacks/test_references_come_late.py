"""An answer uses a reference that arrived with another question.

Later steps build on references of earlier ones, and a test that a student writes is run on right
and wrong versions. All of them are sent as text, to a process that may keep them.
`test_texts_that_answer.py` tries what is sent under other names.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from attnlab.checking.observation import unpack
from gradekit.exercise.variants import Variants
from gradekit.sandbox.session import in_safe_order
from gradekit.untrusted.messages import Cell, Probe
from tests.helpers.our_labs import LABS, OUR_LABS

ASK = "def ask(lab, draw):\n    return lab.{}(draw.normal(3))\n"
REFERENCE = "def softmax(x, dim=-1):\n    return x.softmax(dim)\n"
# Versions that look alike from outside, and a check of the student's test that brings a reference.
VERSIONS = tuple(f"def version(x, dim=-1):\n    return x.softmax({dim})\n" for dim in ("0", "dim"))
TRIES = "def ask(lab, draw):\n    return draw.accepts(lab.test_softmax)\n"
OPEN = "def open(lab, draw):\n    return draw.accepted(lab.test_softmax, lab.softmax)\n"
# A test that finds a reference of the tested step in its callers, or that keeps the first version.
FINDS = """
import sys, torch
def test_softmax(impl):
    frame, x = sys._getframe(1), torch.randn(3, 2)
    while frame:
        if "asked" in frame.f_locals:
            assert impl(x, 1).equal(frame.f_locals["asked"]["softmax"](x, 1))
            return
        frame = frame.f_back
"""
FIRST = """
import torch
kept = []
def test_softmax(impl):
    kept.append(impl)
    x = torch.randn(3, 2)
    assert impl(x, 1).equal(kept[0](x, 1))
"""
# Answers with the reference of softmax after it arrived once, even if it is removed again.
KEEP = """
import sys
kept = {}
def keep():
    frame = sys._getframe(2)
    while frame:
        for probe in frame.f_locals.get("probes", ()):
            if probe.uses: exec(probe.uses, kept)
        frame = frame.f_back
def log_softmax(x):
    keep()
    return x
def softmax(x, dim=-1):
    keep()
    return kept["softmax"](x, dim)
"""
# The students' library has a GPT of its own for the labs after (docs/trust.md: what it is worth).
OPEN_TO_ALL = {"lab09": {"Block", "GPT", "init_gpt"}}


@pytest.mark.parametrize("lab", OUR_LABS)
def test_no_message_answers_a_later_question(lab):
    """A function may be sent after the last question about it, and not before."""
    exercises = LABS[lab]
    variants = Variants(exercises)
    own = {e.name: {f.__name__ for f in e.references} for e in exercises.exercises}
    waiting = in_safe_order([variants.probes(e, 0) for e in exercises.exercises])
    sent = ""
    for group in waiting:
        sent += "\n".join(text for probe in group for text in (probe.uses, probe.source))
        defined = set(re.findall(r"^(?:def|class) (\w+)", sent, re.MULTILINE))
        # Of what a student's test is tried on, a reference would say which versions are right.
        tried = {name for probe in group for name in probe.of}
        early = ((own[group[0].exercise] | tried) & defined) - OPEN_TO_ALL.get(lab, set())
        assert not early, f"{lab}: {early} came before {group[0].exercise} was asked"
        sent += "\n".join(text for probe in group for text in probe.versions)
        # Versions have no names, but some of them are right.
        for probe in group:
            of = next(
                (c.versions_of for c in exercises[probe.exercise].checks if c.name == probe.check),
                None,
            )
            later = {other[0].exercise for other in waiting[waiting.index(group) + 1 :]}
            assert of is None or of not in later, f"{lab}: {of} is asked after its versions"


def test_a_reference_that_came_early_would_be_used(sandbox, monkeypatch):
    own = Probe("softmax", "ask", ASK.format("softmax"), seed=1)
    later = Probe(
        "log_softmax", "ask", ASK.format("log_softmax"), 1, uses=REFERENCE, replaces=("softmax",)
    )
    cells = [Cell("keep", KEEP)]
    with monkeypatch.context() as careless:
        careless.setattr("gradekit.sandbox.session.in_safe_order", lambda probes: probes)
        run = sandbox.run(cells, [[later], [own]])
        assert unpack(run.observations["softmax", "ask"]).sum() == pytest.approx(1)
    run = sandbox.run(cells, [[later], [own]])
    assert unpack(run.observations["softmax", "ask"]).type == "KeyError"


@pytest.mark.parametrize("source", [FINDS, FIRST])
def test_a_test_is_tried_before_a_reference_tells_it_what_is_right(sandbox, monkeypatch, source):
    tries = Probe("test_softmax", "ask", TRIES, 1, versions=VERSIONS, of=("softmax",))
    brings = {"uses": REFERENCE, "tested": ("softmax",)}
    opened = Probe("test_softmax", "open", OPEN, 1, **brings)

    def answers(*probes):
        run = sandbox.run([Cell("test", source)], [probes])
        return unpack(run.observations["test_softmax", "ask"])

    with monkeypatch.context() as careless:
        careless.setattr("gradekit.sandbox.session.in_safe_order", lambda probes: probes)
        assert answers(opened, replace(tries, **brings)) == [False, True]
    assert answers(opened, tries) != [False, True]
