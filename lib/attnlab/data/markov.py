"""Sources of symbols whose entropy is known exactly: the next symbol depends on the last two.

Every pair of symbols has an urn of 64 tickets, each with a symbol on it. The next symbol is on a
ticket drawn from the urn of the last two symbols. So all probabilities are known. No predictor of
the next symbol, of any size, has a lower loss than the entropy rate of the source: 1.373 nats. A
predictor with a lower loss has seen the answer.

A second source has 24 symbols and 576 urns, so small models cannot know all of them. Its entropy
rate is 0.989 nats.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

import torch
from torch import Tensor

NUM_SYMBOLS = 8
TICKETS = 64
# The numbers of tickets with an urn's 1st, 2nd … 8th symbol: from nearly certain to nearly uniform.
_SHARES = (
    (52, 4, 2, 2, 1, 1, 1, 1),
    (40, 12, 4, 3, 2, 1, 1, 1),
    (30, 14, 8, 4, 3, 2, 2, 1),
    (22, 14, 10, 6, 5, 3, 2, 2),
    (16, 12, 10, 8, 6, 5, 4, 3),
)
_COURSE_SEED = 495  # of a few thousand seeds, the one with an entropy rate of 1.373 nats
_SPARSE_SYMBOLS, _SPARSE_SEED = 24, 3  # with this seed all pairs of symbols occur
_NEW_SYMBOL = (
    1.2  # how likely a ticket of the sparse source has a newly drawn symbol; see _sparse_urn
)
_WARM_UP = 64  # symbols dropped from the start, so that all sequences have the same distribution
# The quarters of all possible sequences that belong to each split: no sequence can be in two.
_QUARTERS = {"train": (0, 1), "validation": (2,), "hidden": (3,)}


@dataclass(frozen=True, eq=False)  # equality of tensors is not a single answer
class MarkovSource:
    """An order-2 Markov source.

    Attributes:
        urns: (V, V, 64), int64: entry [a, b] has the symbols on the tickets after symbols a, b.
    """

    urns: Tensor

    @property
    def transitions(self) -> Tensor:
        """(V, V, V), float64: the probability of each symbol after the symbols a, b."""
        symbols = torch.arange(len(self.urns))
        counts = (self.urns[..., None] == symbols).sum(-2)  # (V, V, V)
        return counts.double() / TICKETS

    @property
    def pairs(self) -> Tensor:
        """(V, V), float64: how often the symbols a, b follow each other, in the long run."""
        transitions = self.transitions
        symbols = len(self.urns)
        share = torch.full((symbols, symbols), symbols**-2.0, dtype=torch.float64)
        for _ in range(200):
            share = (share[..., None] * transitions).sum(0)  # (a, b, c) -> (b, c)
        return share

    @property
    def entropy_rate(self) -> float:
        """The entropy of the next symbol if all before it are known, in nats: the lowest loss."""
        return self.entropies[-1]

    @property
    def entropies(self) -> tuple[float, float, float]:
        """The entropy of the next symbol in nats if none, one and two before it are known."""
        pairs = self.pairs
        none, two = _entropy(pairs.sum(0)), _entropy(pairs)
        rows = -torch.xlogy(self.transitions, self.transitions).sum(-1)  # (V, V)
        return none, two - none, float((pairs * rows).sum())

    def sequences(self, split: str, count: int, length: int, seed: int = 0) -> Tensor:
        """Draw sequences. No sequence can be in two splits, whatever the seeds.

        Args:
            split: "train", "validation" or "hidden".
            count: the number of sequences, 1 or more.
            length: symbols in each; from 16 on, two equal sequences are unlikely.
            seed: equal seeds give equal bytes, on every machine.

        Returns:
            (count, length), int64, symbols from 0 to V-1.

        Raises:
            ValueError: `split` is another word, or `count` is less than 1.
        """
        if split not in _QUARTERS:
            raise ValueError(f"no split {split!r}; there are {', '.join(_QUARTERS)}")
        if count < 1:
            raise ValueError(f"{count} sequences: ask for 1 or more")
        quarters, chance = _QUARTERS[split], random.Random(f"markov {split} {seed}")  # noqa: S311
        kept: list[Tensor] = []
        while len(kept) < count:
            kept += [ids for ids in self._draw(256, length, chance) if _quarter(ids) in quarters]
        return torch.stack(kept[:count])

    def _draw(self, count: int, length: int, chance: random.Random) -> Tensor:
        steps = _WARM_UP + length
        drawn = bytearray(chance.randbytes(count * steps))
        ticket = torch.frombuffer(drawn, dtype=torch.uint8).reshape(steps, count).long() % TICKETS
        before = last = torch.zeros(count, dtype=torch.int64)
        symbols = []
        for step in ticket:
            before, last = last, self.urns[before, last, step]
            symbols.append(last)
        return torch.stack(symbols[_WARM_UP:], dim=1)  # (count, length)


def course_source() -> MarkovSource:
    """The source of the labs: 8 symbols, an entropy rate of 1.373 nats."""
    chance = random.Random(_COURSE_SEED)  # noqa: S311
    urns = torch.empty(NUM_SYMBOLS, NUM_SYMBOLS, TICKETS, dtype=torch.int64)
    for urn in urns.view(-1, TICKETS):
        shares = _SHARES[int(chance.random() * len(_SHARES))]
        order = sorted(range(NUM_SYMBOLS), key=lambda _: chance.random())
        urn.copy_(torch.tensor(order).repeat_interleave(torch.tensor(shares)))
    return MarkovSource(urns)


def sparse_source() -> MarkovSource:
    """A source of 24 symbols in which few can follow a pair: an entropy rate of 0.989 nats."""
    chance = random.Random(f"sparse {_SPARSE_SEED}")  # noqa: S311
    symbols = range(_SPARSE_SYMBOLS)
    return MarkovSource(torch.tensor([[_sparse_urn(chance) for _ in symbols] for _ in symbols]))


def _sparse_urn(chance: random.Random) -> list[int]:
    """64 tickets: each repeats a random earlier one, or, ever more rarely, has any symbol.

    The shares of the symbols then have a Dirichlet distribution with 1.2 / 24 for each.
    """
    tickets: list[int] = []
    for drawn in range(TICKETS):
        if chance.random() * (_NEW_SYMBOL + drawn) < _NEW_SYMBOL:
            tickets.append(int(chance.random() * _SPARSE_SYMBOLS))
        else:
            tickets.append(tickets[int(chance.random() * drawn)])
    return tickets


def _entropy(p: Tensor) -> float:
    return float(-torch.xlogy(p, p).sum())


def _quarter(ids: Tensor) -> int:
    return hashlib.sha256(bytes(ids.tolist())).digest()[0] % 4
