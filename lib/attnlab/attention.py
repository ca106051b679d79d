"""Attention: every word looks at every other and takes a weighted mean of what it sees."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlab.softmax import softmax


def basic_self_attention(
    X: Tensor,  # noqa: N803 - the lectures' letter
    mode: str = "softmax",
    similarity: Tensor | None = None,
) -> Tensor:
    """Move every word towards the words that it resembles; no parameters, only means.

    Word i becomes Σ_j weight(i, j) · X[j]. Row i of the weights is row i of the similarities,
    normalised over all words j, word i itself included.

    Args:
        X: (..., T, d), one vector for each of T words.
        mode: "softmax": normalise a row of similarities by softmax; "sum": divide it by its sum,
            as lecture N does. A row that holds nothing but zeros then gives the zero vector.
        similarity: (T, T) or (..., T, T): entry (i, j) says how much word j matters to word i.
            None: the dot products of the words' vectors, X[i] · X[j], as they are.

    Returns:
        (..., T, d), the moved vectors.

    Source: lectures N (basic self-attention), S (encode(i) = Σ_j weight(i, j) value_j).
    """
    scores = X @ X.mT if similarity is None else similarity  # (..., T, T)
    if mode == "softmax":
        weights = softmax(scores)  # each row sums to 1
    else:
        total = scores.sum(-1, keepdim=True)  # (..., T, 1)
        weights = torch.where(total == 0, 0.0, scores / total)
    return weights @ X
