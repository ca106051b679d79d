"""Wrong tests of attend that look at the context, and never at the numbers of the weights."""

from __future__ import annotations

from . import exercise
from .also_right import every_promise

wrong = exercise.edits(every_promise)

for name, compared in (
    ("context_alone", "context_compared"),
    ("contexts_alone", "contexts_compared_one_by_one"),
):
    for kind, given in (
        ("", ""),
        ("_high_scores_missing", "high=1.0"),
        ("_low_scores_missing", "low=0.0"),
        ("_ordinary_scores", "high=1.0, low=0.0"),
        ("_empty_missing", "empty=3"),
    ):
        for end, also in (
            ("", ", inputs_kept, gradients_of_the_context"),
            ("_without_gradients", ", inputs_kept"),
            ("_without_inputs", ", gradients_of_the_context"),
            ("_and_nothing_else", ""),
        ):
            wrong.several(
                f"{name}{kind}{end}",
                {
                    " batches()": f" batches({given})",
                    "same_numbers, same_gradients": compared + also,
                    "rare_batches(), same_values": f"rare_batches(), {compared}",
                },
                "Your test accepts versions that return scores or logarithms as weights: nothing "
                "that it asserts is about the numbers of the second result. Which promises does "
                "the task make about it?",
            )
