"""Wrong versions of softmax that bring the axis to the end, and do not bring it back."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import axis_moved_to_the_end, in_three_lines, slice_by_slice

wrong = exercise.edits(in_three_lines)
wrong_moved = exercise.edits(slice_by_slice)
wrong_swapped = exercise.edits(axis_moved_to_the_end)

PUT_BACK_AT_THE_END = (
    "You put the axis of the maximum or of the sum back at the end, whatever `dim` is. Which shape "
    "must both have for x of shape (3, 5, 7) and dim=1?"
)
AXIS_LOST = (
    "The axis that a maximum or a sum reduced is gone, so the difference or the division "
    "broadcasts along another axis (a square input hides that). What are the shapes on the two "
    "sides of each?"
)
for place, call in (("", "sum"), ("_of_the_maximum", "amax")):
    kept = f"{call}(dim, keepdim=True)"
    at_the_end = f"{call}(dim)[..., None]"
    wrong(f"axis{place}_put_back_at_the_end", kept, at_the_end, PUT_BACK_AT_THE_END)
    wrong(f"keepdim{place}_missing", kept, f"{call}(dim)", AXIS_LOST)

RESHAPED = (
    "You bring the axis `dim` to one end, and give the result its old shape with `reshape` or "
    "`view`, which move no axis: the numbers land in wrong places. What undoes the first move?"
)
wrong_moved(
    "reshaped_to_the_old_shape",
    "reshape(last.shape).movedim(-1, dim)",
    "reshape(x.shape)",
    RESHAPED,
)
wrong_moved(
    "swapped_back_after_a_move",
    "movedim(-1, dim)",
    "transpose(-1, dim)",
    "You move the axis `dim` to the end and exchange two axes to bring it back. With more than two "
    "axes, a move shifts the axes between as well: what undoes it?",
)
BACK = "1 / exp.sum(-1)).transpose(dim, -1)"
wrong_swapped("swapped_and_reshaped", BACK, "1 / exp.sum(-1)).reshape(x.shape)", RESHAPED)
LEFT_THERE = (
    "You bring the axis `dim` to another place, and it is still there in your result. Which shape "
    "should the result have for x of shape (3, 5, 7) and dim=1?"
)
wrong_moved("left_at_the_end", "(last.shape).movedim(-1, dim)", "(last.shape)", LEFT_THERE)
wrong_swapped("swapped_and_left_there", BACK, "1 / exp.sum(-1))", LEFT_THERE)
wrong_moved(
    "moved_on",
    ".movedim(-1, dim)",
    ".movedim(dim, -1)",
    "You bring the axis `dim` to the end, and repeat the same move on the result instead of "
    "undoing it. In which order are the axes (0, 1, 2) after each move, for dim=0?",
)
wrong_moved.several(
    "reshaped_and_not_moved",
    {").movedim(dim, -1)": ")", "last.shape[-1]": "x.shape[dim]", ".movedim(-1, dim)": ""},
    "`reshape` moves no axis: it cuts the numbers into rows in the order in which they are stored, "
    "so your rows are slices along the last axis, or parts of them. For x of shape (3, 5, 7) and "
    "dim=1, which numbers of x are in your first row?",
)


@exercise.mistake(RESHAPED)
def moved_to_the_front_and_reshaped(x, dim=-1):
    first = (x if x.is_floating_point() else x.double()).movedim(dim, 0)
    exp = torch.exp(first - first.amax(0))
    return (exp / exp.sum(0)).reshape(x.shape)


def shares_along_the_first_axis(x):
    exp = torch.exp((x if x.is_floating_point() else x.double()) - x.amax(0))
    return exp / exp.sum(0)


@exercise.mistake(LEFT_THERE)
def swapped_to_the_front_and_left_there(x, dim=-1):
    return shares_along_the_first_axis(x.transpose(0, dim))


@exercise.mistake(LEFT_THERE)
def moved_to_the_front_and_left_there(x, dim=-1):
    return shares_along_the_first_axis(x.movedim(dim, 0))
