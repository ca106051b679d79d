"""`lab grade` on a small class: what is graded, recorded, and graded again."""

import json
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from demo.classroom import material_of
from demo.course_folder import REPOSITORY, SMALL_LIMITS, copy_course
from gradekit.course import load_course
from gradekit.errors import CourseError
from gradekit.grading import grade, pool
from gradekit.grading.grade import Settings
from gradekit.grading.view import progress_bar
from gradekit.results.records import State
from gradekit.submissions.folder import SUBMITTED, TIMESTAMP, format_timestamp

LAB = "lab01"
WRONG = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"


def submission(course, student, notebook):
    folder = course.root / SUBMITTED / student / LAB
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lab01_softmax.ipynb").write_bytes(notebook.bytes())
    return folder


def run(course, **settings):
    with progress_bar(quiet=True) as progress:
        summary = grade.grade_lab(course, LAB, Settings(**{"jobs": 1, **settings}), progress)
    return summary, {row.student: row for row in summary.rows}


@pytest.fixture(scope="module")
def material():
    return material_of(load_course(REPOSITORY))


@pytest.fixture(scope="module")
def graded_three(tmp_path_factory, material):
    """A class of three, graded: all right, one mistake, untouched."""
    course = load_course(copy_course(tmp_path_factory.mktemp("three") / "course", SMALL_LIMITS))
    softmax = material.solved.answer_at("softmax")
    submission(course, "ada", material.solved)
    submission(course, "bob", material.solved.with_source(softmax, WRONG))
    submission(course, "eve", material.released)
    return course, run(course)


@pytest.fixture
def three(graded_three, tmp_path):
    """A copy of the graded class, to change as you like, and what its grading came to."""
    course, done = graded_three
    return load_course(Path(shutil.copytree(course.root, tmp_path / "copy"))), done


def test_a_class_is_graded_and_the_second_run_has_nothing_to_do(three, monkeypatch):
    course, (summary, rows) = three
    assert summary.graded == 3
    assert {name: row.state for name, row in rows.items()} == dict.fromkeys(
        ("ada", "bob", "eve"), State.GRADED
    )
    assert rows["ada"].earned == rows["ada"].points
    assert rows["eve"].earned == 0
    assert rows["bob"].advice["softmax"] == ("no_max_subtraction",)
    lost = {
        name
        for name, points in rows["bob"].exercises.items()
        if points != rows["ada"].exercises[name]
    }
    assert "softmax" in lost
    assert lost <= {"softmax", "equivariance_gap"}  # the second holds the lab's chained check

    monkeypatch.setattr(pool, "run", lambda *args: pytest.fail("student code was run again"))
    again, same = run(course)
    assert again.graded == 0
    assert same == rows


def test_only_what_is_new_is_graded(three, material):
    course, _ = three
    submission(course, "eve", material.solved)
    summary, rows = run(course)
    assert summary.graded == 1
    assert rows["eve"].earned == rows["eve"].points


def test_a_changed_exercise_file_asks_about_that_exercise_alone(three, monkeypatch):
    course, (_, before) = three
    path = course.exercises(LAB) / "predictions.py"
    path.write_text(re.sub(r"points=1\b", "points=2", path.read_text(), count=1))
    asked = []
    everything = pool.run

    def watched(function, tasks, *more):
        def seen():
            for task in tasks:
                asked.append((task.submitted.student, task.asked))
                yield task

        return everything(function, seen(), *more)

    monkeypatch.setattr(pool, "run", watched)
    # The released notebook's cell is worth one point less: the gradebook says so.
    with pytest.raises(Exception, match="lab build"):
        run(course)
    assert sorted(asked) == [(name, ("predictions",)) for name in ("ada", "bob", "eve")]
    assert before["ada"].exercises["softmax"] == 14


def test_late_hand_ins_say_so(three):
    course, _ = three
    when = course.dates(LAB).due + timedelta(days=1, hours=2)
    (course.root / SUBMITTED / "ada" / LAB / TIMESTAMP).write_text(format_timestamp(when))
    _, rows = run(course)
    assert rows["ada"].state is State.LATE
    assert "2 days late" in rows["ada"].reason


def test_a_failure_of_the_grader_is_reported_and_costs_no_points(
    course_copy, material, monkeypatch
):
    submission(course_copy, "ada", material.solved)

    def broken(function, tasks, *more):
        for task in tasks:
            yield task, RuntimeError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(pool, "run", broken)
        summary, rows = run(course_copy)
    assert summary.broken_ours
    assert rows["ada"].state is State.OURS
    assert rows["ada"].earned is None
    assert set(rows["ada"].exercises.values()) == {None}
    assert "the disk is full" in rows["ada"].reason
    assert "RuntimeError" in (course_copy.root / "results/lab01.failures.log").read_text()

    _, rows = run(course_copy)
    assert rows["ada"].state is State.GRADED


def test_the_json_record_is_complete(three):
    _, (summary, _) = three
    record = json.loads(json.dumps(summary.rows[1].to_json()))
    assert record["student"] == "bob"
    assert record["state"] == "graded"
    assert record["advice"]["softmax"] == ["no_max_subtraction"]
    assert record["seconds"] > 0
    assert set(record["points"]) == set(summary.rows[0].exercises)


def test_an_unknown_sandbox_is_one_sentence(course_copy):
    with pytest.raises(CourseError, match="choose one of auto, bubblewrap, landlock, none"):
        run(course_copy, confinement="docker")


def test_a_grader_that_fails_on_its_own_solution_grades_no_student(course_copy, material):
    """Whatever the cause, no student loses points."""
    submission(course_copy, "ada", material.solved)
    solved = course_copy.root / "solutions" / LAB / "lab01_softmax.ipynb"
    at = material.solved.answer_at("softmax")
    solved.write_bytes(material.solved.with_source(at, WRONG).bytes())
    summary, rows = run(course_copy)
    assert summary.broken_ours
    assert rows["ada"].state is State.OURS
    assert "softmax earns 11 of 14" in rows["ada"].reason
