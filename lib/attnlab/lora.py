"""LoRA: fine-tune a large layer by a small correction, and leave the layer itself as it is.

Source: LoRA: Low-Rank Adaptation of Large Language Models (Hu et al. 2021), section 4.1.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """A linear layer that is frozen, plus a correction of low rank that is trained.

        base(x) + (alpha / rank) · B A x

    `A`, (rank, in), starts with random numbers, and `B`, (out, rank), with zeros, so at first the
    result is that of the layer. Both are parameters with the dtype and the device of the layer's
    weight.

    Args:
        base: the layer, with or without a bias; from now on its parameters take no gradient. It is
            kept as `base`.
        rank: the number of rows of A.
        alpha: the strength of the correction.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float = 1.0) -> None:
        super().__init__()
        # blank: the frozen layer, the scale, A and B
        self.base = base.requires_grad_(False)
        self.scale = alpha / rank
        weight = base.weight
        self.A = nn.Parameter(weight.new_zeros(rank, base.in_features).normal_())
        self.B = nn.Parameter(weight.new_zeros(base.out_features, rank))
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer and add the correction.

        Args:
            x: (..., in); stays unchanged.

        Returns:
            (..., out). Gradients flow back to `x`, A and B.
        """
        # blank: two paths
        result: Tensor = self.base(x) + self.scale * (x @ self.A.mT @ self.B.mT)
        return result
        # end blank

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Make one ordinary layer that gives the same results, so that using it costs no more.

        Returns:
            A new layer with a weight (and bias) of its own, which take gradients. The parts stay
            as they are.
        """
        # blank: a copy of the layer, and the correction in its weight
        layer = copy.deepcopy(self.base).requires_grad_()
        layer.weight += self.scale * (self.B @ self.A)
        return layer
        # end blank
