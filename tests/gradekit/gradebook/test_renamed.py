"""An exercise or a question gets another name after hand-ins were graded and marked."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course
from gradekit.errors import GradebookError
from gradekit.feedback.page import page_of
from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.update import GradebookUpdate
from gradekit.late import Lateness
from gradekit.results.journal import Journal
from gradekit.submissions.align import align
from gradekit.submissions.released import Released
from tests.gradekit.gradebook.test_update import KEYS, RECORD, RESULTS, SUBMITTED
from tests.helpers.gradebook import DUE, give_manual_mark
from tests.helpers.submissions import ANSWER, LAB, result

NEW = {"softmax": "weights", "check_softmax": "check_weights", "explain": "why"}
NEW_KEYS = {"weights": "key 3", "entropy": "key 2"}


def renamed(released: Released, marked: bool = True) -> Released:
    """The notebook released again, its first step and its question under other names."""
    notebook = copy.deepcopy(released.notebook)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = cell.source.replace('check("softmax")', 'check("weights")')
        if name in NEW:
            cell.metadata.nbgrader.grade_id = NEW[name]
            if marked:
                cell.metadata.attnlab = nbformat.NotebookNode(renamed_from=name)
    return Released(released.name, notebook)


def test_points_marks_and_comments_stay(
    course: Course, address: Address, released: Released, tmp_path: Path
) -> None:
    after = renamed(released)
    with Journal(tmp_path / "lab01.jsonl") as journal:
        update = GradebookUpdate(course, LAB, journal, address)
        journal.append_graded(RECORD, RESULTS, KEYS)
        entry = update.entry(SUBMITTED, KEYS)
        assert entry is not None
        update.write([entry], released)
        give_manual_mark(address, "ada", "explain", 3)
        give_manual_mark(address, "ada", "check_softmax", 7)
        before = Book(address)
        with before:
            old = before.marks(LAB)["ada"]
        # The step is graded again under its new name; the record of the hand-in is the old one.
        journal.append_graded(RECORD, [result("weights", 8, 8)], NEW_KEYS)
        entry = update.entry(SUBMITTED, NEW_KEYS)
        assert entry is not None
        update.write([entry], after)
    with Book(address) as book:
        marks = book.marks(LAB)["ada"]
    assert marks.marks == {NEW.get(name, name): mark for name, mark in old.marks.items()}
    assert (marks.marks["why"].manual, marks.marks["why"].needs_manual_grade) == (3, False)
    assert marks.marks["check_weights"].manual == 7
    assert marks.comments == {"why": "Well put."}


def test_without_the_mark_the_gradebook_refuses(
    address: Address, released: Released, book: Book
) -> None:
    with pytest.raises(GradebookError, match="write renamed_from next to their new names"):
        book.register(LAB, renamed(released, marked=False), DUE)
    book.register(LAB, renamed(released), DUE)
    book.register(LAB, renamed(released), DUE)  # a second time changes nothing


def test_a_page_finds_them_before_anything_is_graded_again(
    course: Course, released: Released
) -> None:
    after = renamed(released)
    results = {one.exercise: one for one in RESULTS}
    page = page_of(
        course,
        after,
        replace(RECORD, answers=after.with_new_names(RECORD.answers)),
        after.with_new_names(results),
        None,
        Lateness(),
        {},
    )
    assert [(view.name, view.earned) for view in page.exercises] == [("weights", 8), ("entropy", 1)]
    assert after.with_new_names({"explain": "old", "why": "new"}) == {"why": "new"}


def test_a_hand_in_of_the_first_release_is_aligned(released: Released) -> None:
    notebook = copy.deepcopy(released.notebook)
    by_id = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells}
    by_id["softmax"].source = ANSWER
    by_id["explain"].source = "Because exp overflows."
    aligned = align(notebook, renamed(released))
    texts = {c.metadata.get("nbgrader", {}).get("grade_id"): c.source for c in aligned.cells}
    assert texts["weights"] == ANSWER
    assert texts["check_weights"] == 'check("weights")'
    assert texts["why"] == "Because exp overflows."
    assert len(aligned.cells) == len(notebook.cells)
