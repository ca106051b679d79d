"""`lab release` and `lab feedback` follow the calendar, each lab for itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gradekit import cli
from gradekit.course import Course, load_course
from gradekit.feedback import page, solutions
from tests.helpers.three_weeks import write_three_weeks

NOW = datetime.now(UTC)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return write_three_weeks(tmp_path)


def with_dates(course: Course, **days: tuple[float, float]) -> Course:
    """The course with labs released and due so many days from now."""
    path = course.root / "course.toml"
    head, *labs = path.read_text().split("[[lab]]\n")
    for number, (lab, (release, due)) in enumerate(days.items()):
        dates = [f"{NOW + timedelta(days=day):%Y-%m-%dT%H:%M:%S}" for day in (release, due)]
        text = labs[number].partition("release =")[0]
        assert lab in text
        labs[number] = f"{text}release = {dates[0]}\ndue = {dates[1]}\n\n"
    path.write_text("[[lab]]\n".join([head, *labs]))
    return load_course(course.root)


def lab(course: Course, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, [*arguments, "--course", str(course.root)])


def test_a_conflict_does_not_stop_the_other_labs(course: Course) -> None:
    made = with_dates(course, lab01=(-20, -10), lab02=(-11, -5), lab03=(5, 9))
    done = lab(made, "release")
    assert done.exit_code == 1
    assert "lab01: release/lab01 and release/lab01.zip" in done.output
    (told,) = [line for line in done.output.splitlines() if line.startswith("lab: lab02")]
    assert "needs softmax of lab01, which can earn points until" in told
    assert sorted(path.name for path in (made.root / "release").iterdir()) == ["lab01", "lab01.zip"]


def test_before_its_date_a_lab_is_made_only_if_asked(course: Course) -> None:
    made = with_dates(course, lab01=(-20, 1), lab02=(5, 9), lab03=(12, 15))
    refused = lab(made, "release", "lab02")
    assert refused.exit_code == 1
    assert "add --early" in refused.output
    assert not (made.root / "release").exists()
    done = lab(made, "release", "lab02", "--early")
    assert done.exit_code == 0, done.output
    assert "careful: it holds the answers of lab01, which is open until" in done.output


def test_solutions_are_made_of_labs_that_have_closed(course: Course) -> None:
    made = with_dates(course, lab01=(-20, -10), lab02=(-9, 1), lab03=(12, 15))
    done = lab(made, "release", "--solutions", "lab02", "lab01")
    assert done.exit_code == 1
    assert "lab01: release/lab01-solutions.ipynb" in done.output
    assert "lab: lab02 can still earn points until" in done.output
    assert [path.name for path in (made.root / "release").iterdir()] == ["lab01-solutions.ipynb"]


@pytest.mark.parametrize(
    ("options", "due", "told"),
    [((), -1, True), ((), 1, False), (("--no-solutions",), -1, False), (("--solutions",), 1, None)],
)
def test_pages_have_the_right_answers_once_the_lab_has_closed(
    course: Course, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], due: float, told
) -> None:
    given = []

    def write(course: Course, lab: str, told: object) -> list[Path]:
        given.append(told)
        return [course.root / "feedback" / "ada" / lab / f"{lab}.html"]

    monkeypatch.setattr(page, "write_feedback", write)
    made = with_dates(course, lab01=(-20, due), lab02=(12, 15), lab03=(19, 22))
    done = lab(made, "feedback", "lab01", *options)
    if told is None:
        assert "can still earn points" in str(done.exception)
        assert given == []
    else:
        assert [isinstance(one, solutions.Solutions) for one in given] == [told]
        assert ("with the right answers" in done.output) == told


def test_feedback_without_results_is_an_error(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "write_feedback", lambda course, lab, told: [])
    done = lab(course, "feedback", "lab01", "--no-solutions")
    assert done.exit_code == 1
    assert "lab01 has no results yet, so no page was written" in done.output
