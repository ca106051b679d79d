"""Known mistakes in the end of a slice: too few of the head's columns, or none, become zero."""

from __future__ import annotations

from . import exercise
from .also_right import columns_zeroed

wrong = exercise.edits(columns_zeroed)

for name, stop in (
    ("not_multiplied", "head + model.d_v"),
    ("multiplied_by_the_size_twice", "head * model.d_v + 1"),
    ("of_the_next_head", "head + 1"),
):
    wrong(
        f"end_{name}",
        "(head + 1) * model.d_v",
        stop,
        "Your slice of the columns ends in a wrong place, before its start or too early. At which "
        "column does the next head begin, and which parentheses does that need?",
    )
