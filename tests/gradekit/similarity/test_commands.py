"""``lab similar``, as a TA types it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from gradekit.cli.similar import app
from gradekit.course import Course
from gradekit.errors import CollectError, CourseError


def lab(course: Course, *arguments: str) -> Result:
    return CliRunner().invoke(
        app, [*arguments, "--course", str(course.root)], env={"COLUMNS": "80"}
    )


def test_it_says_who_agrees_and_writes_a_page(course: Course) -> None:
    done = lab(course, "lab01")
    assert done.exit_code == 0, done.output
    assert "lab01: 13 hand-ins compared; 1 pair to look at." in done.output
    assert "s04, zoe" in done.output
    assert "Not compared, no readable notebook: bad." in done.output
    assert "This is not proof" in done.output
    assert done.output.endswith("wrote reports/lab01-similar.html\n")
    assert max(map(len, done.output.splitlines())) <= 80
    assert (course.root / "reports" / "lab01-similar.html").is_file()


def test_json_has_the_same(course: Course) -> None:
    found = json.loads(lab(course, "lab01", "--json").output)
    assert found["compared"] == 13
    assert found["unread"] == ["bad"]
    assert found["groups"] == [["s04", "zoe"]]
    (pair,) = found["pairs"]
    assert [one["student"] for one in pair["students"]] == ["s04", "zoe"]
    assert pair["expected_by_chance"] <= found["line"]
    assert {step["step"] for step in pair["steps"]} == {"softmax", "entropy", "explain"}
    assert not (course.root / "reports").exists()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(("lab77",), CourseError), (("lab01", "nowhere"), CollectError)],
)
def test_a_mistake_is_an_error(
    course: Course, arguments: tuple[str, ...], kind: type[Exception]
) -> None:
    done = lab(course, *arguments)
    assert isinstance(done.exception, kind)
    assert not (course.root / "reports").exists()
