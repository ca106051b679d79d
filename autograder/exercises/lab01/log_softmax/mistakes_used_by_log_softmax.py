"""Wrong versions of logsumexp that log_softmax uses, so that both functions are wrong."""

from __future__ import annotations

from gradekit.exercise import SEVERAL

from . import exercise
from .also_right import shifted_with_own_logsumexp

wrong = exercise.edits(shifted_with_own_logsumexp, of=SEVERAL)

MAXIMUM, SUM, TOP = "top = x.amax(dim, keepdim=True)", ".sum(dim)", "top.squeeze(dim)"
USED = "shifted - logsumexp(shifted, dim)"

SLIPS = {
    "axis_of_the_maximum_kept": (
        {TOP: "top"},
        "In logsumexp you add a maximum that still has the axis `dim`, with length 1, to a "
        "logarithm that has lost it. What are the two shapes, and which should the result have?",
    ),
    "axis_of_the_maximum_lost": (
        {MAXIMUM: "top = x.amax(dim)", TOP: "top"},
        "In logsumexp the maximum has one axis less than the scores, so the subtraction broadcasts "
        "along the wrong axis, or stops. What keeps the axis, with length 1, until it is not "
        "needed?",
    ),
    "both_axes_kept": (
        {SUM: ".sum(dim, keepdim=True)", TOP: "top"},
        "The axis that logsumexp sums over should disappear from the shape, but yours still has it "
        "with length 1. Which `keepdim` is not needed?",
    ),
    "sum_along_the_last_axis": (
        {SUM: ".sum(-1)", TOP: "top.squeeze(-1)"},
        "In logsumexp, one line takes `dim` and another one always the last axis. Does each line "
        "that reduces an axis use `dim`?",
    ),
    "last_axis": (
        {MAXIMUM: "top = x.amax(-1, keepdim=True)", SUM: ".sum(-1)", TOP: "top.squeeze(-1)"},
        "Your `logsumexp` takes the last axis, whatever `dim` says. Does each line that reduces an "
        "axis use `dim`?",
    ),
    "first_axis": (
        {MAXIMUM: "top = x.amax(0, keepdim=True)", SUM: ".sum(0)", TOP: "top.squeeze(0)"},
        "Your `logsumexp` takes the first axis, whatever `dim` says. Does each line that reduces "
        "an axis use `dim`?",
    ),
    "sum_of_logarithms": (
        {".exp().sum(dim).log()": ".exp().log().sum(dim)"},
        "logsumexp takes the logarithm of each exponential, and then the sum. Which of the two "
        "comes first in log Σ exp(x)?",
    ),
    "maximum_subtracted_again": (
        {"+ top": "- top"},
        "logsumexp subtracts the maximum twice: once before the exponential, and once more at the "
        "end. How is log Σ exp(x - m) related to log Σ exp(x)?",
    ),
    "maximum_never_added": (
        {f" + {TOP}": ""},
        "Your `logsumexp` lacks the maximum that you subtracted before the exponential. How is a "
        "sum of exp(x - m) related to the sum of exp(x)?",
    ),
    "mean_for_sum": (
        {".exp().sum(dim)": ".exp().mean(dim)"},
        "In logsumexp you take the mean of the exponentials, so your result is too small by the "
        "logarithm of their number. What does the name of the function ask for?",
    ),
    **{
        f"base_{base}": (
            {".log()": f".log{base}()"},
            "The logarithm in logsumexp has base 2 or 10. Which logarithm undoes exp?",
        )
        for base in (2, 10)
    },
    "one_added_to_the_sum": (
        {".log()": ".log1p()"},
        "In logsumexp you take the logarithm of 1 plus the sum of the exponentials, as log1p does. "
        "Which term of that sum is exp(0) = 1 already?",
    ),
    "no_logarithm": (
        {".log()": ""},
        "Your logsumexp adds the maximum to the sum of the exponentials itself. Which function is "
        "missing between the sum and the result?",
    ),
}
for name, (edits, advice) in SLIPS.items():
    wrong.several(f"{name}_in_logsumexp_of_shifted", edits, advice)
    natural = {**edits, USED: "x - logsumexp(x, dim)"}
    wrong.several(f"{name}_in_logsumexp", natural, advice)
    infinite = {".clamp(min=torch.finfo(x.dtype).min)": ""}
    wrong.several(f"{name}_in_logsumexp_nor_clamped", natural | infinite, advice)
