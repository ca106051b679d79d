"""Known mistakes in how logits and answers become rows, for lab 1's cross-entropy and torch's."""

from __future__ import annotations

from . import exercise
from .also_right import by_flattening, by_lab_1

for name, answers in (("", ""), ("_and_answers_flattened", ".flatten()")):
    wrong = exercise.edits(by_lab_1, of="answer_loss")
    wrong.several(
        f"classes_in_the_middle{name}",
        {
            "rows = logits.flatten(0, 1)": "rows = logits.transpose(1, 2)",
            "answers.flatten()": f"answers{answers}",
        },
        "Your logits have three axes, with the classes in the middle, as torch's loss takes them. "
        "Lab 1's `cross_entropy` takes (N, V) and (N,): which axes must become one?",
    )
wrong = exercise.edits(by_flattening, of="answer_loss")
wrong.several(
    "classes_last_for_torch",
    {"rows = logits.flatten(0, 1)": "rows = logits", "answers.flatten()": "answers"},
    "You pass logits and answers to torch's loss unchanged. If the logits have three axes, it "
    "takes the second one for the classes. Which axis of yours holds them?",
)
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
    wrong.several(
        f"both_transposed_{whose}",
        {"rows = logits.flatten(0, 1)": "rows = logits.mT", "answers.flatten()": "answers.mT"},
        "You swap two axes of the logits, and two of the answers. What does the first axis of each "
        "of the two count then?",
    )
    wrong.several(
        f"both_transposed_and_laid_out_{whose}",
        {
            "logits.flatten(0, 1)": "logits.mT.reshape(-1, logits.shape[-1])",
            "answers.flatten()": "answers.mT.flatten()",
        },
        "You transpose both before you lay them out in rows, so a row of the logits holds numbers "
        "of several digits. Which axis of the logits must stay the last one?",
    )
