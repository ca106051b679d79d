"""The class of lab 1: about fifty students, and what each of them should get."""

from __future__ import annotations

from demo.damaged import damaged
from demo.hand_in import HandIn
from demo.honest import honest
from demo.hostile import hostile
from demo.notebook import Notebook
from demo.room import Room
from gradekit.course import Course
from gradekit.exercise.loader import load_lab

LAB = "lab01"


def room_of(course: Course, lab: str = LAB) -> Room:
    """What the class of a built course works with."""
    (released,) = (course.root / "labs" / lab).glob("*.ipynb")
    solved = course.root / "solutions" / lab / released.name
    return Room(
        load_lab(course, lab),
        released.name,
        Notebook.parse(released.read_bytes()),
        Notebook.parse(solved.read_bytes()),
        course.dates(lab).due,
    )


def classroom(course: Course) -> tuple[HandIn, ...]:
    """Everybody's hand-in, made from the course's own notebooks."""
    room = room_of(course)
    whole = (*honest(room), *damaged(room), *hostile(room))
    names = [hand_in.student for hand_in in whole]
    assert len(set(names)) == len(names), "two students share a name"
    return whole
