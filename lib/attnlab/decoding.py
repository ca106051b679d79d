"""From a model of the next symbol to a whole sequence: greedy decoding and beam search.

A model says how likely each next symbol is. To find the likeliest sequence, we must search. Greedy
decoding takes the best next symbol and never changes it; beam search keeps several hypotheses.
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

    The first step is fed `bos`, and each later one is fed the symbol that the previous step chose.
    A sentence ends at its first `eos`. Decoding runs until every sentence has ended, or for
    `max_len` steps. No gradients are recorded: the model runs under `torch.no_grad()`.

    Args:
        model: with two functions:
            `model.encode(source, source_mask)` → hidden (B, S, d_hidden) and state (B, d_state);
            `model.cell(y_prev, state, hidden, source_mask)` → logits (B, V), new state, weights.
            The source is read once.
        source: (B, S), int64.
        source_mask: (B, S), boolean, True where there is a symbol.
        bos: the symbol that starts every sentence.
        eos: the symbol that ends a sentence; it is not `bos`.
        max_len: the largest number of steps, and so of symbols in a sentence; 1 or more.

    Returns:
        B lists of Python ints: the symbols of each sentence, without `bos`, and without its first
        `eos` and all symbols after it.

    Source: lectures W (one token after another) and N (decoding process).
    """
    with torch.no_grad():
        hidden, state = model.encode(source, source_mask)
        y_prev = source.new_full((len(source),), bos)  # on the device of the source
        over = source_mask.new_zeros(len(source))
        chosen: list[Tensor] = []
        while len(chosen) < max_len and not over.all():
            logits, state, _ = model.cell(y_prev, state, hidden, source_mask)
            y_prev = logits.argmax(1)  # (B,)
            over = over | (y_prev == eos)
            chosen.append(y_prev)
    rows = torch.stack(chosen, 1).tolist()  # B lists with one symbol per step
    return [row[: row.index(eos)] if eos in row else row for row in rows]


def greedy_decode(
    model: Any,
    source: Tensor,
    source_valid: Tensor,
    bos: int,
    eos: int,
    pad: int = 0,
    max_extra: int = 50,
) -> Tensor:
    """Write a target for each source of a batch by taking the likeliest symbol at every step.

    The model reads `bos` first, and then `bos` and what it has written itself. A row ends when it
    has written `eos`, or as many symbols (`eos` counts) as its own source has, plus `max_extra`.
    After its end a row gets `pad`, and the others go on until all have ended.

    The source is encoded once. The model runs in evaluation mode and without gradients; afterwards
    it is in the mode in which it came.

    Args:
        model: an `nn.Module` with two functions:
            `model.encode(source, source_valid)` → memory (B, S, d_model);
            `model.decode(target, memory, source_valid)` → logits (B, T, V). Those at a position
            are for the symbol after it.
        source: (B, S), int64; stays unchanged.
        source_valid: (B, S), boolean, True where there is a symbol; at least one in each row.
        bos: the symbol that starts every sentence.
        eos: the symbol that ends one.
        pad: the symbol that fills up short rows.
        max_extra: how many more symbols a target may have than its source; 0 or more.

    Returns:
        (B, T), int64: what each row has written, without `bos`; T is the most that a row has
        written. Of equally likely symbols, the one with the smallest number is taken.

    Source: lectures W, N (one token after another); Attention Is All You Need, section 6.1 (limit).
    """
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            memory = model.encode(source, source_valid)
            limits = source_valid.sum(1) + max_extra  # (B,)
            written = source.new_full((len(source), 1), bos)  # (B, 1 + steps)
            ended = torch.zeros_like(limits, dtype=torch.bool)  # (B,)
            while not ended.all():
                logits = model.decode(written, memory, source_valid)[:, -1]  # (B, V)
                symbols = logits.argmax(-1).masked_fill(ended, pad)  # (B,)
                written = torch.cat((written, symbols[:, None]), 1)
                ended = ended | (symbols == eos) | (written.shape[1] - 1 >= limits)
    finally:
        model.train(was_training)
    return written[:, 1:]


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

    - a hypothesis that ends with `eos` is finished: it is a candidate, unchanged;
    - any other one is continued by each symbol of the vocabulary, and each continuation is a
      candidate (except those of log-probability -inf);
    - the `width` candidates with the highest scores are kept (all of them, if there are fewer).

    The search starts from one hypothesis, which contains only `bos`. It ends when all hypotheses
    that are kept are finished, or after `max_len` steps.

    Args:
        step: called as ``step(symbol, state)`` with a hypothesis' last symbol (at first `bos`)
            and its own state: the one that `step` returned for the symbol before (at first
            `state`). Returns the log-probability of each next symbol, (V,), and the next state.
        state: the state at the start of a sequence; only `step` knows what it is.
        bos: the symbol that starts every sequence.
        eos: the symbol that ends a sequence.
        width: the number of hypotheses to keep; 1 or more, and it may be more than V.
        max_len: the largest number of steps; 1 or more.
        alpha: 0 compares sums of log-probabilities, 1 compares means; 0 or more.

    Returns:
        At most `width` pairs, best first: the symbols, a list of Python ints without `bos` (an
        `eos` at the end stays), and the score, a Python float.

    Source: lecture G (beam search); Wu et al. 2016, section 7 (length normalisation).
    """

    def score(hypothesis: tuple[list[int], float, Any]) -> float:
        symbols, total, _ = hypothesis
        return total / len(symbols) ** alpha

    beam: list[tuple[list[int], float, Any]] = [([], 0.0, state)]
    for _ in range(max_len):
        candidates = []
        for symbols, total, own_state in beam:
            if symbols[-1:] == [eos]:
                candidates.append((symbols, total, own_state))
                continue
            log_p, next_state = step(symbols[-1] if symbols else bos, own_state)
            # A hypothesis has no more than `width` continuations among the `width` best of all.
            for symbol in log_p.topk(min(width, len(log_p))).indices.tolist():
                more = float(log_p[symbol])
                if more > -math.inf:
                    candidates.append(([*symbols, symbol], total + more, next_state))
        beam = sorted(candidates, key=score, reverse=True)[:width]
        if all(symbols[-1] == eos for symbols, _, _ in beam):
            break
    return [(hypothesis[0], score(hypothesis)) for hypothesis in beam]


def one_sentence(
    model: Any, source: Tensor, source_mask: Tensor
) -> tuple[Callable[[int, Tensor], tuple[Tensor, Tensor]], Tensor]:
    """A step function and a first state for `beam_search`, from a model and one sentence.

    Args:
        model: as for `greedy`.
        source: (1, S), int64.
        source_mask: (1, S), boolean.

    Returns:
        The step function, from a symbol and a state (1, d_state) to log-probabilities (V,) and
        the new state; and the decoder's first state, (1, d_state).
    """
    with torch.no_grad():
        hidden, start = model.encode(source, source_mask)

    @torch.no_grad()
    def step(symbol: int, state: Tensor) -> tuple[Tensor, Tensor]:
        y_prev = torch.tensor([symbol], device=source.device)
        logits, new_state, _ = model.cell(y_prev, state, hidden, source_mask)
        return logits[0].log_softmax(-1), new_state  # (V,), (1, d_state)

    return step, start
