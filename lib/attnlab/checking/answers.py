"""What students write down: predictions and errata, read however their numbers came."""

from __future__ import annotations

from typing import Any

import torch

from attnlab.checking.lab import Lab


def plain(value: Any) -> Any:
    """A number, a list of numbers or text, however the numbers came."""
    if isinstance(value, str):
        return value
    numbers = torch.as_tensor(value).double().flatten().tolist()
    return numbers[0] if len(numbers) == 1 else numbers


def answers(lab: Lab, *names: str) -> dict[str, Any]:
    """The predictions to these questions, where there are any."""
    return {name: plain(lab.predictions[name]) for name in names if name in lab.predictions}


def kind(answer: Any) -> str:
    """What sort of answer this is, in words."""
    if isinstance(answer, str):
        return "text"
    return f"{len(answer)} numbers" if isinstance(answer, list) else "one number"


def entries(lab: Lab, place: int, *names: str) -> dict[str, Any]:
    """What stands at this place of these items of the errata, as far as they have been written."""
    items = {name: lab.errata[name] for name in names if name in lab.errata}
    parts = {n: item if isinstance(item, (tuple, list)) else () for n, item in items.items()}
    return {n: part[place] if len(part) > place else "not there" for n, part in parts.items()}


def right_number(lab: Lab, name: str) -> dict[str, Any]:
    """What should stand on the slide, by the student's word."""
    return {name: plain(value) for name, value in entries(lab, 1, name).items()}


def numbers(lab: Lab, name: str) -> dict[str, Any]:
    """What the slide gives and what is right, by the student's word, as far as both are written."""
    return {name: [plain(value) for value in _parts(lab, name)[:2]]}


def forms(lab: Lab, *names: str) -> dict[str, Any]:
    """For each item that is written: its number of parts, and whether each has the right form."""
    found = {}
    for name in names:
        if name not in lab.errata:
            continue
        item = _parts(lab, name)
        found[name] = {
            "parts": len(item),
            "numbers": [_is_number(value) for value in item[:2]],
            "words enough": len(str(item[-1]).split()) >= 4 if item else False,
        }
    return found


def _parts(lab: Lab, name: str) -> list[Any]:
    """The parts of an item; none if it has not been written or is not a list."""
    item = lab.errata.get(name, ())
    return list(item) if isinstance(item, (tuple, list)) else []


def _is_number(value: Any) -> bool:
    return not isinstance(value, str) and torch.as_tensor(value).numel() == 1
