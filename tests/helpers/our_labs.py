"""The labs that this project ships, which keep to its rules: a hundred points, a test to write, …

A course may have other labs, made with `lab new`. They are proven by `lab verify`, and the suite
leaves them out.
"""

from __future__ import annotations

import sys
from types import ModuleType

from demo.course_folder import REPOSITORY
from gradekit.course import Course, load_course
from gradekit.exercise.loader import CourseLabs, LabExercises

COURSE = load_course(REPOSITORY)


class _LoadedOnce(CourseLabs):
    """Each lab is loaded once for all tests of a process, which do not change it.

    It is loaded again if a test has since imported the lab of that name of another course.
    """

    def __init__(self, course: Course) -> None:
        super().__init__(course)
        self._modules: dict[str, dict[str, ModuleType]] = {}

    def __getitem__(self, lab: str) -> LabExercises:
        if lab in self._loaded and self._modules[lab] != _imported(lab):
            del self._loaded[lab]
        found = super().__getitem__(lab)
        self._modules[lab] = _imported(lab)
        return found


def _imported(lab: str) -> dict[str, ModuleType]:
    """The modules of a lab's exercises that Python knows now."""
    return {
        name: module
        for name, module in sys.modules.items()
        if name.startswith(f"gradekit_exercises.{lab}.")
    }


LABS = _LoadedOnce(COURSE)
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
