from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from gradekit.course import Course, load_course
from gradekit.errors import GradebookError
from gradekit.gradebook.address import Address, address_of, rows_in
from gradekit.gradebook.entry import Entry, entry_of, unstored
from gradekit.gradebook.gradebook import NO_RESPONSE, Book
from gradekit.gradebook.marks import Mark, grade_of_answer, grade_of_test
from gradekit.results.records import State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import LAB, NAME

DUE = datetime(2026, 9, 20, 21, 59, tzinfo=UTC)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty gradebook; nbgrader takes seconds to make one."""
    path = tmp_path_factory.mktemp("empty") / "gradebook.db"
    with Book(Address(f"sqlite:///{path}", "course")):
        return path


@pytest.fixture
def address(tmp_path: Path, empty: Path) -> Address:
    shutil.copy(empty, tmp_path / "gradebook.db")
    return Address(f"sqlite:///{tmp_path / 'gradebook.db'}", "course")


@pytest.fixture
def book(address: Address, released: Released) -> Iterator[Book]:
    with Book(address) as opened:
        opened.register(LAB, released, DUE)
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    return load_course(tmp_path)


ENTRY = Entry(
    "ada",
    LAB,
    DUE.replace(tzinfo=None),
    0.0,
    {"softmax": 8.0, "entropy": 1.5},
    {"explain": "digest"},
    0.0,
)


def mark_by_hand(
    address: Address, student: str, cell: str, points: float, extra: float = 0
) -> None:
    """What formgrader does when a TA gives points."""
    with Gradebook(address.url) as gradebook:
        grade = gradebook.find_grade(cell, NAME, LAB, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        grade.extra_credit = extra or None
        comment = gradebook.find_comment("explain", NAME, LAB, student)
        comment.manual_comment = "Well put."
        gradebook.db.commit()


def test_nbgrader_reads_what_was_written(book: Book, address: Address) -> None:
    book.write(ENTRY)
    with Gradebook(address.url) as gradebook:
        submission = gradebook.find_submission(LAB, "ada")
        assert submission.score == 9.5
        assert submission.max_score == 16
        assert submission.needs_manual_grade
        assert submission.timestamp == datetime(2026, 9, 20, 21, 59)
        assert submission.total_seconds_late == 0
        assert gradebook.find_grade("check_entropy", NAME, LAB, "ada").auto_score == 1.5
        assert not gradebook.find_grade("check_entropy", NAME, LAB, "ada").needs_manual_grade
        assert gradebook.find_grade("explain", NAME, LAB, "ada").needs_manual_grade
        assert gradebook.find_assignment(LAB).duedate == datetime(2026, 9, 20, 21, 59)


def test_registering_is_what_generate_assignment_does(
    book: Book, address: Address, released: Released, tmp_path: Path, empty: Path
) -> None:
    from nbgrader.preprocessors import SaveCells

    theirs = f"sqlite:///{shutil.copy(empty, tmp_path / 'theirs.db')}"
    with Gradebook(theirs, "course") as gradebook:
        gradebook.add_assignment(LAB)
    places = {"notebook": NAME, "assignment": LAB, "db_url": theirs}
    SaveCells().preprocess(released.notebook, {"nbgrader": places})

    def cells(url: str) -> dict[str, list[dict[str, object]]]:
        with Gradebook(url) as gradebook:
            notebook = gradebook.find_notebook(NAME, LAB)
            rows = {
                "graded": notebook.grade_cells,
                "solved": notebook.solution_cells,
                "sources": notebook.source_cells,
                "notebook": [notebook],
            }
            return {
                kind: sorted(
                    ({k: v for k, v in cell.to_dict().items() if k != "id"} for cell in found),
                    key=str,
                )
                for kind, found in rows.items()
            }

    assert cells(address.url) == cells(theirs)


def test_writing_again_changes_nothing(book: Book, address: Address) -> None:
    row = book.write(ENTRY)
    before = book.marks(LAB)
    assert book.write(ENTRY) == row
    assert book.marks(LAB) == before
    assert rows_in(address) == {row}


def test_what_a_person_gave_survives_a_regrade(book: Book, address: Address) -> None:
    book.write(ENTRY)
    mark_by_hand(address, "ada", "explain", 3, extra=1)
    book.write(replace(ENTRY, scores={"softmax": 4.0, "entropy": 1.5}), ENTRY.answers)
    marks = book.marks(LAB)["ada"]
    assert marks.marks["explain"] == Mark(None, 3, 1, False)
    assert marks.marks["check_softmax"] == Mark(4, None, None, False)
    assert marks.comments == {"explain": "Well put."}
    assert marks.score == 9.5
    assert marks.is_complete


def test_a_changed_answer_is_to_be_looked_at_again(book: Book, address: Address) -> None:
    book.write(ENTRY)
    mark_by_hand(address, "ada", "explain", 3)
    book.write(replace(ENTRY, answers={"explain": "another digest"}), ENTRY.answers)
    assert book.marks(LAB)["ada"].marks["explain"] == Mark(None, 3, None, True)


def test_an_empty_answer_earns_nothing_and_waits_for_nobody(book: Book, address: Address) -> None:
    book.write(replace(ENTRY, answers={"explain": ""}))
    marks = book.marks(LAB)["ada"]
    assert marks.marks["explain"] == Mark(0, None, None, False)
    assert marks.is_complete
    with Gradebook(address.url) as gradebook:
        comment = gradebook.find_comment("explain", NAME, LAB, "ada")
        assert comment.comment == NO_RESPONSE


def test_where_we_failed_there_is_no_score_and_no_old_one(book: Book, address: Address) -> None:
    book.write(ENTRY)
    book.write(replace(ENTRY, scores={"softmax": None, "entropy": 4.0}))
    marks = book.marks(LAB)["ada"]
    assert marks.marks["check_softmax"] == Mark(None, None, None, True)
    assert not marks.is_complete
    book.write(replace(ENTRY, scores={"softmax": None, "entropy": None}, answers=None))
    marks = book.marks(LAB)["ada"]
    assert not any(mark.is_known for mark in marks.marks.values())
    with Gradebook(address.url) as gradebook:
        assert gradebook.find_submission(LAB, "ada").needs_manual_grade


def test_a_score_above_the_cells_worth_is_refused(book: Book) -> None:
    with pytest.raises(GradebookError, match=r"softmax earned 9 .* `lab build lab01`"):
        book.write(replace(ENTRY, scores={"softmax": 9.0, "entropy": 0.0}))
    assert book.marks(LAB) == {}


def test_a_failure_half_way_leaves_no_half_of_it(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.write(ENTRY)
    before = book.marks(LAB)
    monkeypatch.setattr(book, "_set_penalty", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        book.write(replace(ENTRY, scores={"softmax": 0.0, "entropy": 0.0}))
    assert book.marks(LAB) == before


def test_the_late_penalty_follows_manual_points(book: Book, address: Address) -> None:
    book.write(replace(ENTRY, late_percent=10.0))
    assert book.marks(LAB)["ada"].penalty == 0.95
    mark_by_hand(address, "ada", "explain", 4)
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 1
    marks = book.marks(LAB)["ada"]
    assert (marks.points, marks.penalty, marks.score) == (13.5, 1.35, 12.15)
    assert book.renew_penalties(LAB, lambda student, points: round(points / 10, 2)) == 0


def test_an_exercise_that_was_added_gets_its_cells(
    book: Book, released: Released, tmp_path: Path
) -> None:
    book.write(ENTRY)
    cells = submissions.released_cells()
    cells += [
        submissions.code("def third(): ...", **submissions.nbgrader("third", solution=True)),
        submissions.code('check("third")', **submissions.nbgrader("check_third", points=2)),
    ]
    path = tmp_path / f"{NAME}.ipynb"
    path.write_bytes(submissions.as_bytes(cells))
    book.register(LAB, Released.read(path), DUE)
    book.write(replace(ENTRY, scores={**ENTRY.scores, "third": 2.0}))
    assert book.marks(LAB)["ada"].points == 11.5
    with pytest.raises(GradebookError, match="check_third"):
        book.register(LAB, released, DUE)


def test_a_lock_of_another_program_is_waited_for(book: Book, address: Address) -> None:
    path = address.url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        other.rollback()
    book.write(ENTRY)
    assert book.marks(LAB)["ada"].points == 9.5


MAKER = """
import sys
import nbgrader.api
from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
print("ready", flush=True)
sys.stdin.readline()
with Book(Address(sys.argv[1], "course")):
    pass
"""


def test_a_gradebook_that_was_killed_in_the_making_is_not_there(tmp_path: Path) -> None:
    """nbgrader's own way leaves a file without its last tables; ours is whole or missing."""
    address = Address(f"sqlite:///{tmp_path / 'gradebook.db'}", "course")
    making = tmp_path / ".making-gradebook"
    line = [sys.executable, "-c", MAKER, address.url]
    maker = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    assert maker.stdin is not None
    maker.stdout.readline()
    maker.stdin.write("go\n")
    maker.stdin.flush()
    while not list(making.glob("*.db")):
        assert maker.poll() is None, "it was too quick to be killed"
        time.sleep(0.001)
    maker.kill()
    maker.communicate()
    assert list(making.iterdir()), "it was killed half way"
    assert rows_in(address) == frozenset()
    with Book(address) as book:
        assert book.marks(LAB) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["gradebook.db"]
    with sqlite3.connect(tmp_path / "gradebook.db") as made:
        assert made.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


def test_a_password_is_in_no_message_and_on_no_record() -> None:
    url = "postgresql+psycopg://ta:sec@ret@db:5432/grades"
    address = Address(f"{url}?password=secret&sslmode=require", "course")
    shown = "postgresql+psycopg://ta:***@db:5432/grades?password=***&sslmode=require"
    assert address.shown == shown
    assert ENTRY.stored(address, "row").book == shown
    plain = Address("sqlite:////courses/a b/gradebook.db", "course")
    assert plain.shown == plain.url


def test_a_gradebook_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(GradebookError, match="cannot be opened"),
        Book(Address(f"sqlite:///{tmp_path}/none/gradebook.db", "course")),
    ):
        pass


def test_a_hundred_hand_ins_take_a_moment(book: Book) -> None:
    start = time.process_time()
    for number in range(100):
        book.write(replace(ENTRY, student=f"s{number}"))
    assert (time.process_time() - start) / 100 < 0.03


def test_only_what_changed_is_stored_again(book: Book, address: Address) -> None:
    bob = replace(ENTRY, student="bob")
    stored = {entry.student: entry.stored(address, book.write(entry)) for entry in (ENTRY, bob)}
    rows = rows_in(address)
    assert unstored([ENTRY, bob], stored, rows) == []
    late = replace(bob, late_percent=10.0)
    assert unstored([ENTRY, late], stored, rows) == [late]
    cyd = replace(ENTRY, student="cyd")
    assert unstored([ENTRY, cyd], {**stored, "cyd": None}, rows) == [cyd]
    # A gradebook that was deleted and made anew holds nothing, whatever the journal remembers.
    assert unstored([ENTRY, bob], stored, frozenset()) == [ENTRY, bob]


def test_a_missing_gradebook_holds_nothing(tmp_path: Path) -> None:
    assert rows_in(Address(f"sqlite:///{tmp_path / 'none.db'}", "course")) == frozenset()
    (tmp_path / "junk.db").write_text("this is no database, and it is longer than its header")
    assert rows_in(Address(f"sqlite:///{tmp_path / 'junk.db'}", "course")) == frozenset()


def submission(student: str, state: State = State.GRADED) -> SubmissionRecord:
    return SubmissionRecord(student, LAB, "digest", state, answers={"explain": "d"})


def test_an_entry_knows_dates_and_states(course: Course) -> None:
    scores = {"softmax": 8.0, "entropy": 2.0}
    late = datetime(2026, 9, 21, 21, 0, tzinfo=UTC)
    ada = entry_of(course, submission("ada"), late, scores)
    assert (ada.late_percent, ada.extension) == (10, 0)
    assert ada.submitted_at == datetime(2026, 9, 21, 21, 0)
    bob = entry_of(course, submission("bob"), late, scores)
    assert (bob.late_percent, bob.extension) == (0, 2 * 86400)
    theirs = entry_of(course, submission("ada", State.THEIRS), late, scores)
    assert theirs.scores == {"softmax": 0, "entropy": 0}
    ours = entry_of(course, submission("ada", State.OURS), late, scores)
    assert ours.scores == {"softmax": None, "entropy": None}
    assert ours.answers is None
    assert entry_of(course, submission("ada"), None, scores).late_percent == 0


def test_extensions_reach_nbgrader(book: Book, address: Address) -> None:
    after = datetime(2026, 9, 21, 21, 0)
    book.write(replace(ENTRY, submitted_at=after, extension=2 * 86400.0))
    book.write(replace(ENTRY, student="eve", submitted_at=after))
    with Gradebook(address.url) as gradebook:
        assert gradebook.find_submission(LAB, "ada").total_seconds_late == 0
        assert gradebook.find_submission(LAB, "eve").total_seconds_late == 23 * 3600 + 60


def test_the_address_is_the_one_that_nbgrader_uses(course: Course) -> None:
    default = f"sqlite:///{course.root / 'gradebook.db'}"
    assert address_of(course) == Address(default, "default_course")
    (course.root / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'tfs'\n"
        "c.CourseDirectory.db_url = 'postgresql://db/grades'\n"
    )
    assert address_of(course) == Address("postgresql://db/grades", "tfs")


@pytest.mark.parametrize(
    ("known", "score", "then"),
    [
        (Mark(), 3.0, Mark(3.0, None, None, False)),
        (Mark(5.0, None, None, False), 3.0, Mark(3.0, None, None, False)),
        (Mark(5.0, 4.0, None, False), 5.0, Mark(5.0, 4.0, None, False)),
        (Mark(5.0, 4.0, None, False), 3.0, Mark(3.0, 4.0, None, True)),
        (Mark(5.0, None, None, False), None, Mark(None, None, None, True)),
    ],
)
def test_marks_of_tests(known: Mark, score: float | None, then: Mark) -> None:
    assert grade_of_test(known, score) == then


@pytest.mark.parametrize(
    ("known", "text", "before", "then"),
    [
        (Mark(), "d", None, Mark(None, None, None, True)),
        (Mark(), "", None, Mark(0.0, None, None, False)),
        (Mark(None, 3.0, None, False), "d", "d", Mark(None, 3.0, None, False)),
        (Mark(None, 3.0, None, False), "d", None, Mark(None, 3.0, None, False)),
        (Mark(None, 3.0, None, False), "e", "d", Mark(None, 3.0, None, True)),
        (Mark(None, 3.0, 1.0, False), None, "d", Mark(None, 3.0, 1.0, False)),
        (Mark(0.0, None, None, False), None, "", Mark(None, None, None, True)),
    ],
)
def test_marks_of_answers(known: Mark, text: str | None, before: str | None, then: Mark) -> None:
    assert grade_of_answer(known, text, before) == then
