"""The model answer and the mark scheme of a free-text question, from its cell in the source.

Both are in the cell's solution, so no student's notebook has them:

    <!-- BEGIN SOLUTION -->
    The gradient of −log p is −1/p, which overflows. …
    <!-- BEGIN MARK SCHEME -->
    - 2: says that 1/p overflows while the loss is still a number
    - 1: says what the line should be
    <!-- END MARK SCHEME -->
    <!-- END SOLUTION -->

Tested in tests/gradekit/build/test_model_answer.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradekit.errors import CourseError

_ANSWER = re.compile(r"<!-- BEGIN SOLUTION -->\n(.*?)\n?<!-- END SOLUTION -->", re.DOTALL)
_SCHEME = re.compile(r"<!-- BEGIN MARK SCHEME -->\n(.*?)\n?<!-- END MARK SCHEME -->\n?", re.DOTALL)
_ITEM = re.compile(r"- *(\d+(?:\.\d+)?): *(\S.*)")
MOST_ITEMS = 9  # each has a key from 1 to 9


@dataclass(frozen=True)
class MarkItem:
    """One line of a mark scheme: what earns how many points."""

    points: float
    text: str


@dataclass(frozen=True)
class ModelAnswer:
    """What a TA who marks a question compares with.

    Attributes:
        text: the model answer; empty if there is none.
        scheme: the items of the mark scheme; empty if there is none.
    """

    text: str = ""
    scheme: tuple[MarkItem, ...] = ()


def model_answer(cell: str, where: str, points: float) -> ModelAnswer:
    """The model answer in the text of a cell.

    Args:
        where: the cell, for messages.
        points: of the question.

    Raises:
        CourseError: a line of the mark scheme is not an item, or the items do not add up to the
            points of the question.
    """
    found = _ANSWER.search(cell)
    if not found:
        return ModelAnswer()
    scheme = _SCHEME.search(found[1])
    text = _SCHEME.sub("", found[1]).strip()
    return ModelAnswer(text, _items(scheme[1], where, points) if scheme else ())


def _items(text: str, where: str, points: float) -> tuple[MarkItem, ...]:
    items: list[MarkItem] = []
    for line in text.splitlines():
        if match := _ITEM.fullmatch(line.strip()):
            items.append(MarkItem(float(match[1]), match[2].strip()))
        elif line.startswith("  ") and items:
            items[-1] = MarkItem(items[-1].points, f"{items[-1].text} {line.strip()}")
        elif line.strip():
            raise CourseError(
                f"{where}: {line.strip()!r} is not a line of a mark scheme; write `- 2: what earns "
                "two points`"
            )
    total = sum(item.points for item in items)
    if total != points or len(items) > MOST_ITEMS:
        raise CourseError(
            f"{where}: the mark scheme has {len(items)} items with {total:g} points, and the "
            f"question has {points:g}; write at most {MOST_ITEMS} items that add up to them"
        )
    return tuple(items)
