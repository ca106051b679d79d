"""Known mistakes in where the slice of a head's columns ends: too few become zero, or none."""

from __future__ import annotations

from . import exercise
from .also_right import columns_zeroed

wrong = exercise.edits(columns_zeroed)

for name, stop in (
    ("not_multiplied", "head + model.d_v"),
    ("after_one_column", "head * model.d_v + 1"),
    ("at_the_next_heads_number", "head + 1"),
):
    wrong(
        f"end_{name}",
        "(head + 1) * model.d_v",
        stop,
        "Your slice of the columns ends in a wrong place, before its start or too early. At which "
        "column does the next head begin, and which parentheses does that need?",
    )
