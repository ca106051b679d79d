"""The right answers of a lab, for the pages that students get after it has closed.

They come from the sources that the lab is built from, so nothing is written twice: the reference
of each step, the number and the reason of each prediction and erratum, the model answer of each
free-text question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import torch

from gradekit.build.cell_text import solved_text
from gradekit.build.model_answer import model_answer
from gradekit.course.dates import short_date
from gradekit.errors import CourseError
from gradekit.exercise.definition import Exercise
from gradekit.exercise.edits import source_text
from gradekit.exercise.loader import CourseLabs
from gradekit.exercise.source import Source, SourceCell
from gradekit.exercise.written_answers import Errata, Predictions
from gradekit.late import answers_public_after
from gradekit.wording import without_breaks

_CODE_MARKS = re.compile(
    r"(?:^[ ]*# TODO:[^\n]*\n(?:^[ ]*#[^\n]*\n)*)?^[ ]*### (?:BEGIN|END) SOLUTION[^\n]*\n?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class RightAnswer:
    """The right answer to one prediction or erratum.

    Attributes:
        name: such as P1.
        title: what was asked.
        answer: the number, as text.
        reason: why, in one sentence.
        slide: the slide's number, as text, if it is an erratum.
    """

    name: str
    title: str
    answer: str
    reason: str
    slide: str = ""


@dataclass(frozen=True)
class Solution:
    """The right answer of one exercise: its code, and its items if it has any."""

    code: str
    items: tuple[RightAnswer, ...] = ()


@dataclass(frozen=True)
class Solutions:
    """The right answers of one lab.

    Attributes:
        exercises: by exercise.
        texts: model answers by free-text question; a question without one is left out.
    """

    exercises: Mapping[str, Solution]
    texts: Mapping[str, str]


def solutions_of(labs: CourseLabs, lab: str, now: datetime) -> Solutions:
    """The right answers of `lab`.

    Args:
        now: with its time zone.

    Raises:
        CourseError: the lab has not closed: somebody can still earn points with them.
    """
    end = answers_public_after(labs.course, lab)
    if now <= end:
        raise CourseError(
            f"{lab} can still earn points until {short_date(end)}, late days and extensions "
            "included; its answers may be shown after that"
        )
    found = labs[lab]
    source = found.source
    exercises = {
        cell.name: Solution(_code(source, cell, found[cell.name]), _items(found[cell.name]))
        for cell in source.of("exercise")
    }
    answered = {
        cell.name: model_answer(cell.text, source.place(cell), cell.points).text
        for cell in source.of("free_text")
    }
    texts = {name: without_breaks(text) for name, text in answered.items() if text}
    return Solutions(exercises, texts)


def _code(source: Source, cell: SourceCell, exercise: Exercise) -> str:
    """The right code of an exercise; its cell may also hold the program that was to be changed."""
    if exercise.given:
        return "\n\n".join(source_text(right).strip() for right in exercise.references)
    return _CODE_MARKS.sub("", solved_text(source, cell)).rstrip()


def _items(exercise: Exercise) -> tuple[RightAnswer, ...]:
    match exercise:
        case Predictions(items=items):
            return tuple(
                RightAnswer(name, item.title.rstrip("."), shown(item.right), item.reason)
                for name, item in items.items()
            )
        case Errata(items=items):
            return tuple(
                RightAnswer(
                    name,
                    item.title.rstrip("."),
                    shown(item.right),
                    item.reason,
                    shown(item.says),
                )
                for name, item in items.items()
            )
        case _:
            return ()


def shown(value: Any) -> str:
    """An answer as text: whole numbers in full, other numbers with four digits."""
    match value:
        case str():
            return value
        case torch.Tensor():
            return shown(value.tolist())
        case list() | tuple():
            return ", ".join(map(shown, value))
    number = float(value)
    return str(int(number)) if number.is_integer() else f"{number:.4g}"
