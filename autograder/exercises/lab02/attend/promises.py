"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Turn scores into weights, and weights into one context vector for each sentence.": (
            "without_padding"
        ),
        "scores: (B, T), a finite score for every position.": "without_padding with_padding",
        "mask: (B, T), boolean: True where there is a token.": "with_padding",
        "Padding gets weight exactly 0, whatever its score and vector (finite numbers), and no "
        "gradient.": "with_padding huge_padding gradients",
        "None: every position counts.": "without_padding gradients",
        "(B, d_hidden), the context Σ_i weight_i · hidden_i, and (B, T), the weights, both in "
        "the dtype of `scores`.": "shapes_and_types without_padding other_sizes",
        "The weights of a sentence sum to 1 over its tokens;": "with_padding",
        "a sentence that is all padding gets weights and a context of 0.": "sentence_of_padding",
        "Gradients flow back to scores and vectors, and the inputs stay unchanged.": "gradients",
    },
    explained=[
        "hidden: (B, T, d_hidden), the vectors of which the context is the weighted mean, in the "
        "dtype of `scores`.",
    ],
)
