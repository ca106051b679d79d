"""Regrading by nbgrader, by `lab grade`, and by both: nothing is lost or done twice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp

from gradekit.course import load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.marks import Mark, Marks
from gradekit.grading import grade
from gradekit.grading.grade import Settings
from gradekit.grading.view import progress_bar
from gradekit.nbgrader import plugins
from tests.helpers import tiny_class
from tests.helpers.in_one_process import one_sandbox, without_workers
from tests.helpers.tiny_class import IN_TIME, LAB, NAME, gradebook_of, journal_of

STUDENTS = ("ada", "bob", "cyd", "eve")
# nbgrader's own tables warn when a row is added.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture(autouse=True)
def a_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without settings; variables that nbgrader_config.py sets are unset again."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")


@pytest.fixture(scope="module")
def by_nbgrader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("class") / "course"
    root.mkdir()
    tiny_class.write_course(root)
    tiny_class.write_class(root)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(root.parent))
        patched.setenv("PYTHONSAFEPATH", "1")
        autograde(root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        mark = book.find_grade("explain", NAME, LAB, "ada")
        mark.manual_score, mark.needs_manual_grade = 3, False
        book.find_comment("explain", NAME, LAB, "ada").manual_comment = "Well put."
        book.db.commit()
    assert lab_grade(root) == 0  # saves the keys of results
    shutil.copytree(root, root.with_name("kept"))
    with one_sandbox():
        yield root


@pytest.fixture
def graded(by_nbgrader: Path) -> Path:
    """The class of four after ``nbgrader autograde``, and a manual mark for ada's answer."""
    shutil.rmtree(by_nbgrader)
    return Path(shutil.copytree(by_nbgrader.with_name("kept"), by_nbgrader))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """The students whose notebooks were run, and the exercises."""
    seen, real = [], plugins.grade_submission

    def watched(grader: Any, submitted: Any, asked: tuple[str, ...], known: Any) -> Any:
        seen.append((submitted.student, asked))
        return real(grader, submitted, asked, known)

    monkeypatch.setattr(plugins, "grade_submission", watched)
    return seen


def autograde(root: Path, *options: str) -> None:
    """What ``nbgrader autograde lab01`` does, in this process."""
    before = Path.cwd()
    os.chdir(root)
    try:
        app = AutogradeApp()
        app.initialize([LAB, *options])
        app.start()
    finally:
        os.chdir(before)


def lab_grade(root: Path, **settings: Any) -> int:
    """How many `lab grade` graded."""
    with without_workers(), progress_bar(quiet=True) as progress:
        return grade.grade_lab(load_course(root), LAB, Settings(1, **settings), progress).graded


def marks(root: Path, student: str) -> Marks:
    with Book(address_of(load_course(root))) as book:
        return book.marks(LAB)[student]


def test_without_anything_new_nothing_is_run(graded: Path, asked: list[Any]) -> None:
    book, journal = gradebook_of(graded), journal_of(graded)
    autograde(graded)
    assert asked == []
    assert lab_grade(graded) == 0
    assert (gradebook_of(graded), journal_of(graded)) == (book, journal)


def test_force_keeps_manual_marks_and_opens_none_again(graded: Path, asked: list[Any]) -> None:
    book = gradebook_of(graded)
    autograde(graded, "--force")
    assert sorted(asked) == [(student, ("softmax", "guess")) for student in STUDENTS]
    assert gradebook_of(graded) == book
    assert marks(graded, "ada").marks["explain"] == Mark(None, 3, None, False)
    assert marks(graded, "ada").comments == {"explain": "Well put."}
    assert lab_grade(graded) == 0


def test_a_new_hand_in_is_graded_even_under_the_old_time_stamp(
    graded: Path, asked: list[Any]
) -> None:
    """By time stamps, nbgrader would keep the points of bob's old answers."""
    assert marks(graded, "bob").marks["check_softmax"].auto == 3
    others = [row for row in gradebook_of(graded)[0] if row[0] != "bob"]
    tiny_class.hand_in(graded, "bob", tiny_class.notebook(graded), IN_TIME)
    autograde(graded)
    assert asked == [("bob", ("softmax", "guess"))]
    assert marks(graded, "bob").marks["check_softmax"].auto == 5
    assert [row for row in gradebook_of(graded)[0] if row[0] != "bob"] == others
    assert lab_grade(graded) == 0


def test_a_marked_answer_that_changed_is_open_again(graded: Path) -> None:
    changed = tiny_class.notebook(graded).replace(b"shares of a whole", b"parts of one")
    assert changed != tiny_class.notebook(graded)
    tiny_class.hand_in(graded, "ada", changed)
    autograde(graded)
    assert marks(graded, "ada").marks["explain"] == Mark(None, 3, None, True)
    assert marks(graded, "ada").comments == {"explain": "Well put."}


def test_a_notebook_that_is_renamed_later_keeps_no_old_score(graded: Path) -> None:
    folder = graded / "submitted" / "bob" / LAB
    (folder / f"{NAME}.ipynb").unlink()
    (folder / "my final version.ipynb").write_bytes(tiny_class.notebook(graded, softmax="x = 1"))
    autograde(graded)
    assert marks(graded, "bob").marks["check_softmax"].auto == 0
    assert marks(graded, "bob").marks["check_guess"].auto == 1


def test_a_killed_run_is_continued(graded: Path, asked: list[Any]) -> None:
    """nbgrader by itself takes a folder in autograded/ for a graded hand-in."""
    (graded / "autograded" / "cyd" / LAB / f"{NAME}.ipynb").unlink()
    autograde(graded)
    assert [student for student, _ in asked] == ["cyd"]
    assert (graded / "autograded" / "cyd" / LAB / f"{NAME}.ipynb").is_file()


# The last tests, because each of them makes a new grader.


def test_nbgrader_repeats_nothing_of_lab_grade(graded: Path, asked: list[Any]) -> None:
    for name in ("gradebook.db", "results/lab01.jsonl"):
        (graded / name).unlink()
    shutil.rmtree(graded / "autograded")
    assert lab_grade(graded) == 4
    book = gradebook_of(graded)
    autograde(graded)
    assert asked == []
    assert gradebook_of(graded) == book


def test_links_are_not_followed(graded: Path, asked: list[Any]) -> None:
    """nbgrader copies the files next to a notebook, and would copy the targets of links."""
    folder = graded / "submitted" / "bob" / LAB
    (folder / "page.html").symlink_to(graded / "gradebook.db")
    autograde(graded, "--force")
    assert {student for student, _ in asked} == {"ada", "cyd", "eve"}
    assert (graded / "autograded" / "bob" / LAB / f"{NAME}.ipynb").is_file(), "the old one stays"
    assert not (graded / "autograded" / "bob" / LAB / "page.html").exists()
    assert lab_grade(graded) == 1, "which says that the link was left out"


def test_only_a_changed_exercise_is_run_again(graded: Path, asked: list[Any]) -> None:
    by_hand = gradebook_of(graded)
    exercise = graded / "autograder" / "exercises" / LAB / "guess.py"
    exercise.write_text(exercise.read_text().replace("return lab.guess", "return lab.guess * 0"))
    (graded / "labs" / LAB / f"{NAME}.ipynb").touch()
    autograde(graded)
    assert sorted(asked) == [(student, ("guess",)) for student in STUDENTS]
    assert gradebook_of(graded)[1] == by_hand[1], "comments stay"
    assert marks(graded, "ada").marks["explain"] == Mark(None, 3, None, False)
    assert marks(graded, "eve").marks["check_softmax"].auto == 0
    assert lab_grade(graded) == 0
