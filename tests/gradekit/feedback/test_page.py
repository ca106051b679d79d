"""The feedback page: points, advice, comments, and every word escaped."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.errors import CourseError, ResultNotKeptError
from gradekit.feedback.page import page_of, render, write_feedback
from gradekit.feedback.views import Page
from gradekit.gradebook.marks import Mark, Marks
from gradekit.late import Lateness
from gradekit.results.records import ExerciseResult, State, SubmissionRecord
from gradekit.submissions.released import Released
from tests.helpers import submissions
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import ANSWER, LAB, result

EVIL = "<script>PWN()</script>"
TEXT = "It keeps the exponentials finite."
RESULTS = {
    "softmax": result("softmax", 4, 8, "Exponentials overflow: look at `x.exp()`.", EVIL),
    "entropy": result("entropy", 4, 4),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "course.toml").write_text(COURSE)
    return load_course(tmp_path)


def record(state: State = State.GRADED, reason: str = "", answer: str = "d") -> SubmissionRecord:
    return SubmissionRecord(
        "ada", LAB, "digest", state, reason, (), {"explain": answer}, "2026-09-20T20:00:00+00:00"
    )


def page(
    course: Course,
    released: Released,
    about: SubmissionRecord | None = None,
    results: dict[str, ExerciseResult] | None = None,
    marks: Marks | None = None,
    late: Lateness | None = None,
    text: str = TEXT,
) -> Page:
    cells = {"softmax": f"{ANSWER}  # {EVIL}", "explain": text}
    return page_of(
        course,
        released,
        about or record(),
        RESULTS if results is None else results,
        marks,
        late or Lateness(),
        cells,
    )


def test_points_checks_and_advice_are_there(course: Course, released: Released) -> None:
    made = page(course, released)
    assert (made.score, made.points, made.is_final) == (8, 16, False)
    html = render(made)
    assert "Stays finite for large scores." in html
    assert html.count("hidden</span>") == 2
    assert "look at <code>x.exp()</code>." in html
    assert "8 <small>of 16 points so far" in html
    assert TEXT in html


def test_nothing_of_the_students_is_markup(course: Course, released: Released) -> None:
    about = record(reason=EVIL)
    marks = Marks("ada", {}, {"softmax": EVIL, "explain": EVIL}, 0)
    html = render(page(course, released, about, marks=marks, text=EVIL))
    assert "<script" not in html
    assert html.count("&lt;script&gt;PWN()") == 6


def test_nothing_of_the_students_steers_or_turns_round(course: Course, released: Released) -> None:
    about = record(reason="\x1b[2J\x9b")
    html = render(page(course, released, about, text="two\nlines, a\ttab, \u202elarutan\u2066"))
    assert not {"\x1b", "\x9b", "\u202e", "\u2066"} & set(html)
    assert "two\nlines, a\ttab, �larutan�" in html


def test_the_page_needs_no_network(course: Course, released: Released) -> None:
    html = render(page(course, released))
    for word in ("http://", "https://", "src=", "@import", "url("):
        assert word not in html


@pytest.mark.parametrize(
    ("earned", "code", "advice", "said"),
    [
        (4, "x.mean() + softmax(x)", "", True),
        (8, "softmax(x)", "", False),
        (4, "x.mean()", "", False),
        (4, "x.mean()", "This check runs on your own `softmax` and `logsumexp`.", True),
        (4, "x.mean()", "The softmax is missing.", False),
    ],
)
def test_a_correct_version_in_place_of_an_earlier_step_is_named(
    course: Course, released: Released, earned: float, code: str, advice: str, said: bool
) -> None:
    results = {
        "softmax": replace(result("softmax", earned, 8), names=("softmax",)),
        "entropy": replace(
            result("entropy", 4, 4), uses=("softmax", "logsumexp"), advice=(advice,)
        ),
    }
    made = page_of(course, released, record(), results, None, Lateness(), {"entropy": code})
    sentence = "Your own <code>softmax</code> lost points in"
    assert (sentence in render(made)) is said


def test_a_persons_points_and_words(course: Course, released: Released) -> None:
    given = {"explain": Mark(None, 3.0, 0.5, False), "check_softmax": Mark(4.0, 6.0, None, False)}
    marks = Marks("ada", given, {"explain": "Well put."}, 0)
    made = page(course, released, marks=marks)
    assert (made.score, made.is_final) == (13.5, True)
    html = render(made)
    assert "Well put." in html
    assert "These points were set by a TA." in html
    assert "so far" not in html


def test_an_unwritten_answer_earns_nothing_and_is_not_open(
    course: Course, released: Released
) -> None:
    made = page(course, released, record(answer=""), text=submissions.PLACEHOLDER)
    assert made.is_final
    assert "Nothing was written here." in render(made)


def test_lateness_is_shown_in_points(course: Course, released: Released) -> None:
    made = page(course, released, late=Lateness(90_000, 2, 20))
    assert (made.state, made.penalty, made.score) == (State.LATE, 1.6, 6.4)
    html = render(made)
    assert "Handed in 2 days late" in html
    assert "1.6 of the 8 points" in html


def test_what_is_broken_is_named_with_what_to_do(course: Course, released: Released) -> None:
    about = record(State.THEIRS, "lab01_softmax.ipynb is empty (0 bytes); save it.", "")
    made = page(course, released, about, {})
    assert made.score == 0
    html = render(made)
    assert "could not be read" in html
    assert "hand it in again" in html


def test_our_failure_is_ours_and_costs_nothing(course: Course, released: Released) -> None:
    about = record(State.OURS, "KeyError: '/srv/secret' (the whole story is in the log)")
    html = render(page(course, released, about, {}))
    assert "Not graded yet" in html
    assert "not your work" in html
    assert "secret" not in html
    one = {**RESULTS, "softmax": ExerciseResult("softmax", "Softmax", (), broken="no answer")}
    made = page(course, released, results=one)
    assert made.exercises[0].earned is None
    assert "could not be graded" in render(made)


def test_a_stopped_notebook_says_so(course: Course, released: Released) -> None:
    html = render(page(course, released, record(reason="A cell was stopped after 60 s.")))
    assert "stopped after 60 s" in html


def test_pages_are_written_for_everyone(
    course: Course, released: Released, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradekit.gradebook.address import address_of
    from gradekit.gradebook.entry import entry_of
    from gradekit.gradebook.gradebook import Book
    from gradekit.results.journal import Journal
    from gradekit.results.records import Record

    with pytest.raises(CourseError, match="lab grade lab01"):
        write_feedback(course, LAB)
    folder = tmp_path / "labs" / LAB
    folder.mkdir(parents=True)
    (folder / "lab01_softmax.ipynb").write_bytes(submissions.as_bytes(submissions.released_cells()))
    late = datetime(2026, 9, 21, 20, 0, tzinfo=UTC)
    about = SubmissionRecord(
        "eve", LAB, "d1", State.GRADED, "", (), {"explain": "d"}, late.isoformat()
    )
    records = [Record("eve", LAB, "d1", name, made) for name, made in RESULTS.items()]
    with Journal(tmp_path / "results" / "lab01.jsonl") as journal:
        journal.append([*records, about])
    address = address_of(course)
    with Book(address) as book:
        book.register(LAB, released, course.lab(LAB).due)
        book.write(entry_of(course, about, late, {"softmax": 4.0, "entropy": 4.0}))
    with Book(address) as book:
        grade = book._gradebook.find_grade("explain", "lab01_softmax", LAB, "eve")
        grade.manual_score, grade.needs_manual_grade = 4.0, False
        book._gradebook.db.commit()
    (path,) = write_feedback(course, LAB)
    assert path == tmp_path / "feedback" / "eve" / LAB / "lab01.html"
    assert "10.8 <small>of 16 points</small>" in path.read_text()
    with Book(address) as book:
        assert book.marks(LAB)["eve"].penalty == 1.2
    before = path.read_text()
    monkeypatch.setattr("gradekit.feedback.page.write_whole", full_disk)
    with pytest.raises(ResultNotKeptError) as refused:
        write_feedback(course, LAB)
    assert str(refused.value).startswith("lab01: the page of eve cannot be written to ")
    assert "(No space left on device); fix that" in str(refused.value)
    assert path.read_text() == before


def full_disk(path: Path, text: str) -> None:
    raise OSError(28, "No space left on device")


def test_a_step_without_points_shows_its_checks_and_says_that_it_is_not_graded(
    course: Course, released: Released
) -> None:
    made = page(course, released)
    shown = replace(made.exercises[1], points=0.0, earned=0.0, result=result("entropy", 0, 0))
    html = render(replace(made, exercises=(made.exercises[0], shown)))
    assert html.count("not graded</span>") == 2, "in the table and above its checks"
    assert "0 / 0" not in html
    assert html.count("Stays finite for large scores.") == 2
