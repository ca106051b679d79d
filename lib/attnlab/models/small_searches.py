"""Models of the next symbol that are small enough to predict on paper, for a beam search.

Each function runs the student's own search and returns one number, the answer to a prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.data.dates import BOS, EOS, TARGET

BeamSearch = Callable[..., list[tuple[list[int], float]]]

_VOCABULARY = len(TARGET)  # 14
_FIRST, _SECOND = EOS + 1, EOS + 2  # any two symbols


def chance_of_a_date(beam_search: BeamSearch, loss: float) -> float:
    """The probability of ten symbols and EOS, if each of them costs `loss` nats."""

    def step(symbol: int, made: int) -> tuple[Tensor, int]:
        log_p = torch.full((_VOCABULARY,), -torch.inf)
        log_p[EOS if made == 10 else _FIRST] = -loss
        return log_p, made + 1

    return math.exp(beam_search(step, 0, BOS, EOS, 1, 12)[0][1])


def candidates_of_a_step(beam_search: BeamSearch) -> int:
    """How many candidates the second step of a beam of width 3 has, if one has just finished."""
    calls = [0, 0]

    def equal_but_for_eos(symbol: int, depth: int) -> tuple[Tensor, int]:
        calls[depth] += 1
        return torch.full((_VOCABULARY,), -3.0).index_fill(0, torch.tensor([EOS]), -1.0), depth + 1

    beam_search(equal_but_for_eos, 0, BOS, EOS, 3, 2)
    return _VOCABULARY * calls[1] + (3 - calls[1])  # the continued ones, and the finished ones


def winner_of_two(beam_search: BeamSearch) -> float:
    """The best score with alpha 1: three symbols that sum to -1.2, or five that sum to -1.5."""
    lengths, chances = {_FIRST: 3, _SECOND: 5}, {_FIRST: -0.4, _SECOND: -0.3}

    def step(symbol: int, made: int) -> tuple[Tensor, int]:
        log_p = torch.full((_VOCABULARY,), -torch.inf)
        for first in (_FIRST, _SECOND) if symbol == BOS else (symbol,):
            log_p[EOS if made + 1 == lengths[first] else first] = chances[first]
        return log_p, made + 1

    return beam_search(step, 0, BOS, EOS, 2, 9, alpha=1.0)[0][1]
