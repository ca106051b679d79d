"""Wrong versions of softmax that keep a number from getting too large or too small."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import in_three_lines

wrong = exercise.edits(in_three_lines)

SHIFTED = "(scores - scores.amax(dim, keepdim=True))"

CLAMPED = (
    "You cut off scores (`clamp`), so two different scores beyond your limit get the same "
    "probability. Which change of a whole row leaves its softmax as it is, and prevents overflow?"
)
for limit in (10, 20, 80):
    wrong(f"scores_clamped_at_{limit}", SHIFTED, f"scores.clamp(-{limit}, {limit})", CLAMPED)
    wrong(f"scores_clamped_above_{limit}", SHIFTED, f"scores.clamp(max={limit})", CLAMPED)
for name, limits in (
    ("1000", "-1e3, 1e3"),
    ("10_000", "-1e4, 1e4"),
    ("minus_100", "min=-100"),
    ("minus_10_000", "min=-1e4"),
):
    wrong(
        f"scores_clamped_at_{name}_and_shifted",
        "    exp =",
        f"    scores = scores.clamp({limits})\n    exp =",
        CLAMPED,
    )

KEPT_ABOVE_ZERO = (
    "You keep exponents, exponentials or probabilities above a lowest number (`clamp`, or a small "
    "number added), so a score of -inf gets a share of the probability. Which share does the task "
    "promise it?"
)
for limit in (10, 12, 15, 20, 50):
    name, cut_off = f"exponents_cut_off_at_{limit}", f"{SHIFTED}.clamp(min=-{limit})"
    wrong(name, SHIFTED, cut_off, KEPT_ABOVE_ZERO)
for least in ("1e-8", "1e-12"):
    name = least.replace("e-", "e_")
    wrong(
        f"exponentials_kept_above_{name}", ".exp()", f".exp().clamp(min={least})", KEPT_ABOVE_ZERO
    )
    wrong(f"exponentials_{name}_larger", ".exp()", f".exp() + {least}", KEPT_ABOVE_ZERO)
SHARES = "exp / exp.sum(dim, keepdim=True)"
for digits in (5, 6, 7, 8, 9, 10, 12, 15):
    for how, kept in (("kept_above", "clamp(min="), ("enlarged_by", "add(")):
        raised = f"({SHARES}).{kept}1e-{digits})"
        wrong(f"shares_{how}_1e_{digits}", SHARES, raised, KEPT_ABOVE_ZERO)

wrong(
    "maximum_subtracted_from_exponentials",
    f"{SHIFTED}.exp()",
    "(scores.exp() - scores.amax(dim, keepdim=True))",
    "You subtract the maximum from the exponentials, not from the scores (a bracket?). What does a "
    "softmax do first, and to which numbers?",
)
wrong(
    "place_of_the_maximum_subtracted",
    SHIFTED,
    "(scores - scores.argmax(dim, keepdim=True))",
    "You subtract the place of the largest score (`argmax`, or the second result of `max`), and "
    "not the score itself. Which of the two prevents overflow?",
)
ONLY_IF_LARGE = (
    "You subtract the maximum only if scores are large. In float16 numbers end at 65,504: which "
    "scores have an exponential above that? What would be lost if every slice were shifted?"
)
wrong(
    "shifted_only_if_some_score_is_large",
    SHIFTED,
    f"({SHIFTED} if scores.abs().max() > 80 else scores)",
    ONLY_IF_LARGE,
)
wrong(
    "shifted_only_above_80",
    SHIFTED,
    f"torch.where(scores.abs().amax(dim, keepdim=True) > 80, {SHIFTED}, scores)",
    ONLY_IF_LARGE,
)
wrong(
    "median_subtracted",
    "scores.amax(dim, keepdim=True)",
    "scores.median(dim, keepdim=True).values",
    "You subtract the median of a slice: a score 1,000 above it still overflows. Which number "
    "guarantees that no exponent is above 0?",
)


@exercise.mistake(
    "You keep the largest score so far, as an online softmax does. If it is still -inf and so is "
    "the next score, you subtract -inf from -inf, which is NaN. What should a slice have added up "
    "to before its first finite score?"
)
def running_maximum(x, dim=-1):
    scores = x if x.is_floating_point() else x.double()
    top, *rest = scores.unbind(dim)
    total = torch.ones_like(top)
    for score in rest:
        higher = torch.maximum(top, score)
        total = total * (top - higher).exp() + (score - higher).exp()
        top = higher
    return (scores - top.unsqueeze(dim)).exp() / total.unsqueeze(dim)
