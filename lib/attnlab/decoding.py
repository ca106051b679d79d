"""From a model of the next symbol to a whole sequence: one symbol after another, or in a beam.

A model says how likely each next symbol is. Which sequence is likeliest is a search: greedy takes
the best next symbol and never looks back; beam search keeps several hypotheses alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def greedy(
    model: Any, source: Tensor, source_mask: Tensor, bos: int, eos: int, max_len: int
) -> list[list[int]]:
    """Decode a batch by taking the likeliest next symbol at every step.

    The first step is fed `bos`, each later one the symbol that the step before chose. A sentence
    is over at its first `eos`; the batch goes on until every sentence is over, or `max_len` steps
    were made. No gradients are recorded: the model runs under `torch.no_grad()`.

    Args:
        model: with two things to call:
            `model.encode(source, source_mask)` → hidden (B, S, d_hidden) and state (B, d_state);
            `model.cell(y_prev, state, hidden, source_mask)` → logits (B, V), new state, weights.
            The source is read once.
        source: (B, S), int64.
        source_mask: (B, S), boolean, True where a symbol stands.
        bos: the symbol that every sentence starts from.
        eos: the symbol that ends a sentence.
        max_len: the most steps, and so the most symbols of a sentence; 1 or more.

    Returns:
        B lists of Python ints: the symbols of each sentence, without `bos`, and without its `eos`
        and whatever came after.

    Source: lectures W (one token after another) and N (decoding process).
    """
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        y_prev = torch.full((len(source),), bos)
        over = torch.zeros(len(source)).bool()
        chosen: list[Tensor] = []
        while len(chosen) < max_len and not over.all():
            logits, state, _ = model.cell(y_prev, state, hidden, source_mask)
            y_prev = logits.argmax(1)  # (B,)
            over = over | (y_prev == eos)
            chosen.append(y_prev)
    rows = torch.stack(chosen, 1).tolist()  # B lists of as many symbols as there were steps
    return [row[: row.index(eos)] if eos in row else row for row in rows]


def beam_search(
    step: Callable[[int, Any], tuple[Tensor, Any]],
    state: Any,
    bos: int,
    eos: int,
    width: int,
    max_len: int,
    alpha: float = 0.0,
) -> list[tuple[list[int], float]]:
    """Search for likely sequences, keeping the `width` best hypotheses after every step.

    A hypothesis is the beginning of a sequence. Its score is the sum of the log-probabilities of
    its symbols, divided by (number of its symbols)**alpha; `eos` counts as a symbol, `bos` does
    not. Hypotheses are compared by their scores, after every step and at the end. One step:

    - a hypothesis that ends with `eos` is finished: it is a candidate as it is;
    - any other one is continued by each symbol of the vocabulary, and each continuation is a
      candidate (but for those of log-probability -inf);
    - the `width` candidates of the highest score are kept (all, where there are fewer).

    The search starts from the one hypothesis that holds nothing but `bos`, and is over when all
    that are kept are finished, or after `max_len` steps.

    Args:
        step: called as ``step(symbol, state)`` with a hypothesis' last symbol (at first `bos`)
            and its own state, the one that `step` returned when that symbol's predecessor went
            in; returns the log-probability of each next symbol, (V,), and the next state.
        state: where a sequence starts from; only `step` knows what it is.
        bos: the symbol that every sequence starts from.
        eos: the symbol that ends a sequence.
        width: how many hypotheses are kept; 1 or more, and it may be more than V.
        max_len: the most steps; 1 or more.
        alpha: 0 compares sums of log-probabilities, 1 compares means; 0 or more.

    Returns:
        At most `width` pairs, best first: the symbols, a list of Python ints without `bos` (an
        `eos` at the end stays), and their score, a Python float.

    Source: lecture G (beam search); Wu et al. 2016, section 7 (length normalisation).
    """

    def score(hypothesis: tuple[list[int], float, Any]) -> float:
        symbols, total, _ = hypothesis
        return total / len(symbols) ** alpha

    beam: list[tuple[list[int], float, Any]] = [([], 0.0, state)]
    for _ in range(max_len):
        candidates = []
        for symbols, total, place in beam:
            if symbols[-1:] == [eos]:
                candidates.append((symbols, total, place))
                continue
            log_p, next_place = step(symbols[-1] if symbols else bos, place)
            for symbol, more in enumerate(log_p.tolist()):
                if more > -math.inf:
                    candidates.append(([*symbols, symbol], total + more, next_place))
        beam = sorted(candidates, key=score, reverse=True)[:width]
        if all(symbols[-1] == eos for symbols, _, _ in beam):
            break
    return [(hypothesis[0], score(hypothesis)) for hypothesis in beam]


def one_sentence(
    model: Any, source: Tensor, source_mask: Tensor
) -> tuple[Callable[[int, Tensor], tuple[Tensor, Tensor]], Tensor]:
    """A model and one sentence as `beam_search` wants them: a step function and a first state.

    Args:
        model: as for `greedy`.
        source: (1, S), int64.
        source_mask: (1, S), boolean.

    Returns:
        step: from a symbol and a state (1, d_state) to log-probabilities (V,) and the new state;
        the state that the decoder starts from, (1, d_state).
    """
    with torch.no_grad():
        hidden, start = model.encode(source, source_mask)

    @torch.no_grad()
    def step(symbol: int, state: Tensor) -> tuple[Tensor, Tensor]:
        logits, new_state, _ = model.cell(torch.tensor([symbol]), state, hidden, source_mask)
        return logits[0].log_softmax(-1), new_state  # (V,), (1, d_state)

    return step, start
