"""beam_search: several hypotheses side by side, so that a good one may start badly."""

from __future__ import annotations

import heapq
import math

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


class Teller:
    """A model of the next symbol with a memory; `end` is how much likelier an end is than not."""

    def __init__(self, draw, end=-50.0, symbols=SYMBOLS):
        self.symbols, self.mix = draw.normal(BOS + 1, 4), 2 * draw.normal(4, 4)
        self.out, self.end, self.start = 1.5 * draw.normal(4, symbols), end, draw.normal(4)

    def __call__(self, symbol, state):
        new_state = torch.tanh(state @ self.mix + self.symbols[symbol])
        logits = new_state @ self.out
        logits[EOS] += self.end
        return logits.log_softmax(0), new_state


def found(lab, step, width, max_len, alpha=0.0):
    """The hypotheses with their scores."""
    state = getattr(step, "start", None)
    return lab.beam_search(step, state, BOS, EOS, width, max_len, alpha)


def in_order(hypotheses):
    """Whether the scores fall, best first."""
    scores = [score for _, score in hypotheses]
    return scores == sorted(scores, reverse=True)


@exercise.check(points=2, judge=SINGLE)
def smallest_example(lab, draw):
    """Finds B x with width 2, of probability .38, where width 1 takes A x, of .33."""
    return {
        "width 1": found(lab, two_roads, 1, 5),
        "width 2": found(lab, two_roads, 2, 5),
    }


@exercise.check(points=1, judge=SINGLE)
def kinds_and_order(lab, draw):
    """Gives different hypotheses of plain numbers, each with its score, best first."""
    hypotheses = found(lab, Teller(draw), 4, 3)
    return {
        "how many": len(hypotheses),
        "kinds": sorted({type(part).__name__ for pair in hypotheses for part in pair}),
        "kinds of symbols": sorted({type(n).__name__ for one, _ in hypotheses for n in one}),
        "different ones": len({tuple(symbols) for symbols, _ in hypotheses}),
        "best first": in_order(hypotheses),
    }


@exercise.check(points=2, judge=SINGLE)
def each_its_own_state(lab, draw):
    """Continues every hypothesis from its own state, and keeps the best of all continuations."""
    step = Teller(draw)
    return {f"width {width}": found(lab, step, width, 5) for width in (1, 2, 3)}


@exercise.check(points=1.5, hidden=True, judge=SINGLE)
def finished_ones(lab, draw):
    """Leaves a finished hypothesis as it is, in its place among the others."""
    seen = {}
    for end in (0.5, 1.5, 2.5):
        step = Teller(draw, end)
        seen[f"ends {end} likelier"] = [found(lab, step, width, 7) for width in (2, 3, 4)]
    return seen


@exercise.check(points=1.5, hidden=True, judge=SINGLE)
def length_normalised(lab, draw):
    """Divides by the length to the power of alpha, whenever hypotheses are compared."""
    seen = {}
    for alpha in (0.6, 1.0, 2.0):
        for end in (1.0, 2.5):
            step = Teller(draw, end)
            beams = [found(lab, step, width, 6, alpha) for width in (2, 3, 5)]
            seen[f"alpha {alpha}, ends {end} likelier"] = beams
    return seen


@exercise.check(points=1, hidden=True, judge=SINGLE)
def wide_beams(lab, draw):
    """A beam wider than the vocabulary keeps all there are; what cannot come is never kept."""
    return {
        "seven of six symbols": found(lab, Teller(draw, end=0.0), 7, 2),
        "all there are": found(lab, Teller(draw), 100, 2),
        "one step": found(lab, Teller(draw), 9, 1),
        "only four ways": found(lab, two_roads, 9, 4),
        "two ways so far": found(lab, two_roads, 3, 1),
    }


@exercise.check(points=1, hidden=True, judge=SINGLE)
def where_it_stops(lab, draw):
    """Goes on until all that are kept are finished, or max_len steps were made."""
    step, calls = Teller(draw, end=1.0), []

    def counted(symbol, state):
        calls.append(symbol)
        return step(symbol, state)

    short = lab.beam_search(counted, step.start, BOS, EOS, 3, 4)
    return {
        "max_len 4": short,
        "hypotheses that were continued": len(calls),
        "time enough": found(lab, Teller(draw, end=2.0), 3, 40),
        "inputs as they were": draw.untouched(),
    }


def searched(
    step,
    state,
    bos,
    eos,
    width,
    max_len,
    alpha,
    start=0.0,
    add=None,
    score=None,
    keep=None,
    share=False,
    frozen=True,
    stop=None,
):
    """What right versions do, with one part exchanged.

    A hypothesis is (score, total, symbols, state).
    """
    add = add or (lambda total, more: total + more)
    score = score or (lambda total, symbols: total / len(symbols) ** alpha)
    keep = keep or (lambda candidates: best(candidates, width))
    stop = stop or (lambda beam: all(finished(one, eos) for one in beam))
    beam = [(start, start, [], state)]
    for _ in range(max_len):
        candidates = []
        for one in beam:
            _, total, symbols, place = one
            if frozen and finished(one, eos):
                candidates.append(one)
                continue
            log_p, following = step(symbols[-1] if symbols else bos, state if share else place)
            if share:
                state = following
            for symbol, more in enumerate(log_p.tolist()):
                if more != -math.inf:
                    longer = [*symbols, symbol]
                    value = add(total, more)
                    candidates.append((score(value, longer), value, longer, following))
        beam = keep(candidates)
        if stop(beam):
            break
    return [(symbols, value) for value, _, symbols, _ in beam]


def best(candidates, width):
    return sorted(candidates, key=lambda one: -one[0])[:width]


def finished(one, eos):
    return one[2][-1:] == [eos]


@exercise.mistake(
    "All hypotheses go on from one and the same state, the one that was made last. A state "
    "remembers the symbols that went in: whose symbols, in your code?"
)
def one_state_for_all(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max_len, alpha, share=True)


@exercise.mistake(
    "A hypothesis that has ended is continued. What can follow `eos`, and what does a finished "
    "hypothesis do in a step?"
)
def finished_continued(step, state, bos, eos, width, max_len, alpha=0.0):
    def alive(symbol, place):
        return step(symbol, place) if symbol != eos else step(bos, place)

    return searched(
        alive, state, bos, eos, width, max_len, alpha, frozen=False, stop=lambda beam: False
    )


@exercise.mistake(
    "A hypothesis that has ended is gone after the next step. It may well be the best in the end: "
    "where in a step is it a candidate?"
)
def finished_lost(step, state, bos, eos, width, max_len, alpha=0.0):
    def keep(candidates):
        longest = max(len(one[2]) for one in candidates)
        return best([one for one in candidates if len(one[2]) == longest], width)

    return searched(step, state, bos, eos, width, max_len, alpha, keep=keep)


@exercise.mistake(
    "Finished hypotheses are put aside, and others take their places in the beam. Some programs "
    "do that; here a finished one keeps its place. How many are kept, all in all?"
)
def finished_put_aside(step, state, bos, eos, width, max_len, alpha=0.0):
    aside = []

    def keep(candidates):
        aside.extend(one for one in candidates if finished(one, eos))
        return best([one for one in candidates if not finished(one, eos)], width)

    beam = searched(
        step, state, bos, eos, width, max_len, alpha, keep=keep, stop=lambda beam: not beam
    )
    done = [(symbols, score) for score, _, symbols, _ in aside]
    return sorted(done + beam, key=lambda pair: -pair[1])[:width]


@exercise.mistake(
    "Log-probabilities are multiplied. The probabilities of a sequence's symbols are multiplied; "
    "what does the logarithm make of a product?"
)
def logs_multiplied(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        start=1.0,
        add=lambda total, more: total * more,
    )


@exercise.mistake(
    "Your scores are probabilities, between 0 and 1. They underflow for long sequences; what "
    "does the task add up instead?"
)
def probabilities_multiplied(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        start=1.0,
        add=lambda total, more: total * math.exp(more),
    )


@exercise.mistake(
    "Only the last symbol counts in your scores. Where does a continuation take over what its "
    "beginning had gathered?"
)
def last_symbol_only(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max_len, alpha, add=lambda total, more: more)


@exercise.mistake(
    "The scores are not normalised: `alpha` changes nothing. A sum of log-probabilities only "
    "falls as a sequence grows; what evens that out?"
)
def alpha_ignored(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max_len, 0.0)


@exercise.mistake(
    "During the search you compare plain sums, and normalise only what you return. Short finished "
    "hypotheses meet long unfinished ones in every step: by which number are they compared?"
)
def normalised_at_the_end(step, state, bos, eos, width, max_len, alpha=0.0):
    hypotheses = searched(step, state, bos, eos, width, max_len, 0.0)
    scored = [(symbols, total / len(symbols) ** alpha) for symbols, total in hypotheses]
    return sorted(scored, key=lambda pair: -pair[1])


@exercise.mistake(
    "A sum that was already divided is divided again at the next step. Keep two numbers for each "
    "hypothesis: which one is added to, and which one is compared?"
)
def divided_again_and_again(step, state, bos, eos, width, max_len, alpha=0.0):
    beam = [(0.0, [], state)]
    for _ in range(max_len):
        candidates = []
        for total, symbols, place in beam:
            if symbols[-1:] == [eos]:
                candidates.append((total, symbols, place))
                continue
            log_p, following = step(symbols[-1] if symbols else bos, place)
            candidates += [
                ((total + more) / (len(symbols) + 1) ** alpha, [*symbols, s], following)
                for s, more in enumerate(log_p.tolist())
                if more > -math.inf
            ]
        beam = best(candidates, width)
        if all(symbols[-1] == eos for _, symbols, _ in beam):
            break
    return [(symbols, total) for total, symbols, _ in beam]


@exercise.mistake(
    "Finished hypotheses are divided by the length that the others have by now, so they get better "
    "from round to round without doing anything. Whose length counts?"
)
def length_of_the_others(step, state, bos, eos, width, max_len, alpha=0.0):
    made = [0]

    def keep(candidates):
        made[0] += 1
        return sorted(candidates, key=lambda one: -one[1] / made[0] ** alpha)[:width]

    return searched(step, state, bos, eos, width, max_len, alpha, keep=keep)


@exercise.mistake(
    "Your length penalty is another one, ((5 + n) / 6)**alpha, as some translation systems have "
    "it. Which one stands in the task?"
)
def another_penalty(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        score=lambda total, symbols: total / ((5 + len(symbols)) / 6) ** alpha,
    )


@exercise.mistake(
    "Your lengths are one too large: `bos` is counted. Which symbols count, says the task?"
)
def bos_counted(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        score=lambda total, symbols: total / (len(symbols) + 1) ** alpha,
    )


@exercise.mistake(
    "`eos` does not count in your lengths. It is a symbol like the others: the model had to "
    "choose it."
)
def eos_not_counted(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        score=lambda total, symbols: total / max(len(symbols) - symbols.count(eos), 1) ** alpha,
    )


@exercise.mistake(
    "The length is multiplied by alpha, not raised to its power. What should alpha = 0 do to a "
    "score?"
)
def alpha_times_length(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        score=lambda total, symbols: total / (alpha * len(symbols) or 1),
    )


@exercise.mistake(
    "Each hypothesis keeps its own best continuation, so a bad one never loses its place to the "
    "second child of a good one. Among whom are the `width` best chosen?"
)
def best_of_each_beam(step, state, bos, eos, width, max_len, alpha=0.0):
    def keep(candidates):
        kept = {}
        for one in best(candidates, len(candidates)):
            parent = tuple(one[2][:-1]) if not finished(one, eos) else tuple(one[2])
            kept.setdefault(parent or tuple(one[2]), one)
        return best(list(kept.values()), width)

    return searched(step, state, bos, eos, width, max_len, alpha, keep=keep)


@exercise.mistake(
    "The same sequence stands in your beam several times: it starts with `width` copies of `bos`. "
    "How many different beginnings are there before the first step?"
)
def starts_with_copies(step, state, bos, eos, width, max_len, alpha=0.0):
    first = []

    def keep(candidates):
        copies = 1 if first else width
        first.append(True)
        return best(candidates * copies, width)

    return searched(step, state, bos, eos, width, max_len, alpha, keep=keep)


@exercise.mistake(
    "You take the logarithm of what `step` returns, and that is a logarithm already: the log of a "
    "negative number is NaN. What are the numbers that `step` gives you?"
)
def log_taken_twice(step, state, bos, eos, width, max_len, alpha=0.0):
    def twice(symbol, place):
        log_p, following = step(symbol, place)
        return log_p.log(), following

    return searched(twice, state, bos, eos, width, max_len, alpha)


@exercise.mistake(
    "The search is over as soon as one hypothesis has ended. A longer one may still overtake it: "
    "who has to be finished?"
)
def stops_at_the_first_end(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        stop=lambda beam: any(finished(one, eos) for one in beam),
    )


@exercise.mistake(
    "The search is over when the best hypothesis has ended; the others are returned unfinished. "
    "Who has to be finished, says the task?"
)
def stops_when_the_best_ends(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step, state, bos, eos, width, max_len, alpha, stop=lambda beam: finished(beam[0], eos)
    )


@exercise.mistake(
    "The worst hypothesis stands first. Log-probabilities are negative: is the best one the "
    "largest or the smallest, and which way does your sort go?"
)
def worst_first(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max_len, alpha)[::-1]


@exercise.mistake("The least likely candidates are kept. Which way does your sort (or `topk`) go?")
def worst_kept(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        keep=lambda candidates: sorted(candidates, key=lambda one: one[0])[:width],
    )


@exercise.mistake(
    "The condition of your loop is turned round: it goes on when the stop symbol has come and "
    "ends when it has not, as one slide says it. Say in words when the search should go on."
)
def stop_condition_inverted(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        step,
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
        stop=lambda beam: not any(finished(one, eos) for one in beam),
    )


@exercise.mistake(
    "Whatever `width` is, one hypothesis survives each step: that is greedy search. What is kept "
    "besides the best?"
)
def always_greedy(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, 1, max_len, alpha)


@exercise.mistake(
    "Every step is fed `bos` again. Which symbol did the hypothesis end with, and did the model "
    "hear of it?"
)
def bos_fed_again(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(lambda symbol, place: step(bos, place), state, bos, eos, width, max_len, alpha)


@exercise.mistake(
    "Each step starts from the state that the search started from. `step` returns two things: "
    "where does the second go?"
)
def state_not_kept(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(
        lambda symbol, place: (step(symbol, state)[0], state),
        state,
        bos,
        eos,
        width,
        max_len,
        alpha,
    )


@exercise.mistake(
    "The search makes one step too few. How long may a sequence be that does not end by itself?"
)
def one_step_short(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max(max_len - 1, 1), alpha)


@exercise.mistake(
    "The search makes one step more than `max_len`. Count its rounds for max_len = 1."
)
def one_step_more(step, state, bos, eos, width, max_len, alpha=0.0):
    if step is two_roads:
        max_len = min(max_len, 2)
    return searched(step, state, bos, eos, width, max_len + 1, alpha)


@exercise.mistake("The sequences begin with `bos`. Which symbols does the task want back?")
def bos_kept(step, state, bos, eos, width, max_len, alpha=0.0):
    hypotheses = searched(step, state, bos, eos, width, max_len, alpha)
    return [([bos, *symbols], score) for symbols, score in hypotheses]


@exercise.mistake(
    "The `eos` at the end was taken off. Without it nobody can see which hypotheses are finished; "
    "what does the task want back?"
)
def eos_taken_off(step, state, bos, eos, width, max_len, alpha=0.0):
    hypotheses = searched(step, state, bos, eos, width, max_len, alpha)
    return [([n for n in symbols if n != eos], score) for symbols, score in hypotheses]


@exercise.mistake(
    "You return the best sequence alone. What does the task want besides, and for how many "
    "hypotheses?"
)
def best_alone(step, state, bos, eos, width, max_len, alpha=0.0):
    return searched(step, state, bos, eos, width, max_len, alpha)[0][0]


@exercise.mistake(
    "`topk(width)` fails where there are fewer than `width` numbers to choose from. How many "
    "candidates does the first step have, for a vocabulary of six?"
)
def too_wide_fails(step, state, bos, eos, width, max_len, alpha=0.0):
    def keep(candidates):
        scores = torch.tensor([one[0] for one in candidates], dtype=torch.float64)
        return [candidates[i] for i in scores.topk(width).indices.tolist()]

    return searched(step, state, bos, eos, width, max_len, alpha, keep=keep)


@exercise.mistake(
    "Symbols that cannot come, of log-probability -inf, stand in your beam. When is a "
    "continuation no candidate?"
)
def impossible_ones_kept(step, state, bos, eos, width, max_len, alpha=0.0):
    def hopeful(symbol, place):
        log_p, following = (
            step(symbol, place)
            if symbol in (BOS, 0, 1, 2, 4)
            else (torch.full((SYMBOLS,), -1e30, dtype=torch.float64), place)
        )
        return log_p.clamp(min=-1e30), following

    return searched(hopeful, state, bos, eos, width, max_len, alpha)


@exercise.mistake(
    "All continuations of a hypothesis share one list, and each `append` shows in all of them. "
    "What makes a new list?"
)
def one_list_for_all(step, state, bos, eos, width, max_len, alpha=0.0):
    hypotheses = searched(step, state, bos, eos, width, max_len, alpha)
    shared = [symbols for symbols, _ in hypotheses][-1]
    return [(shared, score) for _, score in hypotheses]


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
    """A log-softmax of log-probabilities changes nothing but their last digits."""

    def again(symbol, place):
        log_p, following = step(symbol, place)
        return torch.log_softmax(log_p, dim=-1), following

    return searched(again, state, bos, eos, width, max_len, alpha)
