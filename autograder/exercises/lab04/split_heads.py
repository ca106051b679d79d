"""split_heads and merge_heads: the same features, seen as heads and side by side again."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.multihead import merge_heads, split_heads
from gradekit.exercise import Exercise

exercise = Exercise(split_heads, merge_heads)


def other_layouts(x):
    """The same numbers, laid out in memory in two other ways."""
    sparse = torch.empty(*x.shape, 2, dtype=x.dtype)
    sparse[..., 0] = x
    return {
        "every second number of a row": sparse[..., 0],
        "batch and time swapped in memory": x.transpose(0, 1).contiguous().transpose(0, 1),
        "last two axes swapped in memory": x.mT.contiguous().mT,
    }


@exercise.check(points=1.5)
def shapes_and_dtype(lab, draw):
    """Heads get an axis of their own in front of time, and give it back; the dtype is kept."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    return {
        "shape of split_heads": list(lab.split_heads(apart, 3).shape),
        "shape of merge_heads": list(lab.merge_heads(together).shape),
        "dtype of split_heads": dtype_of(lab.split_heads(apart.float(), 3)),
        "dtype of merge_heads": dtype_of(lab.merge_heads(together.float())),
    }


@exercise.check(points=2.5)
def split_keeps_neighbours(lab, draw):
    """Split: head i gets the i-th run of neighbouring features, at each position its own."""
    x = draw.normal(2, 5, 12)
    return {f"{h} heads": lab.split_heads(x, h) for h in (3, 2, 1, 12)}


@exercise.check(points=2)
def merge_lays_side_by_side(lab, draw):
    """Merge: at each position the features of head 0 come first, then those of head 1."""
    return {f"{h} heads": lab.merge_heads(draw.normal(2, h, 5, 4)) for h in (3, 2, 1)}


@exercise.check(points=2, hidden=True)
def any_memory_layout(lab, draw):
    """Works on tensors however they lie in memory."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    seen = {f"split, {name}": lab.split_heads(x, 3) for name, x in other_layouts(apart).items()}
    for name, x in other_layouts(together).items():
        seen[f"merge, {name}"] = lab.merge_heads(x)
    seen["merge, heads and time swapped in memory"] = lab.merge_heads(
        draw.normal(2, 5, 3, 4).transpose(1, 2)
    )
    return seen


@exercise.check(points=1, hidden=True)
def sizes_of_one(lab, draw):
    """Works for a batch of one, a text of one word and heads of one feature."""
    return {
        "split, batch of one": lab.split_heads(draw.normal(1, 5, 6), 3),
        "split, one word": lab.split_heads(draw.normal(2, 1, 6), 3),
        "merge, batch of one": lab.merge_heads(draw.normal(1, 3, 5, 2)),
        "merge, one word": lab.merge_heads(draw.normal(2, 3, 1, 4)),
        "merge, one feature": lab.merge_heads(draw.normal(2, 3, 5, 1)),
    }


@exercise.check(points=1.5, hidden=True)
def heads_that_do_not_divide(lab, draw):
    """Raises ValueError where the features cannot be shared out evenly."""
    return {
        f"{d} features, {h} heads": draw.raises(lab.split_heads, draw.normal(2, 6, d), h)
        for d, h in ((10, 4), (7, 3), (5, 6))
    }


@exercise.check(points=1.5, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients find their way back to the right features, and the inputs stay as they were."""
    apart, together = draw.normal(2, 5, 12), draw.normal(2, 3, 5, 4)
    lab.split_heads(apart, 3)
    lab.merge_heads(together)
    return {
        "split": draw.gradients(lambda x: lab.split_heads(x, 3), apart),
        "merge": draw.gradients(lab.merge_heads, together),
        "inputs as they were": draw.untouched(),
    }


def head_size(x, num_heads):
    """D/h as the task wants it; a part that the wrong versions share."""
    if x.shape[-1] % num_heads:
        raise ValueError("the features cannot be shared out evenly")
    return x.shape[-1] // num_heads


@exercise.mistake(
    "The shape is right, but a view alone cuts the numbers in the order in which they lie in "
    "memory: your first head holds all features of the first few words. Which two axes have to "
    "change places, and after which cut?",
    of="split_heads",
)
def split_without_transpose(x, num_heads):
    batch, time, _ = x.shape
    return x.reshape(batch, num_heads, time, head_size(x, num_heads))


@exercise.mistake(
    "Your heads take the features in turn, like cards that are dealt: feature 1 goes to head 1. "
    "In the two axes that you cut the features into, which one comes first?",
    of="split_heads",
)
def heads_interleaved(x, num_heads):
    return x.unflatten(-1, (head_size(x, num_heads), num_heads)).permute(0, 3, 1, 2)


@exercise.mistake(
    "The heads still stand behind the words: (B, T, h, D/h). What does a matrix product do with "
    "the last two axes, and which two should those be?",
    of="split_heads",
)
def heads_behind_time(x, num_heads):
    return x.unflatten(-1, (num_heads, head_size(x, num_heads)))


@exercise.mistake(
    "Heads come first in your result and the batch second. Both are axes to broadcast over, but "
    "the task gives their order, and masks rely on it. Look at your permutation.",
    of="split_heads",
)
def batch_and_head_swapped(x, num_heads):
    return x.unflatten(-1, (num_heads, head_size(x, num_heads))).permute(2, 0, 1, 3)


@exercise.mistake(
    "Time and features have changed places inside each head: (B, h, D/h, T) is what keys need in "
    "q kᵀ, later. Which shape does the task ask for?",
    of="split_heads",
)
def time_and_features_swapped(x, num_heads):
    return x.unflatten(-1, (num_heads, head_size(x, num_heads))).permute(0, 2, 3, 1)


@exercise.mistake(
    "This works for a batch of one. With two sentences, what does your first axis hold, and where "
    "has the second sentence gone?",
    of="split_heads",
)
def split_for_one_sentence(x, num_heads):
    time, size = x.shape[1], head_size(x, num_heads)
    return x[0].reshape(time, num_heads, size).transpose(0, 1)[None]


@exercise.mistake(
    "Where h does not divide D, the features that are left over disappear without a word. What "
    "should happen instead?",
    of="split_heads",
)
def leftover_features_dropped(x, num_heads):
    size = x.shape[-1] // num_heads
    kept = x[..., : num_heads * size]
    return kept.reshape(*x.shape[:2], num_heads, size).transpose(1, 2)


@exercise.mistake(
    "Where h does not divide D, it is torch that complains, about a shape that the caller never "
    "wrote. Which error does the task ask for, and when do you look?",
    of="split_heads",
)
def torch_complains(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, x.shape[-1] // num_heads).transpose(1, 2)


@exercise.mistake(
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Callers who give "
    "wrong values are told with another error: which one does the task name?",
    of="split_heads",
)
def asserted(x, num_heads):
    assert x.shape[-1] % num_heads == 0
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


@exercise.mistake(
    "The leftover is looked for in the number of words instead of the number of features. Which "
    "axis of x is shared out?",
    of="split_heads",
)
def words_counted(x, num_heads):
    if x.shape[1] % num_heads:
        raise ValueError("the words cannot be shared out evenly")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@exercise.mistake(
    "`.view` gives up on a tensor whose axes do not lie one behind the other in memory. Your view "
    "puts two axes together that need not; which call copies where it must?",
    of="split_heads",
)
def view_across_axes(x, num_heads):
    batch, time, _ = x.shape
    cut = x.view(batch * time, num_heads, head_size(x, num_heads))
    return cut.reshape(batch, time, num_heads, -1).transpose(1, 2)


@exercise.mistake(
    "The number of heads and the size of a head are mixed up: ask for 3 heads of 12 features, and "
    "see how many come out.",
    of="split_heads",
)
def number_taken_for_size(x, num_heads):
    head_size(x, num_heads)
    return x.unflatten(-1, (-1, num_heads)).transpose(1, 2)


@exercise.mistake(
    "Your split changes the tensor that it was given (a method with `_` at its end, or numbers "
    "written into it). Which call makes a new one?",
    of="split_heads",
)
def split_in_place(x, num_heads):
    head_size(x, num_heads)
    x.unsqueeze_(1)
    return torch.cat(x.chunk(num_heads, -1), 1)


@exercise.mistake(
    "No gradient gets back through the split: a `.detach()`, `.data` or a new tensor that you copy "
    "numbers into cuts torch's graph. Which line is it?",
    of="split_heads",
)
def split_detached(x, num_heads):
    size = head_size(x, num_heads)
    return torch.tensor(x.tolist(), dtype=x.dtype).unflatten(-1, (num_heads, size)).transpose(1, 2)


@exercise.mistake(
    "The shape is right, but the heads were not brought back next to each other before the last "
    "two axes became one: your first word holds pieces of several words. With a split that has "
    "the same fault the two cancel. Which axes must stand next to each other?",
    of="merge_heads",
)
def merge_without_transpose(x):
    batch, heads, time, size = x.shape
    return x.reshape(batch, time, heads * size)


@exercise.mistake(
    "`.view` refuses: after a transpose the numbers no longer lie in memory in the order of the "
    "axes. It works on what `split_heads` returns and fails on what attention returns. What puts "
    "them in order?",
    of="merge_heads",
)
def view_after_transpose(x):
    batch, heads, time, size = x.shape
    return x.transpose(1, 2).view(batch, time, heads * size)


@exercise.mistake(
    "The heads' features come out shuffled into each other: first feature 0 of every head, then "
    "feature 1. Which of the two axes that you put together should be the outer one?",
    of="merge_heads",
)
def merge_interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@exercise.mistake(
    "You swap the last two axes, time and features. Which two axes stand the wrong way round for "
    "(B, T, h, d)?",
    of="merge_heads",
)
def wrong_axes_transposed(x):
    batch, heads, time, size = x.shape
    return x.transpose(2, 3).reshape(batch, time, heads * size)


@exercise.mistake(
    "Heads were put together with the words: you have a longer text, not wider words. Which axis "
    "should grow?",
    of="merge_heads",
)
def longer_text(x):
    return x.flatten(1, 2)


@exercise.mistake(
    "The heads were added up, so nobody can tell any more what each of them said. Side by side, "
    "how many features does a word have?",
    of="merge_heads",
)
def heads_added(x):
    return x.sum(1)


@exercise.mistake(
    "The heads' mean was taken, so nobody can tell any more what each of them said. Side by side, "
    "how many features does a word have?",
    of="merge_heads",
)
def heads_averaged(x):
    return x.mean(1)


@exercise.mistake(
    "This works for a batch of one. With two sentences, where has the second one gone?",
    of="merge_heads",
)
def merge_for_one_sentence(x):
    return x[0].transpose(0, 1).reshape(1, x.shape[2], -1)


@exercise.mistake(
    "`squeeze()` drops every axis of length 1: also a batch of one, or a single word. Which axes "
    "may it touch here, if any?",
    of="merge_heads",
)
def squeezed(x):
    return x.transpose(1, 2).flatten(2).squeeze()


@exercise.mistake(
    "Your merge changes the tensor that it was given (`transpose_`, or another method with `_` at "
    "its end). Which call makes a new one?",
    of="merge_heads",
)
def merge_in_place(x):
    x.transpose_(1, 2)
    return x.flatten(2)


@exercise.mistake(
    "No gradient gets back through the merge: a `.detach()`, `.data` or a new tensor that you copy "
    "numbers into cuts torch's graph. Which line is it?",
    of="merge_heads",
)
def merge_detached(x):
    batch, heads, time, size = x.shape
    out = torch.empty(batch, time, heads * size, dtype=x.dtype)
    for i in range(heads):
        out[..., i * size : (i + 1) * size] = x[:, i].detach()
    return out


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
