"""The class of lab 1: about ninety students, and the points that each of them should get."""

from __future__ import annotations

from demo.damaged import damaged
from demo.honest import honest
from demo.hostile import hostile
from demo.material import Material
from demo.notebook import Notebook
from demo.submission import DemoSubmission
from gradekit.course import Course
from gradekit.exercise.loader import load_lab

LAB = "lab01"


def material_of(course: Course, lab: str = LAB) -> Material:
    """The notebooks and exercises of one lab of a built course."""
    (released,) = (course.root / "labs" / lab).glob("*.ipynb")
    solved = course.root / "solutions" / lab / released.name
    return Material(
        load_lab(course, lab),
        released.name,
        Notebook.parse(released.read_bytes()),
        Notebook.parse(solved.read_bytes()),
        course.lab(lab).due,
    )


def classroom(course: Course) -> tuple[DemoSubmission, ...]:
    """Every student's submission, made from the course's own notebooks."""
    material = material_of(course)
    whole = (*honest(material), *damaged(material), *hostile(material))
    names = [submission.student for submission in whole]
    assert len(set(names)) == len(names), "two students share a name"
    return whole
