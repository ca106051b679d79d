"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

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
