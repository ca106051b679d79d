"""The labs that this project ships, which keep to its rules: a hundred points, a test to write, …

A course may have other labs, made with `lab new`. They are proven by `lab verify`, and the suite
leaves them out.
"""

from __future__ import annotations

from demo.course_folder import REPOSITORY
from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs

COURSE = load_course(REPOSITORY)
# Each is loaded once for all tests of a process, which do not change it.
LABS = CourseLabs(COURSE)
OUR_LABS = (
    "lab00",
    "lab01",
    "lab02",
    "lab03",
    "lab04",
    "lab05",
    "lab06",
    "lab07",
    "lab08",
    "lab09",
    "lab10",
    "lab11",
)
# The bug clinic, an exam: each of its cases has a test to write and a question, and no case uses
# another.
CLINIC = "lab11"
