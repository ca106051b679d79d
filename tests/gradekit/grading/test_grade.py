"""`lab grade` on a small class: what is graded, recorded, and graded again."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.course import load_course
from gradekit.errors import CourseError
from gradekit.grading import grade, pool
from gradekit.grading.grade import Settings
from gradekit.grading.view import progress_bar
from gradekit.results.records import State
from gradekit.submissions.folder import SUBMITTED, TIMESTAMP, format_timestamp
from tests.helpers.in_one_process import one_sandbox, without_workers
from tests.helpers.tiny_class import LAB, NAME, WRONG, hand_in, notebook, write_course


def run(course, **settings):
    with progress_bar(quiet=True) as progress:
        summary = grade.grade_lab(course, LAB, Settings(**{"jobs": 1, **settings}), progress)
    return summary, {row.student: row for row in summary.rows}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A built course without hand-ins. Copy it; do not change it."""
    root = write_course(tmp_path_factory.mktemp("fresh") / "course").root
    grade.course_secret(root / "results")
    return root


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the course of each test is, so that the next one finds the sandbox warm."""
    with one_sandbox():
        yield tmp_path_factory.mktemp("one_place") / "course"


def put(root, place):
    """The course in `place` is now a copy of `root`."""
    shutil.rmtree(place, ignore_errors=True)
    return load_course(Path(shutil.copytree(root, place)))


@pytest.fixture(scope="module")
def graded_three(fresh, place):
    """A class of three, graded: all right, one mistake, untouched. Copy it; do not change it."""
    course = put(fresh, place)
    hand_in(place, "ada", notebook(place))
    hand_in(place, "bob", notebook(place, softmax=WRONG))
    hand_in(place, "eve", (place / "labs" / LAB / f"{NAME}.ipynb").read_bytes())
    with without_workers():
        done = run(course)
    return shutil.copytree(place, place.with_name("kept")), done


@pytest.fixture
def three(graded_three, place):
    """The graded class, to change as you like, and what its grading came to."""
    kept, done = graded_three
    return put(kept, place), done


@pytest.fixture
def with_ada(fresh, place):
    """A course to which ada has handed in the solved notebook."""
    course = put(fresh, place)
    hand_in(place, "ada", notebook(place))
    return course


def test_a_class_is_graded_and_the_second_run_has_nothing_to_do(three, monkeypatch):
    course, (summary, rows) = three
    assert summary.graded == 3
    assert {name: row.state for name, row in rows.items()} == dict.fromkeys(
        ("ada", "bob", "eve"), State.GRADED
    )
    assert rows["ada"].earned == rows["ada"].points
    assert rows["eve"].earned == 0
    assert rows["bob"].advice["softmax"] == ("always_the_last",)
    assert rows["bob"].exercises == {"softmax": 3, "guess": 1}

    monkeypatch.setattr(pool, "run", lambda *args: pytest.fail("student code was run again"))
    again, same = run(course)
    assert again.graded == 0
    assert same == rows


def shown_inputs(course, *arguments):
    """What `lab show --inputs` prints."""
    line = ["show", LAB, *arguments, "--inputs", "--course", str(course.root)]
    with without_workers():
        done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_inputs_of_failed_checks_can_be_shown(three):
    course, _ = three
    text = shown_inputs(course, "bob", "softmax")
    assert "\n  ✗ Along the first axis.\n" in text
    assert "\n      softmax(x, dim)\n" in text
    (step,) = json.loads(shown_inputs(course, "bob", "--json"))["inputs"]
    assert (step["step"], [check["name"] for check in step["failed"]]) == (
        "softmax", ["another_axis"]
    )  # fmt: skip
    assert json.loads(shown_inputs(course, "ada", "--json"))["inputs"] == []


def test_only_what_is_new_is_graded(three):
    course, _ = three
    hand_in(course.root, "eve", notebook(course.root))
    with without_workers():
        summary, rows = run(course)
    assert summary.graded == 1
    assert rows["eve"].earned == rows["eve"].points


@pytest.mark.parametrize("change", ["changed", "taken away"])
def test_a_hand_in_that_changes_while_the_class_is_graded_stops_nobody(
    with_ada, monkeypatch, capsys, change
):
    course = with_ada
    hand_in(course.root, "bob", notebook(course.root))

    def later(function, tasks, jobs):
        if change == "changed":
            hand_in(course.root, "bob", notebook(course.root, softmax=WRONG))
        else:
            shutil.rmtree(course.root / SUBMITTED / "bob")
        return everything(function, tasks, jobs)

    with without_workers():
        everything = pool.run
        with monkeypatch.context() as patched:
            patched.setattr(pool, "run", later)
            summary, rows = run(course)
        assert list(rows) == ["ada"]
        assert rows["ada"].earned == rows["ada"].points
        assert "bob" not in summary.missing
        told = " ".join(capsys.readouterr().err.split())
        assert "bob: the hand-in was changed or taken away while the class was graded" in told
        again = run(course)[1]
    assert ("bob" in again) == (change == "changed")


def test_a_changed_exercise_file_asks_about_that_exercise_alone(three, monkeypatch):
    course, (_, before) = three
    path = course.exercises(LAB) / "guess.py"
    path.write_text(path.read_text().replace("points=1", "points=2"))
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
    assert sorted(asked) == [(name, ("guess",)) for name in ("ada", "bob", "eve")]
    assert before["ada"].exercises["guess"] == 1


def test_late_hand_ins_say_so(three):
    course, _ = three
    when = course.lab(LAB).due + timedelta(days=1, hours=2)
    (course.root / SUBMITTED / "ada" / LAB / TIMESTAMP).write_text(format_timestamp(when))
    _, rows = run(course)
    assert rows["ada"].state is State.LATE
    assert "2 days late" in rows["ada"].reason


def test_a_failure_of_the_grader_is_reported_and_costs_no_points(with_ada, monkeypatch):
    def broken(function, tasks, *more):
        for task in tasks:
            yield task, RuntimeError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(pool, "run", broken)
        summary, rows = run(with_ada)
    assert summary.broken_ours
    assert rows["ada"].state is State.OURS
    assert rows["ada"].earned is None
    assert set(rows["ada"].exercises.values()) == {None}
    assert "the disk is full" in rows["ada"].reason
    assert "RuntimeError" in (with_ada.root / "results/lab01.failures.log").read_text()

    with without_workers():
        _, rows = run(with_ada)
    assert rows["ada"].state is State.GRADED


def test_the_json_record_is_complete(three):
    _, (summary, _) = three
    record = json.loads(json.dumps(summary.rows[1].to_json()))
    assert record["student"] == "bob"
    assert record["state"] == "graded"
    assert record["advice"]["softmax"] == ["always_the_last"]
    assert record["seconds"] > 0
    assert set(record["points"]) == set(summary.rows[0].exercises)


def test_an_unknown_sandbox_is_one_sentence(with_ada):
    with pytest.raises(CourseError, match="choose one of auto, bubblewrap, landlock, none"):
        run(with_ada, level="docker")


def test_a_grader_that_fails_on_its_own_solution_grades_no_student(with_ada):
    """Whatever the cause, no student loses points."""
    solved = with_ada.root / "solutions" / LAB / f"{NAME}.ipynb"
    solved.write_bytes(notebook(with_ada.root, softmax=WRONG))
    summary, rows = run(with_ada)
    assert summary.broken_ours
    assert rows["ada"].state is State.OURS
    assert "softmax earns 3 of 5" in rows["ada"].reason
