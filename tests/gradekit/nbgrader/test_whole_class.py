"""The demo's class with `nbgrader autograde`, compared with `lab grade`."""

from __future__ import annotations

import shutil

import pytest

from demo.classroom import classroom
from demo.comparison import compare, scores_in_book
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.incoming import write_submitted
from gradekit.course import load_course
from tests.helpers.graded import grade_class
from tests.helpers.nbgrader_commands import LAB, exported, marks, nbgrader
from tests.helpers.tiny_class import journal_of


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_student_gets_the_same_points(tmp_path):
    ours = load_course(copy_course(tmp_path / "ours", SMALL_LIMITS))
    theirs = load_course(copy_course(tmp_path / "theirs", SMALL_LIMITS))
    graded = grade_class(ours, classroom(ours))
    (theirs.root / "results").mkdir()
    shutil.copy(ours.root / "results" / "secret", theirs.root / "results")
    write_submitted(graded.submissions, theirs.root, LAB)
    nbgrader(theirs.root, "autograde", LAB)
    assert marks(theirs) == marks(ours)
    assert set(marks(theirs)) == {submission.student for submission in graded.submissions}
    assert exported(theirs) == exported(ours)
    found = compare(graded.submissions, graded.rows, scores_in_book(theirs, LAB))
    assert {
        result.submission.student: result.differences for result in found if not result.ok
    } == {}
    # Limits on memory and time end a hand-in at varying points, but its points are always the same.
    assert [v["key"] for v in journal_of(theirs.root) if v["kind"] == "exercise"] == [
        v["key"] for v in journal_of(ours.root) if v["kind"] == "exercise"
    ]
