"""Wrong versions of logsumexp and log_softmax, most of them one edit of a right one."""

from __future__ import annotations

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_formulas,
    mistakes_of_other_kinds,
    mistakes_used_by_log_softmax,
    mistakes_with_infinity,
)
from .also_right import maximum_apart, shifted_first, with_a_mask_for_empty_rows

wrong_logsumexp = exercise.edits(maximum_apart, of="logsumexp")

FIXED_AXIS = (
    "You always take one and the same axis, 1 or 2, which is not always the last one, and some "
    "tensors do not have it. Does each line that reduces an axis use `dim`?"
)

for name, logarithm in (("two", "log2"), ("ten", "log10")):
    wrong_logsumexp(
        f"logsumexp_base_{name}",
        ".log()",
        f".{logarithm}()",
        "The last line mixes a natural logarithm with one of base 2 or 10. Which logarithm undoes "
        "exp?",
    )
ONE_ADDED = (
    "You take the logarithm of 1 plus the sum of the exponentials, as log1p does. Which term of "
    "that sum is exp(0) = 1 already?"
)
wrong_logsumexp("one_added_to_the_sum", ".log()", ".log1p()", ONE_ADDED)
wrong_logsumexp.several(
    "logsumexp_without_max",
    {"(x - top)": "x", " + top.squeeze(dim)": ""},
    "exp overflows for scores above 709, and underflows to log 0 for very low ones. What can you "
    "move out of the sum before the exponential, and add again after the logarithm?",
)
wrong_logsumexp.several(
    "logsumexp_global_max",
    {"amax(dim, keepdim=True)": "max()", "top.squeeze(dim)": "top"},
    "You subtract one maximum for the whole tensor: slices far below it underflow to log 0 = "
    "-inf. Which maximum belongs to each slice?",
)
wrong_logsumexp(
    "mean_for_sum",
    ".exp().sum(",
    ".exp().mean(",
    "You take the mean of the exponentials, so your result is too small by the logarithm of their "
    "number. What does the name of the function ask for?",
)
SUMMED = "(x - top).exp().sum(dim).log() + top.squeeze(dim)"
wrong_logsumexp(
    "maximum_only",
    SUMMED,
    "top.squeeze(dim)",
    "Your logsumexp is the maximum of each slice. What does it become for two equal scores, and "
    "what should it be?",
)
wrong_logsumexp(
    "scores_summed",
    SUMMED,
    "x.sum(dim)",
    "You add up the scores themselves, as if the logarithm of a sum were a sum of logarithms. What "
    "is log(1 + 1)?",
)
wrong_logsumexp(
    "max_added_twice",
    "+ top",
    "+ 2 * top",
    "Your logsumexp is too large by the maximum of each slice. How often do you subtract the "
    "maximum, and how often do you add it?",
)
wrong_logsumexp(
    "max_not_added_back",
    " + top.squeeze(dim)",
    "",
    "Your `logsumexp` lacks the maximum that you subtracted before the exponential. How is a sum "
    "of exp(x - m) related to the sum of exp(x)?",
)
SQUEEZED = (
    "`squeeze()` without an axis drops every axis of length 1, the wanted ones, too. Which axis "
    "should go?"
)
wrong_logsumexp("every_axis_of_one_squeezed", "top.squeeze(dim)", "top.squeeze()", SQUEEZED)
wrong_logsumexp(
    "logsumexp_squeezed",
    "(x - top).exp().sum(dim).log() + top.squeeze(dim)",
    "((x - top).exp().sum(dim).log() + top.squeeze(dim)).squeeze()",
    SQUEEZED,
)
wrong_logsumexp.several(
    "axis_kept",
    {"sum(dim)": "sum(dim, keepdim=True)", "top.squeeze(dim)": "top"},
    "The axis that logsumexp sums over should disappear from the shape, but yours still has it "
    "with length 1. Which `keepdim` is not needed?",
)
wrong_logsumexp.several(
    "logsumexp_dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1", "squeeze(dim": "squeeze(-1"},
    "Your `logsumexp` takes the last axis, whatever `dim` says. Does each line that reduces an "
    "axis use `dim`?",
)
for name, axis in (("second", 1), ("third", 2)):
    wrong_logsumexp.several(
        f"logsumexp_{name}_axis",
        {"amax(dim": f"amax({axis}", "sum(dim": f"sum({axis}", "squeeze(dim": f"squeeze({axis}"},
        FIXED_AXIS,
    )
wrong_logsumexp.several(
    "logsumexp_of_everything",
    {"amax(dim, keepdim=True)": "max()", "sum(dim)": "sum()", "top.squeeze(dim)": "top"},
    "Your logsumexp is one number for the whole tensor. Along which axis was the sum asked for?",
)
wrong_logsumexp(
    "nan_for_empty_rows",
    ".clamp(min=torch.finfo(x.dtype).min)",
    "",
    "A row that is all -inf gives NaN: its maximum is -inf, and -inf - (-inf) is not a number. "
    "What else could you subtract from such a row?",
)
FINITE = (
    "A row that is all -inf has a finite logsumexp in your version: you replace -inf by a finite "
    "number, or keep the sum of the exponentials above 0. What is the logarithm of a sum without "
    "terms?"
)
for name, lowest in (
    ("billion", "-1e9"),
    ("ten_thousand", "-1e4"),
    ("dtype", "torch.finfo(x.dtype).min"),
):
    wrong_logsumexp(
        f"minus_infinity_limited_by_{name}",
        "    top = x",
        f"    x = x.clamp(min={lowest})\n    top = x",
        FINITE,
    )
wrong_logsumexp.several(
    "nan_of_empty_rows_replaced",
    {
        ".clamp(min=torch.finfo(x.dtype).min)": "",
        "(x - top).exp().sum(dim).log() + top.squeeze(dim)": (
            "((x - top).exp().sum(dim).log() + top.squeeze(dim)).nan_to_num()"
        ),
    },
    "A row that is all -inf gives NaN, and your code replaces it by a finite number. What is the "
    "logarithm of a sum without terms?",
)
KEPT_ABOVE_ZERO = (
    "You keep the sum of the exponentials above 0 before you take its logarithm, so a row that is "
    "all -inf has a finite logsumexp. What is the logarithm of a sum without terms?"
)
wrong_logsumexp("sum_clamped", ".log()", ".clamp(min=1e-30).log()", FINITE)
wrong_masked = exercise.edits(with_a_mask_for_empty_rows, of="logsumexp")
SUM = "torch.sum(torch.exp(x - top), dim=dim, keepdim=True)"
for name, least in (
    *((f"1e_{digits}", f"1e-{digits}") for digits in (8, 9, 10, 12, 20, 30, 300)),
    ("eps", "torch.finfo(x.dtype).eps"),
    ("tiny", "torch.finfo(x.dtype).tiny"),
):
    wrong_masked(f"sum_clamped_at_{name}", SUM, f"{SUM}.clamp(min={least})", KEPT_ABOVE_ZERO)
wrong_logsumexp.several(
    "maximum_and_sum_clamped",
    {
        "torch.finfo(x.dtype).min": "-torch.finfo(x.dtype).max / 2",
        ".sum(dim)": ".sum(dim).clamp(min=torch.finfo(x.dtype).tiny)",
    },
    KEPT_ABOVE_ZERO,
)
for digits in (8, 10, 12):
    wrong_masked(f"1e_{digits}_added_to_the_sum", SUM, f"({SUM} + 1e-{digits})", KEPT_ABOVE_ZERO)
wrong_logsumexp(
    "minus_infinity_set_to_zero",
    "    top = x",
    "    x = x.masked_fill(x == -math.inf, 0.0)\n    top = x",
    "In logsumexp you set a score of -inf to 0, so it adds exp(0) to the sum. What is exp(-inf)?",
)
wrong_logsumexp(
    "logsumexp_in_float32",
    "    top = x",
    "    x = x.float()\n    top = x",
    "Your logsumexp is float32 although the scores have another dtype. After which call is the "
    "dtype no longer that of the scores?",
)
wrong_logsumexp(
    "maximum_repaired_in_place",
    ".clamp(min=torch.finfo(x.dtype).min)",
    "\n    top[top == -math.inf] = 0.0",
    "The numbers are right, but `backward()` stops: you change a tensor in place that torch keeps "
    "for the gradient (`t[…] = …`, `/=`, or a method that ends in `_`). Which line does that?",
)
wrong_logsumexp(
    "logsumexp_in_place",
    "(x - top)",
    "x.sub_(top)",
    "logsumexp writes into the tensor that it was given. What does the same and makes a new "
    "tensor?",
)
for name, part, cut in (
    ("added", "top.squeeze(dim)", "top.detach().squeeze(dim)"),
    ("subtracted", "(x - top)", "(x - top.detach())"),
):
    wrong_logsumexp(
        f"maximum_detached_where_{name}",
        part,
        cut,
        "logsumexp passes back a wrong gradient: you subtract the maximum and add it again, but "
        "only one of the two is in torch's graph. Which one is cut?",
    )
wrong_logsumexp(
    "sum_detached",
    ".log()",
    ".log().detach()",
    "logsumexp passes back only part of the gradient: the sum of the exponentials depends on the "
    "scores, too. What cuts it from torch's graph?",
)
wrong_logsumexp(
    "logsumexp_detached",
    "    top = x",
    "    x = x.detach()\n    top = x",
    "No gradient flows back through logsumexp: a `.detach()`, `.data`, `no_grad` or a conversion "
    "to numpy cuts torch's graph. Which line is it?",
)


wrong_log_softmax = exercise.edits(shifted_first, of="log_softmax")

wrong_log_softmax(
    "log_of_softmax",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted.exp() / shifted.exp().sum(dim, keepdim=True)).log()",
    "If a probability is too small for a float it becomes 0, and its logarithm -inf. If you take "
    "the logarithm of the formula on paper first, what is left of exp?",
)
LOWEST = (
    "The logarithm of a softmax that is clamped from below (or has a small number added) stops at "
    "a lowest value, the logarithm of that number. Does the true logarithm have a lowest value?"
)
for name, lowest in (("clamped", "1e-9"), ("barely_clamped", "torch.finfo(x.dtype).tiny")):
    wrong_log_softmax(
        f"log_of_{name}_softmax",
        "shifted - shifted.exp().sum(dim, keepdim=True).log()",
        f"(shifted.exp() / shifted.exp().sum(dim, keepdim=True)).clamp(min={lowest}).log()",
        LOWEST,
    )
for epsilon in ("1e-8", "1e-10", "1e-12", "1e-30", "1e-45"):
    wrong_log_softmax(
        f"log_of_softmax_plus_{epsilon.replace('-', '_')}",
        "shifted - shifted.exp().sum(dim, keepdim=True).log()",
        f"(shifted.exp() / shifted.exp().sum(dim, keepdim=True) + {epsilon}).log()",
        LOWEST,
    )
OTHER_BASE = (
    "Your logarithm has base 2 or 10. The exponential of softmax has base e: which logarithm "
    "undoes it?"
)
wrong_log_softmax(
    "log_softmax_base_two",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted - shifted.exp().sum(dim, keepdim=True).log()) / math.log(2)",
    OTHER_BASE,
)
for name, logarithm in (("two", "log2"), ("ten", "log10")):
    wrong_log_softmax(f"normaliser_in_base_{name}", ".log()", f".{logarithm}()", OTHER_BASE)
wrong_log_softmax("one_added_to_the_normaliser", ".log()", ".log1p()", ONE_ADDED)
wrong_log_softmax(
    "log_softmax_without_max",
    "x - x.amax(dim, keepdim=True)",
    "x",
    "In log_softmax, exp of a large score overflows before the logarithm can help. Which function "
    "of yours already sums exponentials safely?",
)
wrong_log_softmax(
    "log_softmax_global_max",
    "x.amax(dim, keepdim=True)",
    "x.max()",
    "In log_softmax you subtract one maximum for the whole tensor: a slice far below it underflows "
    "to log 0 = -inf. Which maximum belongs to each slice?",
)
for name, call in (("", "sum"), ("_of_the_maximum", "x.amax")):
    wrong_log_softmax(
        f"axis{name}_put_back_at_the_end",
        f"{call}(dim, keepdim=True)",
        f"{call}(dim)[..., None]",
        "You put the axis of a maximum or of a sum back at the end, whatever `dim` is. Which shape "
        "must both have for x of shape (3, 5, 7) and dim=1?",
    )
wrong_log_softmax(
    "log_softmax_in_float32",
    "    shifted = x",
    "    x = x.float()\n    shifted = x",
    "Your log_softmax is float32 although the scores have another dtype. After which call is the "
    "dtype no longer that of the scores?",
)
wrong_log_softmax(
    "sum_without_logarithm",
    "shifted.exp().sum(dim, keepdim=True).log()",
    "shifted.exp().sum(dim, keepdim=True)",
    "You subtract the sum of the exponentials itself. Which function of that sum is in the "
    "formula?",
)
wrong_log_softmax(
    "logarithm_added",
    "shifted - shifted",
    "shifted + shifted",
    "You add the logarithm of the sum. Which sign does it have in the formula?",
)
wrong_log_softmax(
    "mean_for_sum_in_log_softmax",
    "sum(dim",
    "mean(dim",
    "In log_softmax you take the mean of the exponentials. What do exp of your results sum to?",
)
wrong_log_softmax(
    "logarithms_divided",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "x / (shifted.exp().sum(dim, keepdim=True).log() + x.amax(dim, keepdim=True))",
    "You divide the score by the logsumexp. What does the logarithm make of a quotient?",
)
wrong_log_softmax(
    "max_subtracted_twice",
    ".log()",
    ".log() - x.amax(dim, keepdim=True)",
    "In log_softmax you subtract the maximum twice: once from the scores, and again inside a "
    "logsumexp that already includes it. Which of the two is not needed?",
)
wrong_log_softmax.several(
    "log_softmax_dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1"},
    "Your log_softmax takes the last axis, whatever `dim` says. Does each line that reduces an "
    "axis use `dim`?",
)
for name, axis in (("second", 1), ("third", 2)):
    wrong_log_softmax.several(
        f"log_softmax_{name}_axis",
        {"amax(dim": f"amax({axis}", "sum(dim": f"sum({axis}"},
        FIXED_AXIS,
    )
wrong_log_softmax(
    "large_numbers_subtracted",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "x - (shifted.exp().sum(dim, keepdim=True).log() + x.amax(dim, keepdim=True))",
    "Your log_softmax is x minus its logsumexp. If both are around 20,000, float32 rounds them to "
    "two digits after the point, and the difference is as rough. What can you subtract from the "
    "scores first, so that all numbers in the formula are small?",
)
wrong_log_softmax(
    "log_softmax_squeezed",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "(shifted - shifted.exp().sum(dim, keepdim=True).log()).squeeze()",
    "Your log_softmax loses the axes of length 1. What is its shape for x of shape (1, 7), and "
    "what should it be?",
)
PART_OF_THE_GRADIENT = (
    "log_softmax passes back only part of the gradient: the sum of exponentials depends on the "
    "scores, too. What cuts it from torch's graph?"
)
wrong_log_softmax("normaliser_detached", ".log()", ".log().detach()", PART_OF_THE_GRADIENT)
wrong_log_softmax.several(
    "maximum_and_normaliser_detached",
    {
        "x.amax(dim, keepdim=True)": "x.amax(dim, keepdim=True).detach()",
        ".log()": ".log().detach()",
    },
    PART_OF_THE_GRADIENT,
)
wrong_log_softmax(
    "log_softmax_detached",
    "    shifted = x",
    "    x = x.detach()\n    shifted = x",
    "No gradient flows back through log_softmax: a `.detach()`, `.data`, `no_grad` or a conversion "
    "to numpy cuts torch's graph. Which line is it?",
)
wrong_log_softmax(
    "in_place",
    "x - x.amax(dim, keepdim=True)",
    "x.sub_(x.amax(dim, keepdim=True))",
    "Your code writes into the tensor that it was given. What does the same and makes a new "
    "tensor?",
)
wrong_log_softmax(
    "returns_probabilities",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "shifted.exp() / shifted.exp().sum(dim, keepdim=True)",
    "log_softmax returns probabilities, not their logarithms: all entries are between 0 and 1. "
    "Between which limits is the logarithm of a probability?",
)
wrong_log_softmax(
    "sign_turned",
    "shifted - shifted.exp().sum(dim, keepdim=True).log()",
    "shifted.exp().sum(dim, keepdim=True).log() - shifted",
    "Your log_softmax has the wrong sign: can the logarithm of a probability be above 0?",
)
