"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "The mean surprise at all digits of all answers, in nats.": "loss_of_all_digits",
        "One number, the mean over all B · n digits, in the dtype of `logits`. Gradients flow "
        "back to `logits`.": "loss_of_all_digits other_sizes",
        "How much attention each head pays, on average, to each of the places that matter.": (
            "where_heads_look"
        ),
        "(h, n): row i, column j is the mean over all questions of head i's weight on the "
        "question's j-th box.": "where_heads_look any_number_of_places",
        "In the dtype of `weights`, which stay unchanged.": "where_heads_look any_number_of_places",
    },
    explained=[
        "logits: (B, n, V), scores for the V possible digits, for each of B questions and each "
        "of its n digits. answers: (B, n), int64, the right digits, 0 … V-1, in the same order.",
        "weights: (B, h, T), each head's attention weights on T boxes, for B questions. "
        "places: (B, n), int64, the n boxes in each question: 0 … T-1.",
    ],
)
