"""Wrong versions of softmax, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_axes,
    mistakes_in_gradients,
    mistakes_in_names,
    mistakes_with_limits,
)
from .also_right import in_three_lines

wrong = exercise.edits(in_three_lines)

wrong(
    "first_axis_by_default",
    "dim=-1",
    "dim=0",
    "Without the argument `dim`, you do not take the last axis. Which default does the task's "
    "first line give?",
)
wrong(
    "second_axis_by_default",
    "dim=-1",
    "dim=1",
    "Your default is axis 1. With three axes, that is not the last one. Which default does the "
    "task's first line give?",
)
wrong(
    "always_float64",
    "x if x.is_floating_point() else x.double()",
    "x.double()",
    "Your result is float64, even if the scores are not. Which dtypes need a conversion at all?",
)
wrong.several(
    "always_first_axis",
    {"amax(dim": "amax(0", "sum(dim": "sum(0"},
    "You sum along the first axis, whatever `dim` says. For x of shape (3, 5, 7) and dim=1, which "
    "axis of your sum has length 1?",
)
wrong.several(
    "always_second_axis",
    {"amax(dim": "amax(1", "sum(dim": "sum(1"},
    "You sum along axis 1, whatever `dim` says. For x of shape (3, 5, 7) and dim=-1, which axis of "
    "your sum has length 1?",
)
wrong.several(
    "always_third_axis",
    {"amax(dim": "amax(2", "sum(dim": "sum(2"},
    "You sum along axis 2, whatever `dim` says, and a tensor of one or two axes has no such axis. "
    "Which line should read the argument `dim`?",
)
wrong.several(
    "dim_ignored",
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1"},
    "Your result is the same for every `dim`. Does each line that reduces an axis use the argument "
    "`dim`?",
)
wrong.several(
    "over_everything",
    {"amax(dim, keepdim=True)": "max()", "sum(dim, keepdim=True)": "sum()"},
    "You take one sum over the whole tensor, so only all slices together sum to one. Which entries "
    "should share one unit of probability?",
)
wrong(
    "no_max_subtraction",
    "(scores - scores.amax(dim, keepdim=True))",
    "scores",
    "exp of a large score overflows to infinity, and a row of very low scores underflows to 0/0. "
    "What can you subtract from a whole row without changing its softmax?",
)
wrong(
    "global_max",
    "amax(dim, keepdim=True)",
    "max()",
    "You subtract one number, the largest score of the whole tensor. A row far below it then has "
    "only zeros left to divide. Which maximum makes each slice safe by itself?",
)
for name, axis in (
    ("wrong_dim", "-1 if dim % x.ndim != x.ndim - 1 else 0"),
    ("first_axis", "0"),
    ("second_axis", "1"),
    ("last_axis", "-1"),
):
    wrong(
        f"max_over_{name}",
        "amax(dim",
        f"amax({axis}",
        "You take the maximum along another axis than the sum. Within one slice every score must "
        "lose the same number: for which `dim` does it not?",
    )
wrong(
    "mean_subtracted",
    "amax",
    "mean",
    "You subtract the mean of a slice: a score 1,000 above its mean still overflows. Which number "
    "guarantees that no exponent is above 0?",
)
wrong(
    "minimum_subtracted",
    "amax",
    "amin",
    "You subtract the smallest score of a slice: a score 1,000 above it still overflows. Which "
    "number guarantees that no exponent is above 0?",
)
wrong(
    "largest_size_subtracted",
    "scores.amax",
    "scores.abs().amax",
    "You subtract the largest size (`abs`) of a slice: for scores around -1,000 that makes all "
    "exponents far too small. Which number makes the largest exponent exactly 0?",
)
wrong.several(
    "nan_replaced",
    {
        "(scores - scores.amax(dim, keepdim=True))": "scores",
        "exp / exp.sum(dim, keepdim=True)": "(exp / exp.sum(dim, keepdim=True)).nan_to_num()",
    },
    "NaN is replaced by a number in your result, but large scores still overflow in exp, so their "
    "probabilities are lost. What can you subtract from a whole row without changing its softmax?",
)
wrong(
    "sum_over_the_last_axis",
    "exp.sum(dim, keepdim=True)",
    "exp.sum(-1, keepdim=True)",
    "You always sum along the last axis, whatever `dim` is. Along which axis do the probabilities "
    "sum to one?",
)
wrong(
    "divided_by_the_length",
    "exp.sum(dim, keepdim=True)",
    "exp.norm(dim=dim, keepdim=True)",
    "You divide by the length of the vector (its 2-norm), so squares sum to one. What should sum "
    "to one?",
)
wrong(
    "sum_over_everything",
    "exp.sum(dim, keepdim=True)",
    "exp.sum()",
    "You divide by the sum of the whole tensor, so only all slices together sum to one. Which "
    "entries should share one unit of probability?",
)
for name, above, below in (
    ("denominator", "exp", "scores.exp()"),
    ("numerator", "scores.exp()", "exp"),
):
    wrong(
        f"{name}_not_shifted",
        "exp / exp.sum(dim, keepdim=True)",
        f"{above} / {below}.sum(dim, keepdim=True)",
        "The exponents above and below your division line are not shifted by the same number, so "
        "the shift does not cancel. From which of the two do you subtract the maximum?",
    )
wrong(
    "squeezed",
    "exp / exp.sum(dim, keepdim=True)",
    "(exp / exp.sum(dim, keepdim=True)).squeeze()",
    "Your result loses the axes of length 1. What is its shape for x of shape (1, 7), and what "
    "should it be?",
)
for name, epsilon in (("epsilon_in_denominator", "1e-8"), ("smaller_epsilon", "1e-12")):
    wrong(
        name,
        "exp.sum(dim, keepdim=True)",
        f"(exp.sum(dim, keepdim=True) + {epsilon})",
        "A small number in the denominator makes every sum a little less than one. Can the "
        "denominator be 0 at all, once the largest exponent is exp(0)?",
    )
wrong(
    "minus_infinity_set_to_zero",
    "    exp =",
    "    scores = scores.masked_fill(scores == -torch.inf, 0.0)\n    exp =",
    "You set a score of -inf to 0, which is a score like any other and takes its share. What is "
    "exp(-inf)?",
)
for name, masked in (
    ("in_the_slice", "scores.isinf().any(dim, keepdim=True)"),
    ("anywhere", "scores.isinf().any()"),
):
    wrong(
        f"not_shifted_if_minus_infinity_is_{name}",
        "scores.amax(dim, keepdim=True)",
        f"scores.amax(dim, keepdim=True).masked_fill({masked}, 0.0)",
        "As soon as one score is -inf you subtract 0 instead of the maximum. exp of a large score "
        "next to it overflows, and exp of very low ones underflows. What is the maximum of a slice "
        "that holds -inf and other scores?",
    )
wrong(
    "zero_takes_part_in_the_maximum",
    "scores.amax",
    "scores.masked_fill(scores.isinf(), 0.0).amax",
    "Before you take the maximum you replace -inf by a finite number, such as 0. If the other "
    "scores of the slice are far below it, this number is the maximum, and the result is wrong. Of "
    "which scores should you take it?",
)
for name, low in (("thousand", "-1e3"), ("ten_thousand", "-1e4")):
    wrong(
        f"minus_infinity_set_to_minus_{name}",
        "    exp =",
        f"    scores = scores.masked_fill(scores == -torch.inf, {low})\n    exp =",
        "You replace a score of -inf by a finite number. If the other scores of its slice are as "
        "low, it gets a share, too. What is exp(-inf)?",
    )
wrong.several(
    "float32_inside",
    {
        "x if x.is_floating_point() else x.double()": "x.float()",
        "return exp / exp.sum(dim, keepdim=True)": (
            "p = exp / exp.sum(dim, keepdim=True)\n"
            "    return p.to(x.dtype) if x.is_floating_point() else p"
        ),
    },
    "Your result has the right dtype, but its numbers have only the seven digits of float32. "
    "Which dtype does your code compute in, if the scores are float64?",
)
wrong(
    "computed_in_float32",
    "exp = (scores - scores.amax(dim, keepdim=True)).exp()",
    "exp = (scores - scores.amax(dim, keepdim=True)).float().exp().to(scores.dtype)",
    "Your exponentials are computed in float32 and converted back, so they are off from the eighth "
    "digit on. Which call changes the dtype?",
)
IN_PLACE = (
    "Your code writes into the tensor that it was given (`-=`, `sub_`, `exp_`), so the caller's "
    "scores are lost. What does the same and makes a new tensor?"
)
wrong(
    "in_place",
    "scores - scores.amax(dim, keepdim=True)",
    "scores.sub_(scores.amax(dim, keepdim=True))",
    IN_PLACE,
)
wrong(
    "in_place_behind_autograd",
    "    exp = (scores - scores.amax(dim, keepdim=True)).exp()",
    "    scores.data.sub_(scores.data.amax(dim, keepdim=True))\n    exp = scores.exp()",
    IN_PLACE,
)
wrong(
    "minus_infinity_replaced_in_place",
    "    exp =",
    "    with torch.no_grad():\n"
    "        scores[scores == -torch.inf] = torch.finfo(scores.dtype).min\n    exp =",
    "Your code writes another number in place of the scores of -inf, and so the caller's are lost. "
    "What is exp(-inf), and which call would make a new tensor?",
)
wrong(
    "written_over",
    "return exp / exp.sum(dim, keepdim=True)",
    "return scores.copy_(exp / exp.sum(dim, keepdim=True))",
    "Your code overwrites the tensor that it was given, so the next call gets probabilities "
    "instead of scores. Which of your lines writes into it? What makes a new tensor instead?",
)
CHANGED_BEFORE_BACKWARD = (
    "`backward()` stops: you change a tensor in place that torch keeps for the gradient (`/=`, "
    "`t[…] = …`, or a method that ends in `_`). Which line does that?"
)
wrong(
    "divided_in_place",
    "return exp / exp.sum(dim, keepdim=True)",
    "exp /= exp.sum(dim, keepdim=True)\n    return exp",
    CHANGED_BEFORE_BACKWARD,
)
wrong(
    "integers_not_cast",
    "exp / exp.sum(dim, keepdim=True)",
    "torch.empty_like(x).copy_(exp / exp.sum(dim, keepdim=True))",
    "For whole numbers you return whole numbers: the probabilities were cut off to 0 and 1. Which "
    "of your tensors takes its dtype from the input?",
)
wrong(
    "integers_wrap_around",
    "x if x.is_floating_point() else x.double()",
    "x",
    "Integers of 8 bits wrap around: as uint8, 3 - 5 is 254. Where in your code do whole numbers "
    "become floats, before or after a difference is taken?",
)
wrong(
    "always_float32",
    "x if x.is_floating_point() else x.double()",
    "x.float()",
    "You always return float32, even for float64 or float16. Where does your code fix the dtype?",
)
wrong(
    "half_precision_becomes_float32",
    "x if x.is_floating_point() else x.double()",
    "x if x.dtype in (torch.float32, torch.float64) else x.float()",
    "You return float32 for scores of float16 or bfloat16. You may compute in a dtype with more "
    "digits, but which dtype does the task promise for the result?",
)
wrong(
    "sign_turned",
    "scores - scores.amax(dim, keepdim=True)",
    "scores.amin(dim, keepdim=True) - scores",
    "The largest score gets the smallest probability. Which sign does a score have inside your "
    "exponential?",
)
wrong(
    "powers_of_two",
    ".exp()",
    ".exp2()",
    "Your powers use a base other than e. What are your weights for two scores that are 1 apart, "
    "compared with the formula's?",
)
for name, weights in (
    ("", "scores"),
    ("_after_the_shift", "scores - scores.amax(dim, keepdim=True)"),
):
    wrong(
        f"no_exponential{name}",
        "(scores - scores.amax(dim, keepdim=True)).exp()",
        weights,
        "You divide the scores by their sum; the exponential of the formula is missing. What does "
        "a negative score become?",
    )
wrong(
    "shifted_by_the_logarithm_of_the_sum",
    "exp = (scores - scores.amax(dim, keepdim=True)).exp()\n"
    "    return exp / exp.sum(dim, keepdim=True)",
    "return (scores - scores.logsumexp(dim, keepdim=True)).exp()",
    "You subtract one large number from another: if the scores of a slice are all far from 0, a "
    "dtype with few digits rounds both, and the probabilities no longer sum to one. What can you "
    "subtract first, so that all numbers are small?",
)
wrong(
    "exponentials_subtracted",
    "(scores - scores.amax(dim, keepdim=True)).exp()",
    "scores.exp() - scores.amax(dim, keepdim=True).exp()",
    "You subtract the exponential of the maximum from the exponential of each score, so the "
    "largest score has the weight 0. Which number do you want to make smaller before exp sees it?",
)
wrong(
    "not_normalised",
    "exp / exp.sum(dim, keepdim=True)",
    "exp",
    "You return exponentials (or divide them by the largest, which changes nothing after the "
    "shift). They do not share one unit of probability yet: what does a slice sum to?",
)


@exercise.mistake(
    "numpy does not know torch's graph: a tensor that requires gradients cannot be converted to "
    "numpy, and the result has no gradient. Which torch calls do the same?"
)
def through_numpy(x, dim=-1):
    import numpy as np

    scores = (x if x.is_floating_point() else x.float()).numpy()
    exp = np.exp(scores - scores.max(axis=dim, keepdims=True))
    return torch.from_numpy(exp / exp.sum(axis=dim, keepdims=True)).to(x.dtype)


LOG_PROBABILITIES = (
    "You return logarithms of probabilities: none is above 0, and they do not sum to one. Which "
    "last step is missing?"
)


@exercise.mistake(LOG_PROBABILITIES)
def returns_log_probabilities(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


# For students' tests: exact ones would be the answer of log_softmax, which comes later.
@exercise.mistake(LOG_PROBABILITIES)
def returns_rounded_log_probabilities(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return torch.round(shifted - shifted.exp().sum(dim, keepdim=True).log(), decimals=2)


@exercise.mistake(
    "You divide 1 by a sum of exp(x_j - x_i). On paper that is right, but for a score of -inf the "
    "difference from itself is NaN. Which one number could every score of a slice lose instead?"
)
def one_over_a_sum(x, dim=-1):
    scores = (x if x.is_floating_point() else x.double()).movedim(dim, -1)
    return (1 / (scores[..., None, :] - scores[..., None]).exp().sum(-1)).movedim(-1, dim)


@exercise.mistake(
    "You count the axes from 0 and look for `dim` among them, so a negative one is not found. "
    "Which axis is -2 in a tensor of three axes?"
)
def negative_axis_not_found(x, dim=-1):
    x = x if x.is_floating_point() else x.double()
    kept = [1 if axis == dim else length for axis, length in enumerate(x.shape)]
    exp = (x - x.amax(dim).reshape(kept)).exp()
    return exp / exp.sum(dim).reshape(kept)
