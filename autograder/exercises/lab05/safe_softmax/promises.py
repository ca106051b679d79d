"""Which check holds each sentence of the task."""

from . import exercise

exercise.promises(
    {
        "Softmax along the last axis over the keys that the mask allows, and zeros for no keys.": (
            "allowed_keys nothing_allowed"
        ),
        "scores: (..., Lk), floating point, finite where the mask allows the key": (
            "other_sizes far_from_zero lowest_numbers"
        ),
        "elsewhere they may be anything, including infinity and NaN, and have no effect at all.": (
            "a_forbidden_score_stands_out forbidden_scores_do_not_matter"
        ),
        "mask: boolean, a shape that broadcasts to that of `scores`, True = may attend.": (
            "allowed_keys other_sizes"
        ),
        "Weights, shape and dtype of `scores`": "shape_and_dtype other_sizes",
        "exactly 0 for every forbidden key.": "allowed_keys",
        "The weights of a row sum to 1 except for rounding": (
            "far_below_zero far_from_zero lowest_numbers"
        ),
        "A row without an allowed key is all 0.": "nothing_allowed",
        "Gradients flow back to allowed scores.": "gradients",
        "The gradient of every forbidden score is 0, and a whole row without an allowed key has "
        "gradient 0.": "gradients gradients_of_infinite_scores more_gradients",
        "`scores` and `mask` stay unchanged.": "inputs_kept",
    }
)
