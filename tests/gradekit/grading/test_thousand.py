"""A thousand hand-ins, one in fifty broken or hostile: right points, no repairs, in bounds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice

import pytest

from demo.classroom import LAB, material_of
from demo.comparison import compare, scores_in_book
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.crowd import crowd
from demo.damaged import damaged
from demo.honest import honest
from demo.hostile import hostile
from demo.incoming import write_submitted
from demo.usage import measured
from gradekit.build.build import build_labs
from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs
from gradekit.untrusted.limits import GIB

STUDENTS, BAD_ONES = 1000, 20
MOST_MEMORY = 1.5 * GIB  # of everything, with two workers
MOST_SECONDS_AGAIN = 2 + STUDENTS / 1000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.needs("sandbox")]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thousand") / "course"
    course = load_course(copy_course(folder, SMALL_LIMITS))
    build_labs(CourseLabs(course), [LAB])
    return course


@pytest.fixture(scope="module")
def people(course):
    """The class; the bad ones stand among the others, one in fifty."""
    material = material_of(course)
    good = crowd(list(honest(material)), STUDENTS - BAD_ONES, material.name)
    bad = crowd([*damaged(material), *hostile(material)], BAD_ONES, material.name)
    whole = [
        submission for one in bad for submission in (one, *islice(good, STUDENTS // BAD_ONES - 1))
    ]
    return [replace(h, student=f"student{number:04}") for number, h in enumerate(whole)]


@pytest.fixture(scope="module")
def graded(course, people):
    """The class after one `lab grade`: what it printed, and what it used."""
    write_submitted(people, course.root, LAB)
    line = [sys.executable, "-m", "gradekit.cli", "grade", LAB, "--jobs", "2", "--json"]
    return measured(line, course.root, with_memory=True)


def test_everybody_gets_what_the_hand_in_is_worth(course, people, graded):
    assert len(people) == STUDENTS
    results = compare(people, json.loads(graded.said), scores_in_book(course, LAB))
    assert [
        (r.submission.student, r.submission.why, r.differences) for r in results if not r.ok
    ] == []


def test_memory_has_an_end(graded):
    assert 0 < graded.peak_bytes < MOST_MEMORY


def test_nothing_new_takes_seconds_and_grades_nobody(course, graded):
    start = time.monotonic()
    line = [sys.executable, "-m", "gradekit.cli", "grade", LAB]
    done = subprocess.run(line, cwd=course.root, capture_output=True, text=True, check=False)
    assert "0 graded now" in done.stdout
    assert time.monotonic() - start < MOST_SECONDS_AGAIN
