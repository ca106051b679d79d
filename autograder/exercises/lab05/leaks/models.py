"""Models that the checks of `leaks` ask about, and the way in which they ask."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Mixer(nn.Module):
    """Embeddings, one attention over the places where `allowed(ids)` is True, dropout."""

    def __init__(self, table, allowed, dropout=0.0, norm=None):
        super().__init__()
        self.table, self.allowed, self.dropout, self.norm = table, allowed, dropout, norm

    def forward(self, ids):
        refuse_other_inputs(ids)
        x, allowed = self.table[ids], self.allowed(ids)
        scores = (x @ x.mT).masked_fill(~allowed, -1e300)
        mixed = x + scores.softmax(-1).masked_fill(~allowed, 0.0) @ x
        if self.norm is not None:
            mixed = self.norm(mixed.flatten(0, 1)).view_as(mixed)
        return F.dropout(mixed, self.dropout, self.training)


def refuse_other_inputs(ids):
    """Raise ValueError, in one sentence, if these are not token ids of a batch."""
    if not isinstance(ids, Tensor):
        found = f"a {type(ids).__name__}"
    elif ids.ndim == 2 and ids.dtype == torch.int64:
        return
    else:
        dtype = str(ids.dtype).removeprefix("torch.")
        found = f"shape {tuple(ids.shape)}, {dtype}"
    raise ValueError(f"the model takes a tensor of token ids, shape (B, T), int64, and got {found}")


def careful(fn):
    """The same model; a function refuses other inputs than token ids, as a `Mixer` does."""

    def asked(ids):
        refuse_other_inputs(ids)
        return fn(ids)

    return fn if isinstance(fn, nn.Module) else asked


def up_to(offset):
    """Query i may attend to keys up to i + offset."""
    return lambda ids: torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril(offset)


def rounded(model):
    """Outputs that change by 1e-12 with each place. Real sums round as the processor does."""
    return lambda ids: model(ids) + 1e-12 * ids.shape[1]


def real_keys(pad, causal=False):
    """Queries may attend to keys that are not padding; if causal, only to those up to their own."""

    def allowed(ids):
        return (ids != pad)[:, None, :] & (up_to(0)(ids) if causal else torch.tensor(True))

    return allowed


def other_at_padding(table, pad, behind):
    """The mean of the real tokens at each place; another number at padding on one side."""

    def fn(ids):
        real = ids != pad
        shown = table[ids] * real[..., None]
        mean = shown.sum(1, keepdim=True) / real.sum(1).clamp(min=1)[:, None, None]
        begun = real.long().cumsum(1) > 0
        return mean + 1e6 * (~real & (begun == behind))[..., None]

    return rounded(fn)


def pairs(lab, fn, length, vocab):
    """What `leaks` finds: a list of pairs of Python numbers, whatever type the numbers had."""
    found = lab.leaks(careful(fn), length, vocab)
    return sorted([int(i), int(j)] for i, j in found)


def seen_leak(lab, fn, length, vocab, distance):
    """Whether `leaks` finds all pairs of an output and the token `distance` places behind it."""
    found = pairs(lab, fn, length, vocab)
    missed = any([i, i + distance] not in found for i in range(length - distance))
    return "the leak is missed" if missed else "the leak is found"


def invariant(lab, fn, length, vocab, pad):
    """What `pad_invariant` says about the model."""
    answer = lab.pad_invariant(careful(fn), length, vocab, pad)
    return "your answer is True" if answer else "your answer is False"
