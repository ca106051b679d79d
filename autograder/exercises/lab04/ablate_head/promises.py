"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "A copy of a multi-head attention in which one head contributes nothing. The copy's "
        "output is the model's output without everything that this head adds to it through its "
        "part of the output projection.": "the_first_head any_head",
        "Everything else stays: the other heads, the bias of `out_proj`, the attention weights.": (
            "the_first_head silence_of_all still_a_model"
        ),
        "stays unchanged, even if the copy changes later.": "the_model_stays",
        "An independent module that is called in the same way as `model`.": (
            "called_as_the_model_is the_model_stays"
        ),
        "It is in training mode if `model` is, and it can itself be ablated and trained.": (
            "mode_and_parameters still_a_model any_head"
        ),
        "IndexError: there is no head of this number (-1 is not one, either).": (
            "one_head_too_far heads_that_are_not_there"
        ),
    },
    explained=[
        "model: with `num_heads` heads of `d_v` values each and the output projection "
        "`out_proj` (an `nn.Linear`, h · d_v → d_model);",
        "head: the head's number, 0 … num_heads - 1.",
    ],
)
