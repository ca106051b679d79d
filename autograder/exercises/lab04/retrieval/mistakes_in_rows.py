"""Known mistakes in how logits and answers become rows, for lab 1's cross-entropy and torch's."""

from __future__ import annotations

from . import exercise
from .also_right import by_flattening, by_lab_1

for base, whose in ((by_lab_1, "lab_1"), (by_flattening, "torch")):
    wrong = exercise.edits(base, of="answer_loss")
    wrong(
        f"rows_as_long_as_an_answer_{whose}",
        "logits.flatten(0, 1)",
        "logits.reshape(-1, logits.shape[1])",
        "Your rows of logits have n entries, one for each digit of a question. What does the "
        "softmax of one digit run over, and which axis has that length?",
    )
    for name, old, new in (
        ("answers_alone_flattened", "logits.flatten(0, 1)", "logits"),
        ("logits_alone_flattened", "answers.flatten()", "answers"),
    ):
        wrong(
            f"{name}_{whose}",
            old,
            new,
            "You lay out only one of the two in rows. The loss takes (N, V) and (N,): what is N "
            "for logits and for answers?",
        )
    wrong(
        f"one_row_of_everything_{whose}",
        "logits.flatten(0, 1)",
        "logits.flatten()",
        "Your logits have lost every axis, even the one over which the softmax runs. Which axes of "
        "them may become one?",
    )
