"""Two warm-up functions: a tensor with a given shape, and a mean along one axis."""

from __future__ import annotations

import torch
from torch import Tensor


def hello_tensor() -> Tensor:
    """The whole numbers from 0 to 23 in reading order, as two pages of three rows and four columns.

    Returns:
        (2, 3, 4), float32: entry [0, 0, 0] is 0, [0, 0, 1] is 1, and [1, 2, 3] is 23. Each call
        returns a new tensor.
    """
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)


def sentence_means(x: Tensor) -> Tensor:
    """One vector for each sentence: the mean of its words' vectors.

    Args:
        x: (B, T, d): B sentences of T words, each word a vector of d features.

    Returns:
        (B, d), in the dtype of `x`. Gradients flow back to `x`, and it stays unchanged.
    """
    return x.mean(1)
