"""What depth does to a stack of blocks: the size of the stream and of each block's gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def stream_sizes(x: Tensor, blocks: Sequence[nn.Module]) -> Tensor:
    """The size of the stream, the vectors that pass through the blocks, at every depth.

    Args:
        x: (B, T, d), the input of the first block; stays unchanged.
        blocks: N modules from (B, T, d) to (B, T, d); each gets the output of the one before.

    Returns:
        (N + 1,): the standard deviation of all numbers of the stream (`Tensor.std()` as it is),
        first of `x` itself and then after each block; without a gradient.
    """
    sizes = [x.std()]
    with torch.no_grad():
        for block in blocks:
            x = block(x)
            sizes.append(x.std())
    return torch.stack(sizes).detach()


def gradient_norms(loss: Tensor, blocks: Sequence[nn.Module]) -> Tensor:
    """The length of each block's gradient: all of its parameters taken together as one vector.

    Args:
        loss: one number, computed by a model that the blocks are part of.
        blocks: N modules. A parameter on which the loss does not depend counts as a gradient of 0.

    Returns:
        (N,): for each block the Euclidean norm, the root of the sum of squares of every number in
        the gradients of its parameters. The `.grad` of all parameters stays as it was.
    """
    parameters = [list(block.parameters()) for block in blocks]
    every = [parameter for own in parameters for parameter in own]
    gradients = iter(torch.autograd.grad(loss, every, allow_unused=True, materialize_grads=True))
    none = loss.new_zeros(())
    squares = [sum((next(gradients).square().sum() for _ in own), none) for own in parameters]
    return torch.stack(squares).sqrt()
