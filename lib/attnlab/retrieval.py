"""Measures of a model with two answers: its loss, and the places where each head attends."""

from __future__ import annotations

from torch import Tensor

from attnlab.softmax import cross_entropy


def answer_loss(logits: Tensor, answers: Tensor) -> Tensor:
    """The mean surprise at all digits of all answers, in nats.

    Args:
        logits: (B, n, V), scores for the V possible digits, for each of B questions and each of
            its n digits.
        answers: (B, n), int64, the right digits, 0 … V-1, in the same order.

    Returns:
        One number, the mean over all B · n digits, in the dtype of `logits`. Gradients flow back to
        `logits`.
    """
    return cross_entropy(logits.flatten(0, 1), answers.flatten())


def weight_on(weights: Tensor, places: Tensor) -> Tensor:
    """How much attention each head pays, on average, to each of the places that matter.

    Args:
        weights: (B, h, T), each head's attention weights on T boxes, for B questions.
        places: (B, n), int64, the n boxes in each question: 0 … T-1.

    Returns:
        (h, n): row i, column j is the mean over all questions of head i's weight on the question's
        j-th box. In the dtype of `weights`, which stay unchanged.
    """
    heads = weights.shape[1]
    wanted = places[:, None].expand(-1, heads, -1)  # (B, h, n)
    return weights.gather(2, wanted).mean(0)  # (h, n)
