"""`lab withdraw`: one hand-in is gone everywhere, and what was handed in is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import CollectError
from gradekit.gradebook.address import Address, address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.withdraw import withdraw
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers.gradebook import DUE, ENTRY, give_manual_mark
from tests.helpers.submissions import LAB


@pytest.fixture
def graded(course: Course, address: Address, released: Released) -> Course:
    """Ada and Bob handed in, were graded and have feedback."""
    assert address_of(course).file == address.file
    for student in ("ada", "bob"):
        for top in ("submitted", "autograded", "feedback"):
            folder = course.root / top / student / LAB
            folder.mkdir(parents=True)
            (folder / "x.ipynb").write_text(student)
        (course.root / "submitted" / student / f".{LAB}.json").write_text("{}")
    with Journal(journal_path(course, LAB)) as journal:
        journal.append([SubmissionRecord(name, LAB, "d", State.GRADED) for name in ("ada", "bob")])
    with Book(address_of(course)) as book:
        book.register(LAB, released, DUE)
        book.write(ENTRY)
    return course


def test_a_hand_in_is_gone_everywhere_and_kept_apart(graded: Course) -> None:
    withdrawn = withdraw(graded, LAB, "ada")
    kept = graded.root / "withdrawn" / "ada" / LAB
    assert withdrawn.kept == kept
    assert (kept / "x.ipynb").read_text() == "ada"
    left = [path for path in graded.root.rglob("*ada*") if "withdrawn" not in path.parts]
    assert left == []
    assert len(list(graded.root.rglob("bob/*/x.ipynb"))) == 3
    with Book(address_of(graded)) as book:
        assert "ada" not in book.marks(LAB)
    for _ in range(2):  # also when the journal is read again
        with Journal(journal_path(graded, LAB)) as journal:
            assert [record.student for record in journal.submissions] == ["bob"]
    assert len(withdrawn.removed) == 4
    assert "the points in gradebook.db" in withdrawn.removed


def test_it_may_be_collected_and_withdrawn_again(graded: Course) -> None:
    withdraw(graded, LAB, "ada")
    (graded.root / "submitted" / "ada" / LAB).mkdir(parents=True)
    with Journal(journal_path(graded, LAB)) as journal:
        journal.append([SubmissionRecord("ada", LAB, "e", State.GRADED)])
        assert journal.submission("ada") is not None
    assert withdraw(graded, LAB, "ada").kept == Path(graded.root / "withdrawn" / "ada" / f"{LAB}-2")


def test_manual_marks_are_lost_only_with_force(graded: Course) -> None:
    give_manual_mark(address_of(graded), "ada", "explain", 3)
    with pytest.raises(CollectError, match="ada has 2 manual marks or comments for lab01"):
        withdraw(graded, LAB, "ada")
    assert (graded.root / "submitted" / "ada" / LAB).exists()
    withdraw(graded, LAB, "ada", force=True)
    assert not (graded.root / "submitted" / "ada").exists()


@pytest.mark.parametrize(
    ("student", "told"), [("adda", "did you mean ada"), ("zoe", "2 students have handed it in")]
)
def test_a_student_without_a_hand_in_is_one_sentence(
    student: str, told: str, graded: Course
) -> None:
    with pytest.raises(CollectError, match=f"no hand-in of '{student}' for lab01; .*{told}"):
        withdraw(graded, LAB, student)


@pytest.mark.parametrize("student", ["..", "../x", "/etc", "", ".git", "a/b"])
def test_an_id_leads_to_no_other_folder(student: str, graded: Course) -> None:
    with pytest.raises(CollectError, match="is not a student's id"):
        withdraw(graded, LAB, student)
    assert len(list(graded.root.rglob("x.ipynb"))) == 6
