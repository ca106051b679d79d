"""Changed observations are refused, or judged and shown like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.checking.advice import explain
from attnlab.checking.judges import AtLeast, Close, Kills, SameShares, Within
from attnlab.checking.observation import LIMITS, ObservationError, pack, unpack
from attnlab.checking.redact import redacted
from attnlab.checking.render import Report
from attnlab.checking.verdict import MOST_ADVICE, KnownMistake, PreparedCheck, judge_exercise
from attnlab.checking.visible import VisibleCheck, VisibleExercise
from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.trained import ScoreBands
from tests.helpers.fuzz import PACKED, TREES, examples, observations

PROJECT = Path(__file__).resolve().parents[2]
JUDGES = [
    Close(),
    SameShares(),
    AtLeast(0.5),
    Within(-1, 2),
    Kills((("a", True), ("b", False))),
    ScoreBands(lambda weights, seed: float(sum(w.double().sum() for w in weights.values())), ()),
]


@examples(500)
@given(data=observations(), tree=st.sampled_from(TREES), judge=st.sampled_from(JUDGES),
       hidden=st.booleans())  # fmt: skip
def test_observations_are_read_within_limits_judged_and_shown(
    data: bytes, tree: Any, judge: Any, hidden: bool
) -> None:
    try:
        seen = unpack(data)
    except ObservationError:
        return
    assert size_of(seen) <= LIMITS.nodes
    pack(seen)
    prepared = PreparedCheck("probe", "A check.", 2, hidden, judge, unpack(pack(tree)), {"m": seen})
    known = KnownMistake("m", "Look again.")
    verdict = judge_exercise([prepared], {"probe": seen}, [known])
    assert 0 <= verdict.earned <= 2
    for sentence in verdict.advice:
        sentence.encode()
        assert len(sentence) <= MOST_ADVICE + 100
    check = VisibleCheck(prepared, "def probe(lab, draw):\n    return 1", 5)
    report = Report(VisibleExercise("e", "An exercise", 2, 0, (check,), (known,)), verdict)
    report.text()
    assert "<script" not in report.html()


def size_of(value: Any) -> int:
    if isinstance(value, (list, dict)):
        return 1 + sum(map(size_of, value.values() if isinstance(value, dict) else value))
    return 1


def test_untouched_observations_are_read() -> None:
    for tree, data in zip(TREES, PACKED, strict=True):
        assert type(unpack(data)) is type(tree)


WEIGHTS = st.sampled_from(
    [
        torch.tensor(1.0),
        torch.empty(0),
        torch.empty(2**40, 0),
        torch.full((3,), float("nan")),
        torch.zeros((1,) * 20),
        torch.ones(4, 4).T,
        torch.ones(2, dtype=torch.bfloat16),
    ]
)


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[Any, dict[str, torch.Tensor]]]:
    """The judges of saved weights of all labs, with the staff's own weights."""
    from safetensors.torch import load_file

    course, found = load_course(PROJECT), []
    for lab in ("lab04", "lab05"):
        for exercise in load_lab(course, lab).exercises:
            files = [load_file(path) for path in exercise.saved_paths]
            judges = [c.judge for c in exercise.checks if isinstance(c.judge, ScoreBands)]
            found += [(judges[0], files[0])] if judges else []
    return found


@examples(12)
@given(draw=st.data())
def test_saved_weights_of_any_shape_are_judged(outcomes: Any, draw: st.DataObject) -> None:
    judge, right = draw.draw(st.sampled_from(outcomes))
    names = draw.draw(st.lists(st.sampled_from([*right, "x"]), min_size=1, max_size=3))
    weights = {**right, **{name: draw.draw(WEIGHTS) for name in names}}
    assert 0 <= judge.credit(None, weights) <= 1
    difference = judge.compare(None, weights)
    assert difference is None or explain(redacted(difference))
