"""`lab grade` says why it grades submissions again that were graded before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradekit.course import load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark, give_mark
from gradekit.grading import grade, pool
from gradekit.grading.grade import Settings
from gradekit.results.folder import journal_path
from tests.helpers import tiny_class
from tests.helpers.interruptions import Undisturbed
from tests.helpers.tiny_class import LAB, NAME

WHY = "an exercise or the grader has changed since, so"


@pytest.fixture
def graded(undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The class of four after it was graded; no student code is run again, whatever is asked."""
    by_digest = {digest: done for (_, digest), done in undisturbed.done.items()}

    def played(function: Any, tasks: Any, *more: Any) -> Iterator[Any]:
        for task in tasks:
            done = by_digest[task.submitted.digest]
            results = tuple(result for result in done.results if result.exercise in task.asked)
            record = replace(done.record, student=task.submitted.student)
            yield task, replace(done, results=results, record=record)

    monkeypatch.setattr(pool, "run", played)
    return Path(shutil.copytree(undisturbed.root, tmp_path / "course"))


class Listener:
    """Keeps what a run says, and when it begins to grade."""

    def __init__(self) -> None:
        self.heard: list[str | int] = []

    def say(self, sentence: str) -> None:
        self.heard.append(sentence)

    def begin(self, total: int) -> None:
        self.heard.append(total)

    def advance(self, student: str) -> None:
        pass


def heard(root: Path, **settings: Any) -> list[str | int]:
    """What a run says after its first line, which names the sandbox."""
    listener = Listener()
    grade.grade_lab(load_course(root), LAB, Settings(1, **settings), listener)
    sandbox, *rest = listener.heard
    assert str(sandbox).startswith("sandbox: ")
    return rest


def with_other_keys(root: Path, whose: Callable[[str], bool] = lambda student: True) -> None:
    """The journal as a version with other keys wrote it, for some students or for all."""
    path = journal_path(load_course(root), LAB)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        if line["kind"] == "exercise" and whose(line["student"]):
            line["key"] = f"earlier-{line['key']}"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def test_a_journal_of_an_earlier_version_is_graded_again_and_the_reason_is_said_first(
    graded: Path,
) -> None:
    with Book(address_of(load_course(graded))) as book:
        give_mark(
            book,
            LAB,
            "ada",
            "explain",
            ManualMark(),
            ManualMark(3, "Well put.", needs_manual_grade=False),
        )
    before = tiny_class.gradebook_of(graded)
    assert "Well put." in str(before)
    with_other_keys(graded)
    assert heard(graded) == [f"4 hand-ins were graded before; {WHY} 4 are graded again.", 4]
    assert heard(graded) == [0]
    assert tiny_class.gradebook_of(graded) == before, "a manual mark is in it"


def test_a_changed_exercise_file_is_a_reason(graded: Path) -> None:
    path = graded / "autograder" / "exercises" / LAB / "guess.py"
    path.write_text(path.read_text() + "\n# another version\n")
    assert heard(graded)[0] == f"4 hand-ins were graded before; {WHY} 4 are graded again."


def test_new_hand_ins_are_counted_apart(graded: Path) -> None:
    tiny_class.hand_in(graded, "fay", tiny_class.notebook(graded))
    assert heard(graded) == [1], "a new hand-in needs no reason"
    tiny_class.hand_in(graded, "gus", tiny_class.notebook(graded))
    with_other_keys(graded)
    said = f"5 of 6 hand-ins were graded before; {WHY} 5 are graded again."
    assert heard(graded) == [said, 6]


def test_only_those_that_are_graded_again_are_counted(graded: Path) -> None:
    with_other_keys(graded, lambda student: student == "bob")
    assert heard(graded) == [f"4 hand-ins were graded before; {WHY} 1 is graded again.", 1]


def test_a_changed_hand_in_is_a_new_one(graded: Path) -> None:
    tiny_class.hand_in(graded, "eve", tiny_class.notebook(graded))
    assert (graded / "submitted" / "eve" / LAB / f"{NAME}.ipynb").is_file()
    assert heard(graded) == [1]


@pytest.mark.parametrize("students", [None, ["ada"]])
def test_a_user_who_asks_for_it_needs_no_reason(graded: Path, students: list[str] | None) -> None:
    with_other_keys(graded)
    assert heard(graded, again=True, students=students) == [4 if students is None else 1]


def test_of_one_student_the_sentence_is_in_the_singular(graded: Path) -> None:
    with_other_keys(graded)
    said = f"1 hand-in was graded before; {WHY} 1 is graded again."
    assert heard(graded, students=["ada"]) == [said, 1]
