"""Known mistakes in splitting (`split_heads`) and in merging (`merge_heads`)."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import merge_by_permute, split_by_reshape

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
    "strides_written_by_hand",
    "x.reshape(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)",
    "x.as_strided((B, num_heads, T, D // num_heads), (T * D, D // num_heads, D, 1))",
    "You write the strides yourself (`as_strided`), for a tensor whose numbers lie side by side. "
    "What are the strides of a tensor that is a part or a transpose of another?",
)
wrong(
    "split_squeezed",
    ".contiguous()",
    ".squeeze()",
    "`squeeze()` drops every axis of length 1: one head, one word, one sentence or one feature. "
    "Which axes does the task promise?",
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
    "If h does not divide D, your function stops nobody: it returns something, with fewer features "
    "or an error that is not raised. What should happen instead?",
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
for name, how in (("swapped", "permute(0, 2, 1, 3)."), ("kept", "")):
    wrong(
        f"axes_in_another_order_{name}",
        "permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)",
        f"{how}reshape(x.shape[0], x.shape[1], -1)",
        "Your result has as many words as there are heads: your code takes the axes of x as "
        "(B, T, h, d). In which order does the task give them?",
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
