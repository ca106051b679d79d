"""The parts between two attentions: normalisation, the feed-forward network, the residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Normalise each vector by its own mean and variance; then scale and shift each feature.

    For a vector x with the mean μ and the variance σ² of its d_model features (the mean of the
    squared deviations, so divided by d_model), the result is

        (x - μ) / √(σ² + eps) · weight + bias

    The parameters `weight` (ones at first) and `bias` (zeros at first), both (d_model,), have the
    names of `nn.LayerNorm`, so that weights can be loaded from one into the other. (Lecture G calls
    them α and β, other texts γ and β.)

    Args:
        d_model: features of a vector.
        eps: keeps the root away from 0.

    Source: Layer Normalization (Ba, Kiros, Hinton 2016); lectures G, W, C.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # blank: eps and the two parameters
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Normalise along the last axis; each vector alone, whatever the others are.

        Args:
            x: (..., d_model), with any number of axes before the last; stays unchanged.

        Returns:
            (..., d_model), in the dtype of `x` if the parameters have that dtype. It is accurate
            for vectors far from 0, too (mean 10,000, deviation 1). A vector of equal numbers gives
            the bias. Gradients flow back to `x` and to both parameters, through the mean and the
            variance, too; they are finite for every finite vector.
        """
        # blank: mean, variance, root
        mean = x.mean(-1, keepdim=True)  # (..., 1)
        deviation = x - mean  # (..., d_model)
        variance = deviation.square().mean(-1, keepdim=True)  # (..., 1)
        return deviation / (variance + self.eps).sqrt() * self.weight + self.bias
        # end blank


class RMSNorm(nn.Module):
    """Divide each vector by the root of its mean square; then scale each feature.

        x / √(mean of x² + eps) · weight

    Unlike `LayerNorm`, it subtracts no mean and adds no bias. The parameter `weight` (ones at
    first), (d_model,), has the name of `nn.RMSNorm`.

    Args:
        d_model: features of a vector.
        eps: keeps the root away from 0.

    Source: Root Mean Square Layer Normalization (Zhang, Sennrich 2019).
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # blank: eps and the parameter
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Normalise along the last axis.

        Args:
            x: (..., d_model); stays unchanged.

        Returns:
            (..., d_model). A vector of zeros gives zeros. Gradients flow back to `x` and `weight`.
        """
        # blank: the root of the mean square
        mean_square = x.square().mean(-1, keepdim=True)  # (..., 1)
        return x / (mean_square + self.eps).sqrt() * self.weight
        # end blank


class FeedForward(nn.Module):
    """The position-wise feed-forward network: two linear layers with a ReLU between them.

        max(0, x W₁ + b₁) W₂ + b₂

    The layers are two `nn.Linear` with biases: `linear1`, d_model → d_ff, and `linear2`,
    d_ff → d_model.

    Args:
        d_model: features of the input and of the output.
        d_ff: features in between.
        dropout: the probability that a feature is dropped in training, as in `nn.Dropout`, after
            the ReLU and nowhere else.

    Source: Attention Is All You Need, section 3.3; lectures W, S, G, C.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        # blank: two layers and dropout
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Send each vector through the same network; no vector sees another.

        Args:
            x: (..., d_model), with any number of axes before the last; stays unchanged.

        Returns:
            (..., d_model). Gradients flow back to `x` and to all parameters.
        """
        # blank: linear, ReLU, dropout, linear
        hidden = self.linear1(x).relu()  # (..., d_ff)
        return self.linear2(self.dropout(hidden))  # (..., d_model)
        # end blank


class Residual(nn.Module):
    """Add a sublayer's output to its input; normalise before the sublayer or after the sum.

    With the normalisation `norm`, a `LayerNorm(d_model)`, and dropout on the sublayer's output:

        "pre":   x + dropout(sublayer(norm(x)))
        "post":  norm(x + dropout(sublayer(x)))

    Args:
        d_model: features of a vector.
        dropout: the probability that an entry of the sublayer's output is dropped in training, as
            in `nn.Dropout`.
        mode: "pre" or "post".

    Raises:
        ValueError: `mode` is another word.

    Source: Attention Is All You Need, sections 3.1 and 5.4 (post); lecture C (both).
    """

    def __init__(
        self, d_model: int, dropout: float = 0.0, mode: Literal["pre", "post"] = "pre"
    ) -> None:
        super().__init__()
        # blank: a normalisation, dropout, and the mode
        if mode not in ("pre", "post"):
            raise ValueError(f'mode is "pre" or "post", not {mode!r}')
        self.mode = mode
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        # end blank

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a sublayer around which the input flows.

        Args:
            x: (B, T, d_model), the stream; stays unchanged.
            sublayer: from (B, T, d_model) to (B, T, d_model); it is called once.

        Returns:
            (B, T, d_model). Gradients flow back to `x`, past the sublayer and through it.
        """
        # blank: the two formulas
        if self.mode == "pre":
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
        # end blank
