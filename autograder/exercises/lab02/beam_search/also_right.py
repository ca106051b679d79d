"""Other right beam searches."""

from __future__ import annotations

import heapq
import math

import torch

from . import exercise


@exercise.also_right
def by_sorting(step, state, bos, eos, width, max_len, alpha=0.0):
    def score(hypothesis):
        symbols, total, _ = hypothesis
        return total / len(symbols) ** alpha

    beam = [([], 0.0, state)]
    for _ in range(max_len):
        candidates = []
        for symbols, total, place in beam:
            if symbols[-1:] == [eos]:
                candidates.append((symbols, total, place))
                continue
            log_p, following = step(symbols[-1] if symbols else bos, place)
            for symbol, more in enumerate(log_p.tolist()):
                if more != -math.inf:
                    candidates.append(([*symbols, symbol], total + more, following))
        beam = sorted(candidates, key=score, reverse=True)[:width]
        if all(symbols[-1] == eos for symbols, _, _ in beam):
            break
    return [(hypothesis[0], score(hypothesis)) for hypothesis in beam]


@exercise.also_right
def by_topk(step, state, bos, eos, width, max_len, alpha=0.0):
    sequences, sums, states = [[]], torch.zeros(1, dtype=torch.float64), [state]
    ended = [False]
    for _ in range(max_len):
        if all(ended):
            break
        pool, totals, values = [], [], []
        for i, sequence in enumerate(sequences):
            if ended[i]:
                pool.append((sequence, states[i]))
                totals.append(sums[i : i + 1])
                values.append(sums[i : i + 1] / len(sequence) ** alpha)
                continue
            log_p, after = step(sequence[-1] if sequence else bos, states[i])
            some, symbols = log_p.topk(min(width, len(log_p)))
            pool += [([*sequence, symbol], after) for symbol in symbols.tolist()]
            totals.append(sums[i] + some)
            values.append((sums[i] + some) / (len(sequence) + 1) ** alpha)
        total, value = torch.cat(totals), torch.cat(values)
        order = value.argsort(descending=True)[:width]
        order = order[value[order].isfinite()]
        sequences = [pool[i][0] for i in order.tolist()]
        states = [pool[i][1] for i in order.tolist()]
        ended = [sequence[-1] == eos for sequence in sequences]
        sums = total[order]
    return [
        (sequence, float(score) / len(sequence) ** alpha)
        for sequence, score in zip(sequences, sums, strict=True)
    ]


@exercise.also_right
def by_heap(step, state, bos, eos, width, max_len, alpha=0.0):
    open_ones, closed = [([bos], 0.0, state)], []
    while open_ones and max_len:
        max_len -= 1
        pool = list(closed)
        for symbols, total, place in open_ones:
            log_p, following = step(symbols[-1], place)
            pool += [
                ([*symbols, k], total + float(log_p[k]), following)
                for k in range(len(log_p))
                if not math.isinf(float(log_p[k]))
            ]
        kept = heapq.nlargest(width, pool, key=lambda one: one[1] / (len(one[0]) - 1) ** alpha)
        closed = [one for one in kept if one[0][-1] == eos]
        open_ones = [one for one in kept if one[0][-1] != eos]
    kept = [(symbols[1:], total / (len(symbols) - 1) ** alpha) for symbols, total, _ in kept]
    return sorted(kept, key=lambda pair: pair[1], reverse=True)


@exercise.also_right
def with_normalised_log_softmax(step, state, bos, eos, width, max_len, alpha=0.0):
    """A log-softmax of log-probabilities changes only their last digits."""

    def again(symbol, place):
        log_p, following = step(symbol, place)
        return torch.log_softmax(log_p, dim=-1), following

    return by_sorting(again, state, bos, eos, width, max_len, alpha)
