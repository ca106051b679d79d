"""The students of the demo's class get the expected marks, and no submission does harm.

The class is graded once for all tests of this file, with a part of its known mistakes and with
shorter limits on time: nbgrader/test_whole_class.py grades them all. Some honest students are
graded again without the others: nothing of theirs may depend on the hostile submissions beside
them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from demo.classroom import LAB, classroom
from demo.comparison import compare, scores_in_book
from demo.course_folder import REPOSITORY, SMALL_LIMITS, copy_course
from demo.hostile import SCRIPT
from demo.submission import DemoSubmission
from gradekit.course import Course, load_course
from gradekit.exercise.loader import load_lab
from gradekit.results.folder import journal_path, results_folder
from tests.helpers.graded import GradedClass, grade_class, lab

pytestmark = [pytest.mark.timeout(600), pytest.mark.starts_first, pytest.mark.needs("sandbox")]

# Several hostile hand-ins take all the time that there is.
LIMITS = {**SMALL_LIMITS, "cell_seconds": 3, "exercise_seconds": 3}
HONEST = ("noether", "ada", "m02", "half", "untouched", "torn")
HOSTILE = ("vandal", "patcher")

# Computed by hand from the checks that each mistake fails.
LOST = {
    "softmax": {"no_max_subtraction": 2.5, "detached": 2.0, "integers_not_cast": 1.0},
    "cross_entropy": {"nan_when_all_ignored": 1.0, "mean_is_a_new_tensor": 1.0},
}


@pytest.fixture(scope="module")
def everyone() -> tuple[DemoSubmission, ...]:
    """The demo's whole class, not graded; working out the expected points takes seconds."""
    return classroom(load_course(REPOSITORY))


@pytest.fixture(scope="module")
def graded_class(
    tmp_path_factory: pytest.TempPathFactory, everyone: tuple[DemoSubmission, ...]
) -> GradedClass:
    """The demo's class, graded. Read it, do not change it."""
    some = [one for one in everyone if not is_one_more_mistake(one)]
    return graded(tmp_path_factory.mktemp("class"), some)


@pytest.fixture(scope="module")
def alone(
    tmp_path_factory: pytest.TempPathFactory, everyone: tuple[DemoSubmission, ...]
) -> GradedClass:
    """Some honest students of the class, graded without the others."""
    some = [one for one in everyone if one.student in HONEST]
    return graded(tmp_path_factory.mktemp("alone"), some, "--jobs", "1")


def graded(folder: Path, submissions: Sequence[DemoSubmission], *options: str) -> GradedClass:
    course = load_course(copy_course(folder / "course", LIMITS))
    secret = results_folder(course) / "secret"
    secret.parent.mkdir()
    secret.write_bytes(b"the same hidden inputs in both classes")
    return grade_class(course, submissions, *options)


def is_one_more_mistake(submission: DemoSubmission) -> bool:
    """A known mistake like others that are in the class."""
    by_hand = any(
        mistake in LOST[exercise] for exercise, mistake in submission.expected.mistakes.items()
    )
    made = submission.expected.mistakes and submission.student not in HONEST
    return bool(made) and not by_hand


def records(graded: GradedClass) -> dict[tuple[str, str], dict[str, Any]]:
    """The honest students' records by student and exercise, without the time that each took."""
    lines = journal_path(graded.course, LAB).read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {
        (record["student"], record.get("exercise", "")): {
            key: value for key, value in record.items() if key != "seconds"
        }
        for record in found
        if record["kind"] in ("exercise", "submission") and record["student"] in HONEST
    }


def test_every_student_gets_the_expected_mark(graded_class: GradedClass) -> None:
    scores = scores_in_book(graded_class.course, LAB)
    results = compare(graded_class.submissions, graded_class.rows, scores)
    wrong = {result.submission.student: result.differences for result in results if not result.ok}
    assert wrong == {}
    assert len(results) == len(graded_class.rows) >= 30


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


def test_every_advice_on_a_known_mistake_of_two_exercises_is_in_the_whole_class(
    everyone: tuple[DemoSubmission, ...],
) -> None:
    exercises = load_lab(load_course(REPOSITORY), LAB)
    for exercise in LOST:
        made = {one.expected.mistakes.get(exercise) for one in everyone} - {None}
        mistakes = exercises[exercise].mistakes
        advice = {mistake.advice for mistake in mistakes if mistake.name in made}
        assert advice == {mistake.advice for mistake in mistakes}
        assert len(made) == len(advice)


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


def test_the_honest_records_are_the_same_without_the_others(
    graded_class: GradedClass, alone: GradedClass
) -> None:
    assert {student for student, _ in records(alone)} == set(HONEST)
    assert records(graded_class) == records(alone)


def test_the_honest_notebooks_are_the_same_without_the_others(
    graded_class: GradedClass, alone: GradedClass
) -> None:
    for student in HONEST:
        (here,) = (graded_class.course.root / "autograded" / student / LAB).glob("*.ipynb")
        (there,) = (alone.course.root / "autograded" / student / LAB).glob("*.ipynb")
        assert here.read_bytes() == there.read_bytes()


def test_the_hostile_gain_nothing_and_cost_nobody_anything(
    graded_class: GradedClass, alone: GradedClass
) -> None:
    scores, honest = scores_in_book(graded_class.course, LAB), scores_in_book(alone.course, LAB)
    assert {student: scores[student] for student in HONEST} == honest
    assert honest["noether"] == 96
    assert [scores[student] for student in HOSTILE] == [0.0, 0.0]


def test_nothing_was_written_into_the_folder_of_hand_ins(graded_class: GradedClass) -> None:
    submitted = graded_class.course.root / "submitted"
    found = {
        str(path.relative_to(submitted)): path.read_bytes()
        for path in submitted.rglob("*")
        if path.is_file()
    }
    assert found == {
        f"{submission.student}/{LAB}/{name}": data
        for submission in graded_class.submissions
        for name, data in submission.files.items()
    }
