"""Terminal output of `lab grade`, on both streams."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gradekit.grading.changes import ScoreChange
from gradekit.grading.summary import GradingSummary, Row
from gradekit.grading.view import progress_bar, show_summary
from gradekit.results.journal import Journal
from gradekit.results.records import State
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB


def test_json_says_on_the_error_stream_that_it_waits_for_a_lock(tmp_path: Path) -> None:
    tiny_class.write_course(tmp_path)
    with Journal(tmp_path / "results" / f"{LAB}.jsonl"):
        second = tiny_class.start_lab(tmp_path, "grade", LAB, "--json")
        assert second.stderr is not None
        assert second.stderr.readline().startswith("sandbox: ")
        said = second.stderr.readline()
        assert f"is being written by process {os.getpid()} on " in said
        assert "; waiting" in said
        assert second.poll() is None
    out, error = second.communicate()
    assert second.returncode == 0, error
    assert json.loads(out) == []


def test_quiet_is_without_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(quiet=True) as progress:
        progress.begin(2)
        progress.advance("ada")
        progress.say("line 3: [b]damaged[/b]\x1b[2J and left out")
    out, error = capsys.readouterr()
    assert out == ""
    assert error == "line 3: [b]damaged[/b]\ufffd[2J and left out\n"


def summary(*states: State) -> GradingSummary:
    rows = tuple(
        Row(f"s{number}[b]\x1b", state, {"softmax": 5.0}, 5.0, 14, {}, "It is late.", 1.0)
        for number, state in enumerate(states)
    )
    return GradingSummary(LAB, rows, 1, 2.5)


def test_the_table_has_a_line_for_each_student_and_the_totals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_summary(summary(State.GRADED, State.LATE, State.THEIRS, State.OURS))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    for words in ("s0[b]\ufffd", "late", "broken: theirs", "broken: ours", "5 of 14"):
        assert words in out
    assert "1 graded now, 3 as before; states: " in out


def test_one_hand_in_is_counted_in_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    show_summary(summary(State.GRADED))
    assert capsys.readouterr().out.strip().splitlines()[0].strip() == f"{LAB}: 1 hand-in"


def test_an_empty_class_is_told_where_hand_ins_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_summary(summary())
    assert "no hand-ins yet; `lab collect` brings them here." in capsys.readouterr().out


def test_an_unknown_state_is_an_error() -> None:
    with pytest.raises(ValueError, match="a row has the state 'lost'"):
        show_summary(summary("lost"))  # type: ignore[arg-type]


def test_final_scores_changes_and_who_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    whole = summary(State.GRADED, State.GRADED)
    first, second = whole.rows
    change = ScoreChange("s0", 3.0, 5.0, ("softmax 3 → 5: “Keeps the \x1bshape” earns more",))
    rows = (replace(first, score=8.0, final=True, change=change), replace(second, score=6.5))
    show_summary(replace(whole, rows=rows, missing=("zoë", "[b]"), look_at=("s0: look",)))
    out = " ".join(capsys.readouterr().out.split())
    assert "6.5+" in out
    assert "1 student has points that changed" in out
    assert "softmax 3 → 5: “Keeps the \ufffdshape” earns" in out
    assert "2 students without a hand-in: zoë, [b]" in out
    assert "s0: look" in out
    assert "+: not final, because a part needs manual grading (1 hand-in)" in out


def test_reasons_that_a_class_shares_are_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    whole = summary(State.GRADED, State.GRADED, State.GRADED)
    reasons = [("softmax 3 → 5: “A” is new",)] * 2 + [("entropy 2 → 1: “B” is gone",)]
    rows = tuple(
        replace(row, change=ScoreChange(row.student, 3.0, 5.0, reason))
        for row, reason in zip(whole.rows, reasons, strict=True)
    )
    show_summary(replace(whole, rows=rows))
    out = capsys.readouterr().out
    assert out.count("“A” is new") == 1
    assert "as for s0" in out
    assert "“B” is gone" in out
