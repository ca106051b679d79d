"""Reads what students write down, predictions and errata, whatever types their numbers have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from attnlab.checking.lab import Lab
from attnlab.checking.observation import NO_PART, REASON, SHORT, UNREADABLE

UNASKED = "not asked for"
_MOST_OTHERS = 5


def plain(value: Any) -> Any:
    """A number, a list of numbers or text, from any type that torch can read.

    Anything else, such as a function, is :data:`UNREADABLE`.
    """
    if isinstance(value, str):
        return value
    try:
        numbers = torch.as_tensor(value).double().flatten().tolist()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return UNREADABLE
    return numbers[0] if len(numbers) == 1 else numbers


def answers(lab: Lab, *names: str) -> dict[str, Any]:
    """The student's predictions for these questions, without those that are missing or None."""
    given = {name: lab.predictions[name] for name in names if name in lab.predictions}
    return {name: plain(value) for name, value in given.items() if value is not None}


def kinds(lab: Lab, *names: str) -> Any:
    """The sort of each prediction, by name; also of what is not asked for if one is missing.

    What is no dictionary is returned as it is.
    """
    if not isinstance(lab.predictions, dict):
        return lab.predictions
    found = {name: kind(answer) for name, answer in answers(lab, *names).items()}
    return _with_others(found, lab.predictions, names)


def _with_others(found: dict[str, Any], given: dict[Any, Any], names: Sequence[str]) -> Any:
    """`found`; if one of `names` is missing, with the other names that a student has written.

    So a name that is spelled in another way is seen.
    """
    others = [name for name in given if isinstance(name, str) and name not in names]
    missing = len(found) < len(names)
    return found | (dict.fromkeys(others[:_MOST_OTHERS], UNASKED) if missing else {})


def kind(answer: Any) -> str:
    """The sort of an answer in words: "text", "one number" or "3 numbers"."""
    if isinstance(answer, str):
        return answer if answer == UNREADABLE else "text"
    return f"{len(answer)} numbers" if isinstance(answer, list) else "one number"


def entries(lab: Lab, place: int, *names: str) -> dict[str, Any]:
    """Part number `place` of these items of the errata; an unwritten item is left out.

    An item that is too short, or is not a list, gives :data:`NO_PART`.
    """
    items = {name: lab.errata[name] for name in names if name in lab.errata}
    parts = {n: item if isinstance(item, (tuple, list)) else () for n, item in items.items()}
    return {n: part[place] if len(part) > place else NO_PART for n, part in parts.items()}


def slide_numbers(lab: Lab, *names: str) -> Any:
    """The slide's number of each item; also what is not asked for if an item is missing."""
    if not isinstance(lab.errata, dict):
        return lab.errata
    found = {name: plain(value) for name, value in entries(lab, 0, *names).items()}
    return _with_others(found, lab.errata, names)


def right_number(lab: Lab, name: str) -> dict[str, Any]:
    """The number that the slide should show, according to the student."""
    return {name: plain(value) for name, value in entries(lab, 1, name).items()}


def second_and_third(lab: Lab, *names: str) -> dict[str, Any]:
    """For each written item of the errata: the sort of its second part, the length of its third."""
    seconds, reasons = entries(lab, 1, *names), entries(lab, 2, *names)
    return {
        name: {"right": _given(_sort, second), "why": _given(_words, why)}
        for (name, second), why in zip(seconds.items(), reasons.values(), strict=True)
    }


def numbers(lab: Lab, name: str) -> dict[str, Any]:
    """The slide's number and the right one, according to the student, if they are written."""
    return {name: [plain(value) for value in _parts(lab, name)[:2]]}


def forms(lab: Lab, *names: str) -> Any:
    """For each written item: the sort of each part, in words; else as `slide_numbers`."""
    if not isinstance(lab.errata, dict):
        return lab.errata
    found: dict[str, Any] = {}
    for name in names:
        if name not in lab.errata:
            continue
        item = _parts(lab, name)
        if len(item) != 3:
            found[name] = NO_PART
            continue
        slide, right, why = item
        found[name] = {
            "slide": _sort(slide),
            "right": _sort(right),
            "why": _words(why),
        }
    return _with_others(found, lab.errata, names)


def _sort(part: Any) -> str:
    return kind(plain(part))


def _words(reason: Any) -> str:
    return REASON if len(str(reason).split()) >= 4 else SHORT


def _given(said: Callable[[Any], str], part: Any) -> str:
    """What is said of a part; that it is missing, if it is."""
    return NO_PART if isinstance(part, str) and part == NO_PART else said(part)


def _parts(lab: Lab, name: str) -> list[Any]:
    """The parts of an item; none if it has not been written or is not a list."""
    item = lab.errata.get(name, ())
    return list(item) if isinstance(item, (tuple, list)) else []
