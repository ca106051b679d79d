"""Wrong versions of attend whose mask is turned round where it is multiplied."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

FILLED = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
EMPTIED = ".masked_fill(~mask, 0.0)"

wrong = exercise.edits(lowest_then_zero)

for name, amount in (("a_thousand", "1e3"), ("ten_thousand", "1e4"), ("a_billion", "1e9")):
    for how, changes in (
        ("", {EMPTIED: ""}),
        ("_and_emptied", {}),
        ("_and_empty_rows_repaired", {EMPTIED: " * mask.any(-1, keepdim=True)"}),
    ):
        wrong.several(
            f"tokens_lowered_by_{name}{how}",
            {FILLED: f"scores + mask * -{amount}", **changes},
            "You add a low number to the scores of the tokens and leave those of padding as they "
            "are: your mask is turned round where you multiply by it. At which places is it True?",
        )
