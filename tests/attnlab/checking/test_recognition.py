"""Tests that students write: the known mistake that explains most of what is wrong with one."""

from __future__ import annotations

import pytest

from attnlab.checking.judges import Kills
from attnlab.checking.verdict import KnownMistake, PreparedCheck, judge_exercise

# Four wrong versions, then two right ones; an answer says whether the test accepts each.
VERSIONS = (("a", False), ("b", False), ("c", False), ("d", False), ("r", True), ("s", True))
RIGHT = [False] * 4 + [True] * 2
KNOWN = {
    "misses a": [True, False, False, False, True, True],
    "misses a, b": [True, True, False, False, True, True],
    "misses d": [False, False, False, True, True, True],
    "rejects s": [False, False, False, False, True, False],
    "rejects both": [False] * 6,
}


def named(seen):
    check = PreparedCheck("versions", "Rejects.", 1.0, True, Kills(VERSIONS), None, KNOWN)
    mistakes = [KnownMistake(name, f"It {name}, is that so?") for name in KNOWN]
    verdict = judge_exercise([check], {"versions": seen}, mistakes)
    return verdict.mistakes, verdict.advice[0]


@pytest.mark.parametrize(
    ("accepted", "name"),
    [("abc", "misses a, b"), ("ad", ""), ("abd", "misses a, b"), ("bcd", ""), ("c", "")],
)
def test_a_test_has_the_mistake_that_explains_most_of_what_it_accepts(accepted, name):
    """At least half of it; two that explain equally much have other advice, so none is named."""
    mistakes, advice = named([version in accepted for version in "abcd"] + [True] * 2)
    assert mistakes == ((name,) if name else ())
    assert advice.endswith("something else may be wrong, too.)") == bool(name)


@pytest.mark.parametrize(
    ("rights", "name"),
    [((True, False), "rejects s"), ((False, False), "rejects both"), ((False, True), "")],
)
def test_a_test_that_rejects_right_versions_has_the_mistake_of_one_that_rejects_these(rights, name):
    mistakes, _ = named([True, False, True, False, *rights])
    assert mistakes == ((name,) if name else ())


def test_a_test_that_is_wrong_in_one_way_alone_is_recognised_as_a_whole():
    _, advice = named(KNOWN["misses a, b"])
    assert advice == "It misses a, b, is that so?"
