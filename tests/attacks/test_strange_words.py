"""Answers and names that no file, page or terminal can hold, or that are far too long."""

from __future__ import annotations

import io
import time

import pytest
import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import (
    MAX_DIMENSIONS,
    Missing,
    ObservationError,
    Opaque,
    Raised,
    pack,
    unpack,
)
from attnlab.checking.verdict import MOST_ADVICE, PreparedCheck, judge_exercise
from gradekit.grading import view
from gradekit.sandbox.output_filter import clean_outputs

HALF = "\ud800"


def verdict_on(seen):
    prepared = PreparedCheck("a", "A check.", 1, False, Close(), torch.zeros(3), {})
    return judge_exercise([prepared], {"a": unpack(pack(seen))}, [])


@pytest.mark.parametrize(
    "seen",
    [HALF, Raised(HALF, HALF, HALF), Missing(HALF), Opaque(HALF), {HALF: [HALF]}],
    ids=["text", "raised", "missing", "opaque", "key"],
)
def test_half_characters_do_not_reach_the_advice(seen):
    with pytest.raises(UnicodeEncodeError):
        HALF.encode()
    for sentence in verdict_on(seen).advice:
        sentence.encode()


@pytest.mark.parametrize(
    "seen",
    [{f"{n} {'k' * 190}": n for n in range(9000)}, "x" * 10**6, Opaque("y" * 10**6)],
    ids=["keys", "text", "type"],
)
def test_advice_has_a_limited_length(seen):
    assert all(len(sentence) <= MOST_ADVICE + 100 for sentence in verdict_on(seen).advice)


def test_a_tensor_of_a_hundred_thousand_dimensions_does_not_arrive(monkeypatch):
    many = torch.zeros((1,) * 1000)
    assert isinstance(unpack(pack(many)), Opaque)
    monkeypatch.setattr("attnlab.checking.observation.MAX_DIMENSIONS", 10**6)
    forged = pack(many)
    monkeypatch.setattr("attnlab.checking.observation.MAX_DIMENSIONS", MAX_DIMENSIONS)
    with pytest.raises(ObservationError, match="dimensions"):
        unpack(forged)


def test_a_picture_of_spaces_does_not_keep_the_reader_busy():
    started = time.perf_counter()
    data = {"image/png": " " * 4_000_000 + "!"}  # a search from each space took a day
    kept, _ = clean_outputs([{"output_type": "display_data", "data": data}], 10**7)
    assert kept == ()
    assert time.perf_counter() - started < 2


def test_a_students_name_does_not_steer_the_terminal(monkeypatch):
    from gradekit.grading.summary import GradingSummary, Row
    from gradekit.results.records import State

    name = "\x1b]0;owned\x07[bold]ada[/nonsense]\u202e\n"
    row = Row(name, State.GRADED, {}, 1.0, 2.0, {}, f"{name}.ipynb is not a notebook", 0.0)
    screen = io.StringIO()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "200")
    view.show_summary(GradingSummary("lab01", (row,), 1, 0.0))
    shown = screen.getvalue()
    assert "[bold]ada[/nonsense]" in shown
    assert not set("\x1b\x07\u202e") & set(shown)
