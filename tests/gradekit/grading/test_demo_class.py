"""Every student of the demo's class gets the expected mark, and no submission does harm."""

from __future__ import annotations

import json

import pytest

from demo.classroom import LAB
from demo.comparison import compare, scores_in_book
from demo.graded import GradedClass, lab
from demo.hostile import SCRIPT
from gradekit.course import Course

pytestmark = pytest.mark.timeout(600)

# Computed by hand from the checks that each mistake fails.
LOST = {
    "softmax": {"no_max_subtraction": 3.0, "detached": 2.0, "integers_not_cast": 1.0},
    "cross_entropy": {"nan_when_all_ignored": 1.0, "detached": 1.5},
}


def test_every_student_gets_the_expected_mark(graded_class: GradedClass) -> None:
    scores = scores_in_book(graded_class.course, LAB)
    results = compare(graded_class.submissions, graded_class.rows, scores)
    wrong = {result.submission.student: result.differences for result in results if not result.ok}
    assert wrong == {}
    assert len(results) == len(graded_class.rows) >= 40


@pytest.mark.parametrize(
    ("exercise", "mistake", "lost"),
    [(exercise, *pair) for exercise, pairs in LOST.items() for pair in pairs.items()],
)
def test_points_lost_by_mistakes_are_those_computed_by_hand(
    graded_class: GradedClass, exercise: str, mistake: str, lost: float
) -> None:
    (submission,) = (
        h for h in graded_class.submissions if h.expected.mistakes.get(exercise) == mistake
    )
    full = graded_class.row("noether")["points"][exercise]
    assert full == 14
    assert graded_class.row(submission.student)["points"][exercise] == full - lost


def test_every_known_mistake_of_two_exercises_is_in_the_class(graded_class: GradedClass) -> None:
    from gradekit.exercise.loader import load_lab

    exercises = load_lab(graded_class.course, LAB)
    for exercise in LOST:
        made = {h.expected.mistakes.get(exercise) for h in graded_class.submissions} - {None}
        assert made == {mistake.name for mistake in exercises[exercise].mistakes}


def test_a_second_run_grades_nothing(graded_class: GradedClass) -> None:
    before = (graded_class.course.root / "results" / f"{LAB}.jsonl").read_bytes()
    again = lab(graded_class.course, "grade", LAB, "--json")
    assert json.loads(again.stdout) == list(graded_class.rows)
    assert (graded_class.course.root / "results" / f"{LAB}.jsonl").read_bytes() == before


def test_nothing_of_the_gradebook_or_home_came_out(graded_class: GradedClass) -> None:
    """The thief prints everything that it could read; only its own notebook could show that."""
    for name in ("thief", "caller"):
        (notebook,) = (graded_class.course.root / "autograded" / name / LAB).glob("*.ipynb")
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        printed = json.dumps([cell.get("outputs") for cell in cells])
        assert "Error" in printed, "the attack did not even run"
        for sign in ("stolen:", "SQLite format", "connected to"):
            assert sign not in printed


def test_script_reaches_no_page(graded_class: GradedClass) -> None:
    done = lab(graded_class.course, "feedback", LAB)
    assert done.returncode == 0, done.stderr
    folder = graded_class.course.root / "feedback"
    pages = [path.read_text("utf-8") for path in folder.rglob("*.html")]
    assert len(pages) == len(graded_class.submissions)
    assert any("My answer." in page for page in pages), "the free text is on no page"
    for page in pages:
        assert "owned'</script>" not in page
        assert "<img src=x" not in page
        assert "o'brien <b>" not in page
    for path in (graded_class.course.root / "autograded").rglob("*.ipynb"):
        outputs = [
            output
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            for output in cell.get("outputs", [])
        ]
        assert SCRIPT not in "".join(
            "".join(output.get("data", {}).get("text/html", "")) for output in outputs
        )
        kinds = {kind for output in outputs for kind in output.get("data", {})}
        assert kinds <= {"text/plain", "text/html", "text/latex", "image/png", "image/jpeg"}


def test_staff_folders_are_unchanged(graded_class: GradedClass, course_copy: Course) -> None:
    for folder in ("solutions", "labs", "autograder"):
        for path in (course_copy.root / folder).rglob("*"):
            if path.is_file():
                there = graded_class.course.root / path.relative_to(course_copy.root)
                assert there.read_bytes() == path.read_bytes()
