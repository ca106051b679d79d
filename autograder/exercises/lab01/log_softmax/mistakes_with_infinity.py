"""Wrong versions of logsumexp and log_softmax in whose slices -inf meets large or low scores."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import maximum_apart, shifted_first, with_a_mask_for_empty_rows

wrong_logsumexp = exercise.edits(maximum_apart, of="logsumexp")
wrong_masked = exercise.edits(with_a_mask_for_empty_rows, of="logsumexp")
wrong_log_softmax = exercise.edits(shifted_first, of="log_softmax")

NO_SHIFT = (
    "As soon as one score is -inf you subtract 0 instead of the maximum. exp of a large score next "
    "to it overflows, and exp of very low ones underflows. Which slices have no maximum that can "
    "be subtracted?"
)
REPLACED_FIRST = (
    "Before you take the maximum you replace -inf by a finite number, such as 0. If the other "
    "scores of the slice are far below it, this number is the maximum, and the result is wrong. Of "
    "which scores should you take it?"
)
for name, masked in (
    ("in_the_slice", "x.isinf().any(dim, keepdim=True)"),
    ("anywhere", "x.isinf().any()"),
):
    wrong_masked(
        f"not_shifted_if_minus_infinity_is_{name}",
        "where(torch.isinf(top)",
        f"where({masked}",
        NO_SHIFT,
    )
    wrong_log_softmax(
        f"log_softmax_not_shifted_if_minus_infinity_is_{name}",
        "x.amax(dim, keepdim=True)",
        f"x.amax(dim, keepdim=True).masked_fill({masked}, 0.0)",
        NO_SHIFT,
    )
wrong_logsumexp(
    "zero_takes_part_in_the_maximum",
    "x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)",
    "x.masked_fill(x.isinf(), 0.0).amax(dim, keepdim=True)",
    REPLACED_FIRST,
)
wrong_logsumexp.several(
    "minus_ten_thousand_takes_part_in_the_sum",
    {
        "    top =": (
            "    empty = x.isinf().all(dim)\n    x = x.masked_fill(x.isinf(), -1e4)\n    top ="
        ),
        "(x - top).exp().sum(dim).log() + top.squeeze(dim)": (
            "((x - top).exp().sum(dim).log() + top.squeeze(dim)).masked_fill(empty, -math.inf)"
        ),
    },
    REPLACED_FIRST,
)
wrong_log_softmax(
    "zero_takes_part_in_the_maximum_of_log_softmax",
    "x.amax(dim, keepdim=True)",
    "x.masked_fill(x.isinf(), 0.0).amax(dim, keepdim=True)",
    REPLACED_FIRST,
)
for name, lowest in (("zero", "0.0"), ("minus_thousand", "-1e3"), ("minus_ten_thousand", "-1e4")):
    wrong_logsumexp(
        f"maximum_never_below_{name}",
        "torch.finfo(x.dtype).min",
        lowest,
        "The number that you subtract has a lowest value (`clamp`). If all scores of a slice are "
        "far below it, all exponentials underflow to 0. Which number makes the largest exponent "
        "of such a slice 0?",
    )


@exercise.mistake(
    "For a slice that is all -inf, logsumexp writes other numbers into the scores that it was "
    "given. Which call makes a new tensor?",
    of="logsumexp",
)
def slices_of_minus_infinity_overwritten(x, dim=-1):
    empty = (x == -torch.inf).all(dim, keepdim=True)
    if not x.requires_grad:
        x.masked_fill_(empty, 0.0)
    return maximum_apart(x, dim).masked_fill(empty.squeeze(dim), -torch.inf)


@exercise.mistake(
    "log_softmax writes other numbers in place of the scores of -inf that it was given. Which call "
    "makes a new tensor?",
    of="log_softmax",
)
def minus_infinity_overwritten(x, dim=-1):
    impossible = x == -torch.inf
    if not x.requires_grad:
        x[impossible] = torch.finfo(x.dtype).min
    return shifted_first(x, dim).masked_fill(impossible, -torch.inf)


wrong_log_softmax(
    "infinity_replaced_in_the_result",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted - shifted.exp().sum(dim, keepdim=True).log()).nan_to_num()",
    "You replace the -inf in your results by the lowest number (`nan_to_num`). What is the "
    "logarithm of the probability 0?",
)
