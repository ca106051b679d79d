"""nbgrader's commands, with this course's nbgrader_config.py, give the results of `lab grade`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, LoggingConfigurable

from demo.classroom import material_of
from demo.comparison import compare, scores_in_book
from demo.incoming import write_submitted
from demo.submission import DemoSubmission
from gradekit.course import Course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.entry import Entry
from gradekit.gradebook.gradebook import Book
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.nbgrader import plugins
from gradekit.results.folder import course_secret, failures_path, journal_path, results_folder
from gradekit.results.journal import Journal
from gradekit.results.records import State
from gradekit.submissions.folder import SUBMITTED
from gradekit.submissions.released import Released
from tests.helpers.graded import GradedClass, grade_class, lab
from tests.helpers.nbgrader_commands import exported, judged_cells, marks, nbgrader, telling_part
from tests.helpers.tiny_class import LAB, NAME, journal_of, write_course

pytestmark = [pytest.mark.timeout(600), pytest.mark.starts_first, pytest.mark.needs("sandbox")]
IN_TIME = "2026-09-20 20:00:00 UTC"


def fresh_course(folder: Path) -> Course:
    (folder / "course").mkdir()
    return write_course(folder / "course")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> GradedClass:
    """A hand-in of each kind, graded by ``lab grade``."""
    course = fresh_course(tmp_path_factory.mktemp("ours"))
    return grade_class(course, by_exchange(telling_part(material_of(course))), "--jobs", "1")


def by_exchange(submissions: Sequence[DemoSubmission]) -> list[DemoSubmission]:
    """The hand-ins with the file that nbgrader's exchange puts next to each."""
    secrets = {h.student: f"secret of {h.student}".encode() for h in submissions}
    return [
        replace(h, files={**h.files, "submission_secret.txt": secrets[h.student]})
        for h in submissions
    ]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, ours: GradedClass) -> Course:
    """The same, graded by ``nbgrader autograde``, which makes the gradebook, too."""
    course = fresh_course(tmp_path_factory.mktemp("nbgrader"))
    (course.root / "results").mkdir()
    shutil.copy(ours.course.root / "results" / "secret", course.root / "results")
    write_submitted(ours.submissions, course.root, LAB)
    nbgrader(course.root, "autograde", LAB)
    return course


def test_lab_grade_gives_the_expected_marks(ours: GradedClass) -> None:
    results = compare(ours.submissions, ours.rows, scores_in_book(ours.course, LAB))
    assert {r.submission.student: r.differences for r in results if not r.ok} == {}


def test_both_ways_give_the_same_gradebook(graded: Course, ours: GradedClass) -> None:
    """For each student the same points, open marks, comments and penalty."""
    theirs = marks(graded)
    assert set(theirs) == {submission.student for submission in ours.submissions}
    assert theirs == marks(ours.course)
    assert theirs["wordy"].penalty == round(theirs["wordy"].points * 0.2, 2) > 0
    assert {name for name, given in theirs.items() if not given.is_complete} == {
        "wordy",
        "o'brien <b>&amp;",
    }


def test_both_ways_give_the_same_records(graded: Course, ours: GradedClass) -> None:
    assert journal_of(graded.root) == journal_of(ours.course.root)


def test_both_ways_export_the_same(graded: Course, ours: GradedClass) -> None:
    rows = exported(graded)
    assert rows == exported(ours.course)
    assert {row["max_score"] for row in rows} == {"10.0"}


def test_formgrader_shows_the_same_and_nothing_active(graded: Course, ours: GradedClass) -> None:
    for submission in ours.submissions:
        cells = judged_cells(graded, submission.student)
        assert cells == judged_cells(ours.course, submission.student)
        assert len(cells) == 2
        path = graded.root / "autograded" / submission.student / LAB / f"{NAME}.ipynb"
        assert "<script" not in str(
            [cell["data"] for outputs in cells.values() for cell in outputs]
        )
        if submission.expected.state == "broken: theirs":
            assert "About this hand-in" in path.read_text("utf-8")


def test_lab_grade_has_nothing_left_to_do(graded: Course, ours: GradedClass) -> None:
    before = journal_path(graded, LAB).read_bytes()
    done = lab(graded, "grade", LAB)
    assert f"0 graded now, {len(ours.submissions)} as before" in done.stdout
    assert journal_path(graded, LAB).read_bytes() == before


def test_feedback_is_the_same_after_both_and_is_sent_by_the_exchange(
    graded: Course, ours: GradedClass, tmp_path: Path
) -> None:
    sent = {}
    for course in (graded, ours.course):
        exchange = tmp_path / course.root.parent.name
        exchange.mkdir()
        exchange.chmod(0o777)
        nbgrader(course.root, "generate_feedback", LAB)
        nbgrader(course.root, "release_feedback", LAB, f"--Exchange.root={exchange}")
        sent[course.root] = {
            path.name: path.read_text("utf-8") for path in exchange.rglob("*.html")
        }
    assert sent[graded.root] == sent[ours.course.root]
    assert len(sent[graded.root]) == len(ours.submissions)
    folder = graded.root / "feedback" / "wordy" / LAB
    page = (folder / f"{NAME}.html").read_text("utf-8")
    assert "Handed in 2 days late" in page
    assert "Because infinity is no number." in page
    assert page in sent[graded.root].values()
    lab(graded, "feedback", LAB)
    assert (folder / f"{LAB}.html").read_text("utf-8") == page


def submission(course: Course, student: str, data: bytes, stamp: str = IN_TIME) -> None:
    folder = course.root / SUBMITTED / student / LAB
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_text(stamp)


def released_by(course: Course) -> Released:
    """The lab's notebook as a grader reads it."""
    secret = course_secret(results_folder(course))
    with LabGrader(GraderSpec(course, LAB, "auto", secret)) as grader:
        return grader.released


class Command(LoggingConfigurable):  # type: ignore[misc]
    """Replaces an nbgrader command, whose plugins need only the course's folders."""

    def __init__(self, course: Course) -> None:
        super().__init__(config=Config())
        self.coursedir = CourseDirectory(config=Config(CourseDirectory={"root": str(course.root)}))


@pytest.fixture
def tiny(tmp_path: Path) -> Course:
    return fresh_course(tmp_path)


@pytest.fixture
def command(tiny: Course) -> tuple[Command, dict[str, Any]]:
    submission(tiny, "ada", material_of(tiny).solved.bytes())
    names = {
        "student": "ada",
        "assignment": LAB,
        "notebook": NAME,
        "db_url": address_of(tiny).url,
    }
    with Book(address_of(tiny)) as book:
        released = released_by(tiny)
        book.register(LAB, released, None)
        full = {target.exercise: target.points for target in released.tests}
        book.write(Entry("ada", LAB, None, 0.0, full, {"explain": "digest"}, 0.0))
    return Command(tiny), {"nbgrader": names}


def test_after_a_failure_of_ours_nbgrader_shows_no_score(
    command: tuple[Command, dict[str, Any]], tiny: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, resources = command

    def fail(*_: Any) -> Any:
        raise MemoryError("the machine fell")

    monkeypatch.setattr(plugins, "grade_submission", fail)
    notebook, _ = plugins.SandboxExecute(parent=parent).preprocess(None, resources)
    assert "our fault" in notebook.cells[0].source
    assert marks(tiny)["ada"].marks["check_softmax"].auto == 5, "the old score"
    plugins.FinishEntry(parent=parent).preprocess(notebook, resources)
    given = marks(tiny)["ada"]
    assert not any(mark.is_known for mark in given.marks.values())
    with Journal(journal_path(tiny, LAB)) as journal:
        (record,) = journal.submissions
        assert record.state is State.OURS
    log = failures_path(tiny, LAB).read_text()
    assert "MemoryError: the machine fell" in log


def test_the_late_rule_is_the_courses(tiny: Course) -> None:
    command = Command(tiny)
    command.coursedir.assignment_id = LAB
    rule = plugins.CourseLateRule(parent=command)
    assert rule.late_submission_penalty("ada", 50.0, 60.0) is None
    assert rule.late_submission_penalty("ada", 50.0, 3600.0) == 5.0
    assert rule.late_submission_penalty("ada", 50.0, 90 * 86400.0) == 50.0
