"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Search for likely sequences, keeping the `width` best hypotheses after every step.": (
            "each_its_own_state"
        ),
        "Its score is the sum of the log-probabilities of its symbols, divided by (number of "
        "its symbols)**alpha; `eos` counts as a symbol, `bos` does not. Hypotheses are "
        "compared by their scores, after every step and at the end.": "length_normalised",
        "- a hypothesis that ends with `eos` is finished: it is a candidate, unchanged;": (
            "finished_ones"
        ),
        "- any other one is continued by each symbol of the vocabulary, and each continuation "
        "is a candidate": "each_its_own_state",
        "(except those of log-probability -inf)": "fewer_than_the_width",
        "- the `width` candidates with the highest scores are kept (all of them, if there are "
        "fewer).": "each_its_own_state fewer_than_the_width wide_beams",
        "The search starts from one hypothesis, which contains only `bos`.": (
            "smallest_example kinds_and_order"
        ),
        "It ends when all hypotheses that are kept are finished, or after `max_len` steps.": (
            "where_it_stops"
        ),
        "step: called as ``step(symbol, state)`` with a hypothesis' last symbol (at first "
        "`bos`) and its own state: the one that `step` returned for the symbol before (at "
        "first `state`).": "each_its_own_state",
        "width: the number of hypotheses to keep; 1 or more, and it may be more than V.": (
            "smallest_example wide_beams"
        ),
        "max_len: the largest number of steps; 1 or more.": "where_it_stops wide_beams",
        "alpha: 0 compares sums of log-probabilities, 1 compares means; 0 or more.": (
            "length_normalised"
        ),
        "At most `width` pairs, best first: the symbols, a list of Python ints without `bos` "
        "(an `eos` at the end stays), and the score, a Python float.": (
            "kinds_and_order smallest_example"
        ),
    },
    explained=[
        "A hypothesis is the beginning of a sequence.",
        "One step:",
        "Returns the log-probability of each next symbol, (V,), and the next state. state: the "
        "state at the start of a sequence; only `step` knows what it is. bos: the symbol that "
        "starts every sequence. eos: the symbol that ends a sequence.",
    ],
)
