"""beam_search: several hypotheses side by side, so that a good one can start badly."""

from __future__ import annotations

from itertools import pairwise

import torch

from attnlab.checking.judges import Close
from attnlab.decoding import beam_search
from gradekit.exercise import Exercise

STOP = "if all((symbols[-1] == eos for symbols, _, _ in beam)):"
exercise = Exercise(
    beam_search,
    equivalent={
        f"beam_search: `{STOP}` → `if False:`": "finished hypotheses stay as they are",
        f"beam_search: `1` → `0` in `{STOP}`": "a hypothesis that begins with eos is finished",
    },
)

# Sums of log-probabilities may be kept in single precision.
SINGLE = Close(atol=1e-5, rtol=1e-5)
BOS = 5
EOS = 3
SYMBOLS = 6


def two_roads(symbol, state):
    """The smallest model that leads greedy astray: 0 is A, 1 is B, 2 is x, 4 is y."""
    chances = {
        BOS: {0: 0.6, 1: 0.4},
        0: {2: 0.55, 4: 0.45},
        1: {2: 0.95, 4: 0.05},
        2: {EOS: 1.0},
        4: {EOS: 1.0},
    }
    p = torch.zeros(SYMBOLS, dtype=torch.float64)
    for following, chance in chances[symbol].items():
        p[following] = chance
    return p.log(), state


def evenly(symbol, state):
    """All symbols but the end are about as likely; a sequence of 500 has a probability of 0."""
    p = torch.tensor([0.19, 0.2, 0.21, 0, 0.2, 0.2], dtype=torch.float64)  # 0 for EOS
    return p.log(), state


class Teller:
    """A model of the next symbol with a memory; a larger `end` makes the end `eos` likelier."""

    def __init__(self, draw, end=-50.0, symbols=SYMBOLS, eos=EOS):
        self.eos = eos
        self.symbols, self.mix = draw.normal(BOS + 1, 4), 2 * draw.normal(4, 4)
        self.out, self.end, self.start = 1.5 * draw.normal(4, symbols), end, draw.normal(4)

    def __call__(self, symbol, state):
        new_state = torch.tanh(state @ self.mix + self.symbols[symbol])
        logits = new_state @ self.out
        logits[self.eos] += self.end
        # In steps of 2^-20, sums of a few are exact in any order. So where hypotheses have the same
        # score, as those of a search that forgets its state, rounding does not decide their order.
        return (logits.log_softmax(0) * 2**20).round() / 2**20, new_state


def are_pairs(hypotheses):
    """Whether these are several pairs: the first check tells a student if they are not."""
    return isinstance(hypotheses, (list, tuple)) and all(
        isinstance(one, (list, tuple)) and len(one) == 2 for one in hypotheses
    )


def named(hypotheses):
    """Symbols and score of each hypothesis by name; anything but a list of pairs as it is."""
    if not are_pairs(hypotheses):
        return hypotheses
    seen = {}
    for number, (symbols, score) in enumerate(hypotheses, start=1):
        seen[f"symbols of hypothesis {number}"] = symbols
        seen[f"score of hypothesis {number}"] = score
    return seen


def found(lab, step, width, max_len, alpha=0.0):
    """The hypotheses with their scores."""
    state = getattr(step, "start", None)
    return named(lab.beam_search(step, state, BOS, EOS, width, max_len, alpha))


def better_than_the_one_before(hypotheses):
    """How many hypotheses have a higher score than the one before them."""
    scores = [score for _, score in hypotheses]
    return sum(bool(score > before) for before, score in pairwise(scores))


@exercise.check(points=0.5, judge=SINGLE)
def kinds_and_order(lab, draw):
    """Returns different hypotheses of plain numbers, each with its score, best first."""
    step = Teller(draw)
    hypotheses = lab.beam_search(step, step.start, BOS, EOS, 4, 3)
    pairs = are_pairs(hypotheses)
    found = hypotheses if pairs else []
    kinds = sorted({type(part).__name__ for pair in found for part in pair})
    return {
        "result": "a list of pairs" if pairs else "no list of pairs",
        "hypotheses for a width of 4": len(found),
        "kinds of the parts of a pair": kinds,
        "kinds of symbols": sorted({type(n).__name__ for one, _ in found for n in one}),
        "different ones among the hypotheses": len({tuple(symbols) for symbols, _ in found}),
        "number that have a higher score than the one before": better_than_the_one_before(found),
    }


@exercise.check(points=1.5, judge=SINGLE)
def smallest_example(lab, draw):
    """Solves the smallest example: width 1 as greedy does, and width 2 better."""
    return {
        "width 1": found(lab, two_roads, 1, 5),
        "width 2": found(lab, two_roads, 2, 5),
    }


@exercise.check(points=2, judge=SINGLE)
def each_its_own_state(lab, draw):
    """Continues every hypothesis from its own state, and keeps the best of all continuations."""
    # In about half of all models, a search that keeps all candidates finds the same sequences.
    models = [Teller(draw) for _ in range(8)]
    return {
        f"width {width}": {
            f"model {n}": found(lab, step, width, 5) for n, step in enumerate(models, start=1)
        }
        for width in (1, 2, 3)
    }


@exercise.check(points=1.5, judge=SINGLE)
def finished_ones(lab, draw):
    """Leaves a finished hypothesis as it is, in its place among the others."""
    seen = {}
    for end in (0.5, 1.5, 2.5):
        for width in (2, 3, 4):
            beams = {f"model {n}": found(lab, Teller(draw, end), width, 5) for n in (1, 2, 3)}
            seen[f"ends {end} likelier, width {width}"] = beams
    return seen


@exercise.check(points=0.5, judge=SINGLE)
def fewer_than_the_width(lab, draw):
    """Keeps all candidates if they are fewer than `width`, and none that is impossible."""
    return {
        "smallest example, width 3, one step": found(lab, two_roads, 3, 1),
        "smallest example, width 9, four steps": found(lab, two_roads, 9, 4),
    }


@exercise.check(points=1.5, judge=SINGLE)
def length_normalised(lab, draw):
    """Divides by the length to the power of alpha, whenever hypotheses are compared."""
    seen = {}
    for alpha in (0.6, 1.0, 2.0):
        for end in (1.0, 2.5):
            tellers = [Teller(draw, end) for _ in range(3)]
            for width in (2, 3, 5):
                seen[f"alpha {alpha}, ends {end} likelier, width {width}"] = {
                    f"model {number}": found(lab, step, width, 5, alpha)
                    for number, step in enumerate(tellers, start=1)
                }
    return seen


@exercise.check(points=1.5, hidden=True, judge=SINGLE)
def wide_beams(lab, draw):
    """Beams and vocabularies of any size: a wide beam keeps all hypotheses that are possible."""

    def ask(V, width, max_len):
        step = Teller(draw, 0.0, symbols=V, eos=0)
        return named(lab.beam_search(step, step.start, BOS, 0, width, max_len))

    return {
        **draw.each_size(ask, V=5, width=4, max_len=2),
        "seven of six symbols": found(lab, Teller(draw, end=0.0), 7, 2),
        "four steps": [found(lab, Teller(draw, end), 4, 4) for end in (0.5, 1.0, 1.5, 2.0)],
        "all there are": found(lab, Teller(draw), 100, 2),
        "one step": found(lab, Teller(draw), 9, 1),
        "500 symbols": found(lab, evenly, 1, 500),
        "hypotheses, of five symbols of which some are equally likely": len(
            lab.beam_search(evenly, None, BOS, EOS, 5, 1)
        ),
    }


@exercise.check(points=1, hidden=True, judge=SINGLE)
def where_it_stops(lab, draw):
    """Goes on until all kept hypotheses are finished, or for max_len steps."""
    calls = []

    def counted(step):
        def asked(symbol, state):
            calls.append(symbol)
            return step(symbol, state)

        return named(lab.beam_search(asked, step.start, BOS, EOS, 3, 4))

    return {
        "max_len 4": [counted(Teller(draw, end)) for end in (0.5, 1.0, 1.5, 2.0)],
        "hypotheses that were continued": len(calls),
        "time enough": [found(lab, Teller(draw, end), 3, 40) for end in (1.5, 2.0, 2.5)],
        "inputs as they were": draw.untouched(),
    }
