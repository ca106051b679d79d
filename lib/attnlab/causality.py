"""Probes that find out from a model's outputs which inputs it uses, whatever its code says."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# Two outputs that differ by no more than this are equal except for rounding.
ROUNDING = 1e-9
# Random sequences that `leaks` tries: a leak may need certain words at other positions, too.
SEQUENCES = 128


def leaks(
    fn: Callable[[Tensor], Tensor],
    T: int,  # noqa: N803 - the field's letter
    vocab: int,
) -> list[tuple[int, int]]:
    """The pairs of an output of a model and a later token on which it depends.

    Write another token at position j and run the model again: output i must not change for any
    i < j. Try every other token, because a model may react to one token in particular.

    Args:
        fn: a model: takes (B, T) token ids, int64, below `vocab`, for any B; returns (B, T, k),
            float64. Run it in the mode (training or evaluation) that it is in. It may draw random
            numbers, as dropout does, from torch's own generator: a change counts if two runs that
            start from the same `torch.manual_seed` differ. (In training mode, batch normalisation
            updates its running statistics in each run.)
        T: the number of positions.
        vocab: the number of tokens.

    Returns:
        The pairs (i, j), i < j, counted from 0 and sorted, for which some change of the token at
        position j alone changes output i of some sequence by more than ROUNDING = 1e-9 (rounding
        errors are smaller); an output that is NaN counts as changed, even if it is NaN without the
        change. Sequences of several different tokens are tried, because a leak may need certain
        tokens at other positions. An empty list means that no change was seen: the model does not
        look ahead.
    """
    ids = torch.randint(vocab, (SEQUENCES, T), generator=torch.Generator().manual_seed(0))

    def run(ids: Tensor) -> Tensor:
        torch.manual_seed(0)
        return fn(ids)

    found = set()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        before = run(ids)
        for j in range(T):
            for token in range(vocab):
                other = ids.clone()
                other[:, j] = token
                gap = (run(other) - before).abs().amax((0, 2))  # (T,)
                same = gap <= ROUNDING  # False for NaN
                found |= {(i, j) for i in range(j) if not same[i]}
    return sorted(found)


def pad_invariant(
    fn: Callable[[Tensor], Tensor],
    T: int,  # noqa: N803 - the field's letter
    vocab: int,
    pad: int,
) -> bool:
    """Whether a model gives real tokens the same outputs, however much padding is around them.

    Batches for training are padded at the end, batches for generation at the front, so both are
    tried.

    Args:
        fn: a model: takes (B, L) token ids, int64, below `vocab`, for any B and L; returns
            (B, L, k), float64. It draws no random numbers.
        T: the number of real tokens in a sequence.
        vocab: the number of tokens, the padding token included (3 or more).
        pad: the padding token, one of 0 … vocab-1. It does not occur among the real tokens.

    Returns:
        True if the outputs of T real tokens alone and of the same tokens with one to three
        padding tokens behind them, or in front of them, differ by no more than ROUNDING = 1e-9.
        False if an output of a real token is NaN. The model's outputs at padding do not matter.
    """
    real = torch.tensor([token for token in range(vocab) if token != pad])
    ids = real[torch.arange(2 * T).view(2, T) % len(real)]
    alone = fn(ids)
    for count in (1, 2, 3):
        padding = torch.full((2, count), pad)
        behind = fn(torch.cat([ids, padding], 1))[:, :T]
        in_front = fn(torch.cat([padding, ids], 1))[:, count:]
        for seen in (behind, in_front):
            if not (seen - alone).abs().max() <= ROUNDING:  # `>` would be False for NaN
                return False
    return True
