"""`lab report` as people type it: what it prints, what it writes, how long it takes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.course import Course
from tests.helpers.planted_class import LAB

MOST_SECONDS = 2.0


def lab(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments],
        cwd=root, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_300_students_take_less_than_two_seconds(big_class: Course, tmp_path: Path) -> None:
    start = cpu_of_children()
    done = lab(big_class.root, "report", LAB, "--out", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert cpu_of_children() - start < MOST_SECONDS
    assert "298 of 300 students handed in" in done.stdout
    assert "double softmax" in (tmp_path / "page.html").read_text()


def test_json_is_all_that_is_printed(small_class: Course) -> None:
    done = lab(small_class.root, "report", LAB, "--json")
    values = json.loads(done.stdout)
    assert values["students"]["handed_in"] == 2
    assert not (small_class.root / "reports").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", "lab77"), "course.toml has no lab 'lab77'"),
        (("report", LAB, "--out", "students.csv/page.html"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    small_class: Course, arguments: tuple[str, ...], told: str
) -> None:
    done = lab(small_class.root, *arguments)
    assert done.returncode == 1
    assert told in " ".join(done.stderr.split())
    assert done.stderr.count("lab: ") == 1
    assert max(map(len, done.stderr.splitlines())) <= 80
