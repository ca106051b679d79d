"""Losses with two frequent slips at once: no answer of theirs is that of one slip."""

from __future__ import annotations

from itertools import combinations

from . import exercise
from .also_right import step_by_step

wrong = exercise.edits(step_by_step)

INPUTS, LABELS = "batch.target[:, :-1]", "batch.target[:, 1:]"
# By name: the part that is wrong, the edits, and a question. Two slips are of different parts.
SLIPS = {
    "no_shift": (
        "answers",
        {LABELS: INPUTS},
        "The answer of a step is the token that it was just fed. Which of the two is one column "
        "later?",
    ),
    "answer_fed": (
        "inputs",
        {INPUTS: LABELS},
        "Each step is fed the token that it should predict. What was known before step t?",
    ),
    "first_token_fed": (
        "inputs",
        {"model.cell(y_prev,": "model.cell(inputs[:, 0],"},
        "Every step is fed the first token, BOS. Which token comes before the one to predict?",
    ),
    "state_not_carried": (
        "state",
        {"logits, state, _": "logits, _, _"},
        "Every step starts from the encoder's state. Which result of a step goes into the next?",
    ),
    "axes_mixed_up": (
        "order",
        {"torch.stack(steps, 1)": "torch.stack(steps, 0)"},
        "Logits and answers are in different orders: one by steps, the other by sentences. After "
        "stacking, which axis is which?",
    ),
    "softmax_twice": (
        "logits",
        {"steps.append(logits)": "steps.append(logits.softmax(-1))"},
        "You apply a softmax before `cross_entropy`. What does `cross_entropy` take?",
    ),
    "padding_in_the_loss": (
        "padding",
        {", ignore_index=PAD": ""},
        "Padding counts as an answer. Which argument of `cross_entropy` leaves an id out?",
    ),
}
for (name, (part, edits, first)), (other, (another, more, second)) in combinations(
    SLIPS.items(), 2
):
    if part != another and {part, another} != {"answers", "inputs"}:
        wrong.several(
            f"{name}_and_{other}",
            edits | more,
            f"Two things are wrong at once. (1) {first} (2) {second}",
        )
wrong.several(
    "always_the_first_token",
    SLIPS["first_token_fed"][1],
    "Every step is fed the first token of its row, BOS, so the decoder never sees what was written "
    "before. Which column belongs to a step?",
)
wrong.several(
    "first_token_fed_and_no_shift",
    {**SLIPS["first_token_fed"][1], LABELS: INPUTS},
    f"Two things are wrong at once. (1) {SLIPS['first_token_fed'][2]} (2) The first answer is BOS, "
    "too. Which column holds the first symbol to predict?",
)
