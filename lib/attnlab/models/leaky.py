"""Six small language models to examine with probes. Some keep their promises.

Each takes (B, T) token ids and returns (B, T, WIDTH) numbers in float64. All six promise two
things: no output depends on a later token, and padding (the token PAD), wherever it is, changes
nothing for the real tokens. They have no positions, and they are in training mode, as they would be
trained. You may read their code after a probe has found a leak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own habit

from attnlab.notebook.not_right_yet import failing_note
from attnlab.notebook.unwritten import why_not

VOCAB, PAD = 7, 3
WIDTH, D_K = 6, 4


class OneLayer(nn.Module):
    """Embeddings and one head of attention; a subclass decides how positions are mixed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def weight(rows: int, columns: int) -> nn.Parameter:
            numbers = torch.randn(rows, columns, generator=generator, dtype=torch.float64)
            return nn.Parameter(numbers, requires_grad=False)

        self.embedding = weight(VOCAB, WIDTH)
        self.W_q, self.W_k = weight(WIDTH, D_K), weight(WIDTH, D_K)
        self.W_v = weight(WIDTH, WIDTH)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) token ids to (B, T, WIDTH)."""
        x = self.embedding[ids]  # (B, T, WIDTH)
        return x + self.mix(x @ self.W_q, x @ self.W_k, x @ self.W_v, ids != PAD)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:
        """Attend.

        Args:
            q: (B, T, D_K), queries.
            k: (B, T, D_K), keys.
            v: (B, T, WIDTH), values.
            real: (B, T), boolean, True where the token is not PAD.

        Returns:
            (B, T, WIDTH).
        """
        raise NotImplementedError


def attend(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    """Attention over the keys where `allowed`, (B, Lq, Lk), is True; zeros if none is."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).nan_to_num()


class ModelA(OneLayer):  # noqa: D101
    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        T = q.shape[1]  # noqa: N806
        later = torch.ones(T, T, dtype=torch.bool).triu(2)
        return attend(q, k, v, real[:, None, :] & ~later)


class ModelB(OneLayer):  # noqa: D101
    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class ModelC(OneLayer):  # noqa: D101
    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        place = torch.arange(q.shape[1])
        return attend(q, k, v, real[:, None, :] & (place[:, None] >= place))


class ModelD(OneLayer):  # noqa: D101
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.norm = nn.BatchNorm1d(WIDTH, dtype=torch.float64)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        later = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).triu(1)
        mixed = attend(q, k, v, real[:, None, :] & ~later)
        return self.norm(mixed.flatten(0, 1)).view_as(mixed)


class ModelE(OneLayer):  # noqa: D101
    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        later = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).triu(1)
        hidden = later | ~real[:, None, :]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=hidden).nan_to_num()


class ModelF(OneLayer):  # noqa: D101
    newest = 5  # the cache keeps this many keys and values

    def mix(self, q: Tensor, k: Tensor, v: Tensor, real: Tensor) -> Tensor:  # noqa: D102
        k, v, real = k[:, -self.newest :], v[:, -self.newest :], real[:, -self.newest :]
        # A triangle, as scaled_dot_product_attention makes it for is_causal=True.
        triangle = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(0)
        return attend(q, k, v, real[:, None, :] & triangle)


def models() -> dict[str, nn.Module]:
    """The six models by their letters; each call makes new ones with the same weights."""
    kinds = {"A": ModelA, "B": ModelB, "C": ModelC, "D": ModelD, "E": ModelE, "F": ModelF}
    return {name: kind(seed) for seed, (name, kind) in enumerate(kinds.items())}


def print_evidence(
    leaks: Callable[..., list[tuple[int, int]]],
    pad_invariant: Callable[..., bool],
    suspects: Mapping[str, nn.Module],
    T: int,  # noqa: N803 - the field's letter
) -> None:
    """Print what two probes say about each model, and whether the probes are right.

    Args:
        leaks: called as ``leaks(model, T, vocab)``; returns pairs (output, later token).
        pad_invariant: called as ``pad_invariant(model, T, vocab, pad)``.
        suspects: the models, by name.
        T: the number of positions.
    """
    for name, model in suspects.items():
        try:
            steps = [int(j - i) for i, j in leaks(model, T, VOCAB)]
            kept = pad_invariant(model, T - 2, VOCAB, PAD)
        except Exception as error:
            print(f"{name}: no evidence yet: {why_not(error, leaks, pad_invariant)}")
            continue
        padding = "changes nothing" if kept else "changes its outputs"
        ahead = f"looks ahead by {max(steps, default=0)} at most"
        if min(steps, default=1) < 1:
            ahead = "your `leaks` reports tokens that do not come later"
        print(f"{name}: {ahead}; padding {padding}")
    if doubt := failing_note(leaks, pad_invariant):
        print(f"({doubt})")
