"""Numbers as a course system writes them: with a point or a comma, two digits after it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")


def number_in(text: str) -> float | None:
    """The number that a cell holds; None if it holds none."""
    text = text.strip()
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def decimal_sign(texts: Iterable[str]) -> str:
    """The sign in the first number that has one; a point if none has."""
    for text in texts:
        if number_in(text) is not None and (found := re.search(r"[.,]", text)):
            return found[0]
    return "."


def written(value: float, sign: str, before: str) -> str:
    """A number as the system writes it; `before` itself if it is the same number."""
    known = number_in(before)
    if known is not None and abs(known - value) < 0.005:
        return before
    return f"{value:.2f}".replace(".", sign)
