"""split_heads and merge_heads: the same features, seen as heads and side by side again."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.multihead import merge_heads, split_heads
from gradekit.exercise import Exercise

FOUR_AXES = "with four axes, 2 and -2 are the same one; the task has no other number of them"
exercise = Exercise(
    split_heads,
    merge_heads,
    equivalent={
        "split_heads: `1` → `0` in `if num_heads < 1 or x.shape[-1] % num_heads:`": (
            "the task has one head or more"
        ),
        "split_heads: `-2` → `2` in `return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)`": (
            FOUR_AXES
        ),
        "merge_heads: `-2` → `2` in `return x.transpose(-3, -2).flatten(-2)`": FOUR_AXES,
    },
)


def other_layouts(x):
    """The same numbers in three other memory layouts."""
    sparse = torch.empty(*x.shape, 2, dtype=x.dtype)
    sparse[..., 0] = x
    return {
        "every second number of a row": sparse[..., 0],
        "batch and time swapped in memory": x.transpose(0, 1).contiguous().transpose(0, 1),
        "last two axes swapped in memory": x.mT.contiguous().mT,
    }


def reached(gradients):
    """Which numbers of an input get a gradient: 1 or 0. The order of features is not asked here."""
    if not isinstance(gradients, list):
        return gradients
    return [grad.abs().sign() if isinstance(grad, torch.Tensor) else grad for grad in gradients]


@exercise.check(points=1.5)
def shapes_and_dtype(lab, draw):
    """Heads get their own axis in front of time, and merging removes it; the dtype is kept."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    return {
        "shape of split_heads": list(lab.split_heads(apart, 3).shape),
        "shape of merge_heads": list(lab.merge_heads(together).shape),
        "dtype of split_heads": dtype_of(lab.split_heads(apart.float(), 3)),
        "dtype of merge_heads": dtype_of(lab.merge_heads(together.float())),
    }


@exercise.check(points=2.5)
def split_keeps_neighbours(lab, draw):
    """Split: at each position, head i gets the i-th run of neighbouring features."""
    x = draw.normal(2, 5, 12)
    return {f"{h} heads": lab.split_heads(x, h) for h in (3, 2, 1, 12)}


@exercise.check(points=2)
def merge_lays_side_by_side(lab, draw):
    """Merge: at each position, the features of head 0 come first, then those of head 1."""
    return {f"{h} heads": lab.merge_heads(draw.normal(2, h, 5, 4)) for h in (3, 2, 1)}


@exercise.check(points=0.5)
def left_over(lab, draw):
    """Split: raises ValueError for 10 features and 4 heads."""
    return {"10 features, 4 heads": draw.raises(lab.split_heads, draw.normal(2, 6, 10), 4)}


@exercise.check(points=2, hidden=True)
def any_memory_layout(lab, draw):
    """Works on tensors in any memory layout."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    seen = {f"split, {name}": lab.split_heads(x, 3) for name, x in other_layouts(apart).items()}
    seen |= {f"merge, {name}": lab.merge_heads(x) for name, x in other_layouts(together).items()}
    seen["merge, heads and time swapped in memory"] = lab.merge_heads(
        draw.normal(2, 5, 3, 4).transpose(1, 2)
    )
    return seen


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, head, word or feature, and for sizes that are equal."""

    def ask(B, h, T, d):
        return {
            "split": lab.split_heads(draw.normal(B, T, h * d), h),
            "merge": lab.merge_heads(draw.normal(B, h, T, d)),
        }

    return draw.each_size(ask, B=2, h=3, T=5, d=4)


@exercise.check(points=1, hidden=True)
def heads_that_do_not_divide(lab, draw):
    """Raises ValueError if the features cannot be divided evenly."""
    return {
        f"{d} features, {h} heads": draw.raises(lab.split_heads, draw.normal(2, 6, d), h)
        for d, h in ((10, 4), (7, 3), (5, 6))
    }


@exercise.check(points=1.5)
def gradients_and_input(lab, draw):
    """Gradients reach all features, and the inputs are unchanged."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    lab.split_heads(apart, 3)
    lab.merge_heads(together)
    return {
        "split": reached(draw.gradients(lambda x: lab.split_heads(x, 3), apart)),
        "merge": reached(draw.gradients(lab.merge_heads, together)),
        "inputs as they were": draw.untouched(),
    }
