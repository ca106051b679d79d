"""What a run changed: whose points moved, by how much, and why."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradekit.course import load_course
from gradekit.errors import RosterError
from gradekit.gradebook.address import address_of
from gradekit.gradebook.marks import Mark, Marks
from gradekit.grading import pool
from gradekit.grading.changes import Result, changes, manual_marks_to_review
from gradekit.grading.summary import GradingSummary
from gradekit.results.records import CheckResult, ExerciseResult, State, SubmissionRecord
from tests.helpers import submissions, tiny_class
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.interruptions import Undisturbed, run, stricter
from tests.helpers.tiny_class import LAB

RECORD = SubmissionRecord("ada", LAB, "first", State.GRADED)


def step(shape: float, large: float, of: float = 4.0, **more: Any) -> ExerciseResult:
    checks = (
        CheckResult("shape", "Keeps the shape.", False, shape, of, shape == of),
        CheckResult("large", "Stays finite.", True, large, of, large == of),
    )
    return ExerciseResult("softmax", "Softmax", checks, **more)


def reasons(old: Result, new: Result) -> tuple[str, ...]:
    (change,) = changes({"ada": old}, {"ada": new})
    return change.reasons


def result(one: ExerciseResult, record: SubmissionRecord = RECORD) -> Result:
    return Result(record, {"softmax": one})


def test_equal_results_are_no_change() -> None:
    one = {"ada": result(step(4, 0))}
    assert changes(one, one) == ()


def test_by_how_much_and_why() -> None:
    (change,) = changes({"ada": result(step(4, 0))}, {"ada": result(step(4, 4))})
    assert (change.before, change.after) == (4, 8)
    assert change.reasons == ("softmax 4 → 8: “Stays finite” earns more",)
    assert reasons(result(step(4, 4)), result(step(0, 1))) == (
        "softmax 8 → 1: “Keeps the shape”, “Stays finite” earns less",
    )
    assert reasons(result(step(4, 4)), result(step(5, 5, of=5))) == (
        "softmax 8 → 10: “Keeps the shape”, “Stays finite” has other points",
    )


def test_a_check_that_is_new_or_gone() -> None:
    whole = step(4, 4)
    less = replace(whole, checks=whole.checks[:1])
    assert reasons(result(less), result(whole)) == ("softmax 4 → 8: “Stays finite” is new",)
    assert reasons(result(whole), result(less)) == ("softmax 8 → 4: “Stays finite” is gone",)


def test_hand_ins_and_failures_are_reasons() -> None:
    fine, newer = result(step(4, 4)), replace(RECORD, digest="second")
    ours = replace(RECORD, state=State.OURS)
    theirs = replace(newer, state=State.THEIRS, reason="It is empty.")
    assert reasons(fine, result(step(0, 4), newer))[0] == "a newer hand-in"
    assert reasons(result(step(4, 4), ours), fine)[0] == "the grader had failed before"
    assert reasons(fine, result(step(4, 4), ours)) == ("the grader failed now",)
    assert reasons(fine, Result(theirs, {})) == (
        "a newer hand-in", "it cannot be run now: It is empty.",
    )  # fmt: skip
    assert reasons(Result(theirs, {}), fine)[:2] == (
        "a newer hand-in",
        "it could not be run before",
    )
    broken = result(step(4, 4, broken="The sandbox failed."))
    assert reasons(fine, broken) == ("softmax 8 → –: the grader failed now",)


def test_a_manual_mark_for_another_result_is_reported(tmp_path: Path) -> None:
    released = submissions.released(tmp_path)
    marks = {
        "check_softmax": Mark(auto=8.0, manual=7.0, needs_manual_grade=True),
        "check_entropy": Mark(auto=4.0, manual=3.0, needs_manual_grade=False),
        "explain": Mark(manual=2.0, needs_manual_grade=True),
    }
    given = {"ada": Marks("ada", marks, {}, 0.0)}
    assert manual_marks_to_review(given, released, ["ada", "bob"]) == (
        "ada: softmax has 7 manual points, given for another result; the judge gives 8 now",
    )
    assert manual_marks_to_review(given, released, []) == ()


@pytest.fixture
def graded(undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The class of four after it was graded; later runs repeat what the workers brought back."""

    def played(function: Any, tasks: Any, *more: Any) -> Iterator[Any]:
        for task in tasks:
            yield task, undisturbed.done[task.submitted.student, task.submitted.digest]

    monkeypatch.setattr(pool, "run", played)
    return Path(shutil.copytree(undisturbed.root, tmp_path / "course"))


def moved(summary: GradingSummary) -> dict[str, tuple[float | None, float | None]]:
    return {change.student: (change.before, change.after) for change in summary.changes}


def test_a_stricter_check_moves_those_who_had_passed_it(
    graded: Path, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = run(graded, again=True)
    assert first.changes == (), "the same results again"
    stricter(undisturbed, monkeypatch, "guess")
    summary, rows = run(graded, again=True)
    before = {row.student: row.earned for row in first.rows}
    lost = {student: (earned, earned - 1) for student, earned in before.items() if earned}
    assert moved(summary) == lost
    assert set(lost) == {"ada", "bob", "cyd"}
    assert rows["ada"].change is not None
    assert rows["ada"].change.reasons == ("guess 1 → 0: “Is the number right” earns less",)
    again, _ = run(graded)
    assert again.changes == (), "nothing was graded"


def test_scores_are_after_lateness_and_with_manual_marks(
    graded: Path,
    undisturbed: Undisturbed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.helpers.gradebook.NAME", tiny_class.NAME)
    address = address_of(load_course(graded))
    give_manual_mark(address, "ada", "explain", 3.0)
    give_manual_mark(address, "ada", "check_softmax", 2.0)
    (graded / "students.csv").write_text("id,name\nada,Ada\nzed,Zed\n")
    stricter(undisturbed, monkeypatch, "softmax")
    summary, rows = run(graded, again=True)
    assert (rows["ada"].score, rows["ada"].final) == (2 + 1 + 3, False)
    assert (rows["cyd"].score, rows["cyd"].final) == (round(1 * 0.8, 2), False)
    assert summary.look_at == (
        "ada: softmax has 2 manual points, given for another result; the judge gives 0 now",
    )
    assert summary.missing == ("zed",)
    values = {row["student"]: row for row in summary.to_json()}
    assert values["ada"]["score"] == 6
    assert values["ada"]["change"]["before"] == 6
    assert values["zed"] == {"student": "zed", "state": "missing", "score": None, "final": True}
    only, _ = run(graded, students=["ada"])
    assert only.missing == ()


def test_a_wrong_list_of_students_is_told_before_anybody_is_graded(
    graded: Path, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    stricter(undisturbed, monkeypatch, "guess")
    (graded / "students.csv").write_text("id,first_name\nada,Ada\n")
    with pytest.raises(RosterError, match=r"students\.csv, line 1"):
        run(graded, again=True)
    (graded / "students.csv").write_text("id,name\nada,Ada\n")
    summary, _ = run(graded, again=True)
    assert summary.graded == len(summary.rows)
