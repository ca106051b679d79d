"""Attention along a wrong axis, in one mode or in both, or with the wrong axes swapped."""

from __future__ import annotations

import torch  # noqa: F401 - the mistakes use it

from . import exercise
from .also_right import in_three_steps, zero_rows_masked

wrong = exercise.edits(in_three_steps)
# What a zero row becomes depends on how 0/0 is kept away.
wrong_masked = exercise.edits(zero_rows_masked)

SECOND_AXIS = (
    "You normalise along axis 1, which is the last one only if there is no batch axis. For X of "
    "shape (2, 5, 3), which axis of your table of weights is axis 1?"
)
COLUMNS = (
    "In a table (T, T) you normalise the columns: your weights sum to one for each word that is "
    "looked at, not for each word that looks. With and without batch axes, which axis of the table "
    "holds the weights of one word?"
)
THIRD_AXIS = (
    "You normalise along axis 2, which a table (T, T) does not have: its axes are 0 and 1. With "
    "and without batch axes, which axis of the table holds the weights of one word?"
)
for name, axis, advice in (
    ("second_axis", 1, SECOND_AXIS),
    ("columns", -2, COLUMNS),
    ("first_axis", 0, COLUMNS),
    ("third_axis", 2, THIRD_AXIS),
):
    by_softmax = {"softmax(scores, -1)": f"softmax(scores, {axis})"}
    by_sum = {"sum(-1": f"sum({axis}"}
    wrong.several(f"{name}_normalised", {**by_softmax, **by_sum}, advice)
    wrong.several(f"{name}_normalised_by_softmax", by_softmax, advice)
    wrong.several(f"{name}_normalised_by_sum", by_sum, advice)
    wrong_masked.several(
        f"{name}_normalised_if_masked",
        {"dim=-1)": f"dim={axis})", "dim=-1, keepdim": f"dim={axis}, keepdim"},
        advice,
    )
    wrong_masked(
        f"{name}_normalised_by_sum_if_masked", "dim=-1, keepdim", f"dim={axis}, keepdim", advice
    )

AXIS_LOST = (
    'With mode="sum" the sum over the row lost its axis, so the division broadcasts along another '
    "one. What are the shapes on the two sides of your division?"
)
wrong("keepdim_missing", "sum(-1, keepdim=True)", "sum(-1)", AXIS_LOST)
wrong_masked("keepdim_missing_if_masked", "dim=-1, keepdim=True", "dim=-1", AXIS_LOST)

TRANSPOSED = (
    "`.T`, `.t()` or transposing axes 0 and 1 swaps words and features only if there is no batch "
    "axis. Which two axes should be swapped for X of shape (2, 5, 3)?"
)
for name, transposed in (
    ("first_axes_transposed", "X.transpose(0, 1)"),
    ("reversed", "X.T"),
    ("transposed_as_a_matrix", "X.t()"),
):
    wrong(name, "X.mT", transposed, TRANSPOSED)

WITHOUT_BATCH_AXES = (
    "Your code only works without batch axes: an einsum names each axis (`id`), or a line unpacks "
    "a shape. Which part of it can stand for any number of axes in front of words and features?"
)
for name, old, new in (
    ("einsum_of_the_words", "X @ X.mT", "torch.einsum('id,jd->ij', X, X)"),
    ("einsum_of_the_weights", "weights @ X", "torch.einsum('ij,jd->id', weights, X)"),
    ("shape_of_two_axes", "    scores =", "    T, d = X.shape\n    scores ="),
):
    wrong(f"{name}_without_batch_axes", old, new, WITHOUT_BATCH_AXES)
