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
    """Gradients reach the right features, and the inputs are unchanged."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    lab.split_heads(apart, 3)
    lab.merge_heads(together)
    return {
        "split": draw.gradients(lambda x: lab.split_heads(x, 3), apart),
        "merge": draw.gradients(lab.merge_heads, together),
        "inputs as they were": draw.untouched(),
    }


exercise.promises(
    {
        "Divide the features of every position into heads: head i gets the i-th block of D/h "
        "features. Feature j of head i at position t is x[b, t, i · D/h + j]: neighbours stay "
        "neighbours.": "split_keeps_neighbours",
        "x: (B, T, D), in any memory layout; stays unchanged.": (
            "any_memory_layout gradients_and_input"
        ),
        "(B, h, T, D/h), in the dtype of `x`. Gradients flow back to `x`.": (
            "shapes_and_dtype other_sizes gradients_and_input"
        ),
        "ValueError: `num_heads` does not divide D.": "left_over heads_that_do_not_divide",
        "Join the heads of every position again: the inverse of `split_heads`.": (
            "merge_lays_side_by_side"
        ),
        "x: (B, h, T, d), in any memory layout; stays unchanged.": (
            "any_memory_layout gradients_and_input"
        ),
        "(B, T, h · d): at each position first the d features of head 0, then those of head 1, and "
        "so on. In the dtype of `x`; gradients flow back to `x`.": (
            "merge_lays_side_by_side shapes_and_dtype other_sizes gradients_and_input"
        ),
    },
    explained=["num_heads: h, the number of heads, 1 or more."],
)


@exercise.also_right(of="split_heads")
def split_by_reshape(x, num_heads):
    B, T, D = x.size()
    if D % num_heads != 0:
        raise ValueError(f"D={D} is not divisible by num_heads={num_heads}")
    return x.reshape(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3).contiguous()


@exercise.also_right(of="split_heads")
def split_by_view(x, num_heads):
    B, _, D = x.shape
    if D % num_heads:
        raise ValueError
    return x.view(B, -1, num_heads, D // num_heads).transpose(1, 2)


@exercise.also_right(of="split_heads")
def split_by_chunks(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("not divisible")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@exercise.also_right(of="split_heads")
def split_by_slices(x, num_heads):
    size, rest = divmod(x.shape[2], num_heads)
    if rest != 0:
        raise ValueError("not divisible")
    return torch.cat([x[:, None, :, i * size : (i + 1) * size] for i in range(num_heads)], dim=1)


@exercise.also_right(of="merge_heads")
def merge_by_contiguous_view(x):
    B, H, T, d = x.size()
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


@exercise.also_right(of="merge_heads")
def merge_by_permute(x):
    return x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@exercise.also_right(of="merge_heads")
def merge_by_cat(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


@exercise.also_right(of="merge_heads")
def merge_by_cat_of_pieces(x):
    return torch.cat([piece.squeeze(1) for piece in x.split(1, dim=1)], dim=2)


wrong = exercise.edits(split_by_reshape, of="split_heads")

wrong(
    "split_without_transpose",
    "(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)",
    "(B, num_heads, T, D // num_heads)",
    "The shape is right, but a view alone cuts the numbers in their memory order: your first head "
    "holds all features of the first few words. Which two axes must change places, and after "
    "which cut?",
)
wrong(
    "heads_interleaved",
    "num_heads, D // num_heads).permute(0, 2, 1, 3)",
    "D // num_heads, num_heads).permute(0, 3, 1, 2)",
    "Your heads take the features in turn, like cards that are dealt: feature 1 goes to head 1. "
    "You cut the features into two axes: which of them comes first?",
)
wrong(
    "heads_behind_time",
    ".permute(0, 2, 1, 3)",
    "",
    "The heads' axis is still behind the words: (B, T, h, D/h). What does a matrix product do with "
    "the last two axes, and which two should those be?",
)
wrong(
    "batch_and_head_swapped",
    "permute(0, 2, 1, 3)",
    "permute(2, 0, 1, 3)",
    "Heads come first in your result and the batch second. Both axes broadcast, but the task gives "
    "their order, and masks rely on it. What does your permutation do with axis 0?",
)
wrong(
    "heads_in_the_batch",
    ".permute(0, 2, 1, 3)",
    ".permute(0, 2, 1, 3).flatten(0, 1)",
    "Your heads have no axis of their own: they are part of the batch, (B · h, T, D/h). Which four "
    "axes does the task ask for?",
)
wrong(
    "time_and_features_swapped",
    "permute(0, 2, 1, 3)",
    "permute(0, 2, 3, 1)",
    "Time and features are swapped inside each head: (B, h, D/h, T) is what keys need in q kᵀ, "
    "later. Which shape does the task ask for?",
)
wrong(
    "split_for_one_sentence",
    "x.reshape(B, T",
    "x[:1].reshape(1, T",
    "This works for a batch of one. With two sentences, what does your first axis hold, and where "
    "has the second sentence gone?",
)
wrong.several(
    "leftover_features_dropped",
    {
        "    if D % num_heads != 0:\n"
        '        raise ValueError(f"D={D} is not divisible by num_heads={num_heads}")\n': "",
        "x.reshape": "x[..., : D // num_heads * num_heads].reshape",
    },
    "If h does not divide D, the remaining features disappear without a message. What should "
    "happen instead?",
)
wrong(
    "torch_complains",
    "    if D % num_heads != 0:\n"
    '        raise ValueError(f"D={D} is not divisible by num_heads={num_heads}")\n',
    "",
    "If h does not divide D, torch raises the error, about a shape that the caller never wrote. "
    "Which error does the task ask for, and when do you check?",
)
wrong(
    "asserted",
    "if D % num_heads != 0:\n"
    '        raise ValueError(f"D={D} is not divisible by num_heads={num_heads}")',
    "assert D % num_heads == 0",
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Wrong arguments are "
    "reported with another error: which one does the task name?",
)
wrong(
    "words_counted",
    "if D %",
    "if T %",
    "You check the number of words instead of the number of features. Which axis of x is divided "
    "among the heads?",
)
wrong(
    "view_across_axes",
    "x.reshape",
    "x.view(B * T, num_heads, D // num_heads).reshape",
    "`.view` refuses a tensor whose axes are not one behind the other in memory. Your view joins "
    "two axes without need; which call copies if it must?",
)
wrong(
    "number_taken_for_size",
    "num_heads, D // num_heads)",
    "D // num_heads, num_heads)",
    "You confuse the number of heads with the size of a head. If you ask for 3 heads of 12 "
    "features, how many heads do you get?",
)
wrong(
    "split_detached",
    "x.reshape",
    "x.detach().reshape",
    "No gradient gets back through the split: a `.detach()`, `.data` or a new tensor that you copy "
    "numbers into cuts torch's graph. Which line is it?",
)
IN_FLOAT32 = (
    "Your result is float32, whatever dtype x has. A new tensor such as `torch.zeros(…)` has a "
    "dtype of its own: where could it take that of x?"
)
wrong("split_in_float32", "x.reshape", "x.float().reshape", IN_FLOAT32)


@exercise.mistake(
    "Your split changes its input (a method with `_` at its end, or an assignment into it). Which "
    "call makes a new tensor?",
    of="split_heads",
)
def split_in_place(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("the features cannot be divided evenly")
    x.unsqueeze_(1)
    return torch.cat(x.chunk(num_heads, -1), 1)


wrong = exercise.edits(merge_by_permute, of="merge_heads")

wrong(
    "merge_without_transpose",
    ".permute(0, 2, 1, 3)",
    "",
    "The shape is right, but you join the last two axes before the heads are next to each other: "
    "your first word holds pieces of several words. A split with the same mistake hides this. "
    "Which axes must be next to each other?",
)
wrong(
    "view_after_transpose",
    "reshape",
    "view",
    "`.view` refuses: after a transpose, the numbers are no longer in memory in the order of the "
    "axes. It works on the result of `split_heads` and fails on that of attention. What puts them "
    "in order?",
)
wrong(
    "merge_interleaved",
    "permute(0, 2, 1, 3)",
    "permute(0, 2, 3, 1)",
    "The heads' features are interleaved: first feature 0 of every head, then feature 1. Which of "
    "the two axes that you join should be the outer one?",
)
wrong(
    "wrong_axes_transposed",
    "permute(0, 2, 1, 3)",
    "permute(0, 1, 3, 2)",
    "You swap the last two axes, time and features. Which two axes are in the wrong order for "
    "(B, T, h, d)?",
)
wrong(
    "longer_text",
    "x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)",
    "x.flatten(1, 2)",
    "You join heads with words: the text gets longer, not the words wider. Which axis should grow?",
)
ONE_ROW = (
    "You join the words as well: (B, T · h · d), one long row for each sentence. Which axes should "
    "be left, according to the task?"
)
wrong("words_joined_too", "x.shape[2], -1)", "-1)", ONE_ROW)
wrong("merge_in_float32", "x.permute", "x.float().permute", IN_FLOAT32)
for name, call, what in (
    ("added", "sum", "add the heads up"),
    ("averaged", "mean", "average the heads"),
):
    wrong(
        f"heads_{name}",
        "x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)",
        f"x.{call}(1)",
        f"You {what}, so nothing can distinguish the heads' parts any more. Side by side, how many "
        "features does a word have?",
    )
wrong.several(
    "merge_for_one_sentence",
    {"x.permute": "x[:1].permute", "x.shape[0]": "1"},
    "This works for a batch of one. With two sentences, where has the second one gone?",
)
wrong(
    "squeezed",
    "-1)",
    "-1).squeeze()",
    "`squeeze()` drops every axis of length 1, including a batch of one or a single word. Which "
    "axes may it drop here, if any?",
)
wrong(
    "merge_in_place",
    "x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)",
    "x.transpose_(1, 2).flatten(2)",
    "Your merge changes its input (`transpose_`, or another method with `_` at its end). Which "
    "call makes a new tensor?",
)
wrong(
    "merge_detached",
    "x.permute",
    "x.detach().permute",
    "No gradient gets back through the merge: a `.detach()`, `.data` or a new tensor that you copy "
    "numbers into cuts torch's graph. Which line is it?",
)
