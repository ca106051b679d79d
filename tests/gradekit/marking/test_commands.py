"""``lab mark``, as a TA types it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from gradekit.cli.mark import app
from gradekit.course import Course
from gradekit.errors import CourseError


def test_it_prints_an_address_and_ends_with_what_is_left(course: Course) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "gradekit.cli", "mark", "lab01", "--share", "1/2", "--as", "Kim"],
        cwd=course.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", lines[1])
        assert address, lines
        with urlopen(address[0]) as page:
            assert b"<title>Marking</title>" in page.read()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors == ""
    assert re.match(r"lab01: 0 of \d answers are marked\.", lines[0])
    assert re.search(r"0 of (\d) answers are marked, \1 left\.", out)
    assert max(len(line.rstrip()) for line in lines) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lab01", "--share", "3/2"), "--share 3/2 is not a share"),
        (("lab77",), "no lab 'lab77'"),
    ],
)
def test_a_mistake_is_one_sentence(
    course: Course, arguments: tuple[str, ...], message: str
) -> None:
    done = CliRunner().invoke(app, [*arguments, "--course", str(course.root)])
    assert isinstance(done.exception, CourseError)
    assert message in str(done.exception)
