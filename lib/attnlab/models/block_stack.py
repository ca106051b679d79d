"""A deep stack of untrained Transformer blocks, to measure what depth does at the start.

Each block has a causal self-attention and a feed-forward network, each inside a residual. The
residual and the network are the student's own classes. Tested in tests/attnlab/test_depth.py.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.multihead import MultiHeadAttention

D_MODEL, HEADS, D_FF = 32, 4, 128
SYMBOLS = 37
LENGTH, BATCH = 12, 8

Make = Callable[..., nn.Module]


class Block(nn.Module):
    """One Transformer block of a decoder: look back, then think.

    Args:
        residual: called as ``residual(d_model, mode=mode)``, twice.
        feed_forward: called as ``feed_forward(d_model, d_ff)``.
        mode: "pre" or "post".
    """

    def __init__(self, residual: Make, feed_forward: Make, mode: str) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(D_MODEL, HEADS)
        self.feed_forward = feed_forward(D_MODEL, D_FF)
        self.around_attention = residual(D_MODEL, mode=mode)
        self.around_feed_forward = residual(D_MODEL, mode=mode)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D_MODEL) to (B, T, D_MODEL)."""
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        x = self.around_attention(x, lambda y: self.attention(y, y, y, mask))
        out: Tensor = self.around_feed_forward(x, self.feed_forward)
        return out


class BlockStack(nn.Module):
    """Blocks one after the other, and a layer that predicts a symbol at every position.

    With "pre", a last normalisation follows the blocks, as in every pre-norm model; with "post",
    each block already ends in one.

    Args:
        depth: the number of blocks.
        mode: "pre" or "post".
        residual, feed_forward: see :class:`Block`.
        seed: of the weights: Xavier's for every matrix, biases 0.
    """

    def __init__(
        self, depth: int, mode: str, residual: Make, feed_forward: Make, seed: int = 0
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(residual, feed_forward, mode) for _ in range(depth))
        self.norm = nn.LayerNorm(D_MODEL) if mode == "pre" else nn.Identity()
        self.head = nn.Linear(D_MODEL, SYMBOLS)
        generator = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D_MODEL) to (B, T, SYMBOLS), the scores of the symbols."""
        stream = nn.Sequential(*self.blocks)(x)
        scores: Tensor = self.head(self.norm(stream))
        return scores


def some_input(seed: int = 0) -> tuple[Tensor, Tensor]:
    """A stream (BATCH, LENGTH, D_MODEL) of standard normal numbers, and random right symbols."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(BATCH, LENGTH, D_MODEL, generator=generator)
    return x, torch.randint(SYMBOLS, (BATCH, LENGTH), generator=generator)


def loss_of(model: BlockStack, x: Tensor, symbols: Tensor) -> Tensor:
    """The cross-entropy of a stack's predictions, one number."""
    return nn.functional.cross_entropy(model(x).flatten(0, 1), symbols.flatten())


def measured(
    mode: str,
    depth: int,
    residual: Make,
    feed_forward: Make,
    stream_sizes: Callable[..., Tensor],
    gradient_norms: Callable[..., Tensor],
) -> tuple[Tensor, Tensor]:
    """The mean over three seeds of what two functions measure on a stack.

    Args:
        mode: "pre" or "post".
        depth: the number of blocks.
        residual, feed_forward: see :class:`Block`.
        stream_sizes: called as ``stream_sizes(x, blocks)``.
        gradient_norms: called as ``gradient_norms(loss, blocks)``.

    Returns:
        The size of the stream at every depth, (depth + 1,), and the length of each block's
        gradient, (depth,).
    """
    sizes, norms = [], []
    for seed in range(3):
        model = BlockStack(depth, mode, residual, feed_forward, seed)
        x, symbols = some_input(seed)
        sizes.append(stream_sizes(x, model.blocks))
        norms.append(gradient_norms(loss_of(model, x, symbols), model.blocks))
    return torch.stack(sizes).mean(0), torch.stack(norms).mean(0)
