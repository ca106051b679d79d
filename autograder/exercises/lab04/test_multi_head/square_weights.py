"""Wrong tests of multi-head attention whose weights are square; some ask for little else."""

from __future__ import annotations

from . import exercise
from .also_right import every_promise

wrong = exercise.edits(every_promise)

for name, asked in (
    ("square_weights", "nobody, learns, drops, alone"),
    ("square_weights_without_dropout", "nobody, learns, alone"),
    ("square_weights_and_queries_with_keys", "learns, drops, alone"),
    ("square_weights_and_ordinary_queries", "learns, alone"),
    ("square_weights_and_numbers", "alone"),
    ("square_weights_and_outputs_dropped_nowhere", "nothing_dropped, alone"),
):
    wrong.several(
        name,
        {
            "numbers(impl": "numbers(impl, sizes=SQUARE",
            "nobody, learns, drops, alone": asked,
        },
        "Your test uses square weights, and these do not show whether they are transposed, so it "
        "rejects right versions. Which sizes make no weight square?",
    )
