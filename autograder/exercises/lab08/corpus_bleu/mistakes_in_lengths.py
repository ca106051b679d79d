"""Known mistakes of `corpus_bleu` in the brevity penalty and in the lengths of references."""

from __future__ import annotations

from . import exercise
from .also_right import as_in_sacrebleu, step_by_step

wrong = exercise.edits(step_by_step)

BP = "1.0 if c >= r else math.exp(1 - r / c)"
CLOSEST = "min(lengths, key=lambda length: (abs(length - len(h)), length))"

wrong(
    "no_brevity_penalty",
    BP,
    "1.0",
    "Short translations pay nothing in your code: the first word alone would be perfect. What "
    "is BP for?",
)
wrong(
    "penalty_inverted",
    BP,
    "1.0 if c >= r else math.exp(r / c - 1)",
    "Your BP is above 1 if the translations are too short, so they gain. Which sign has the "
    "exponent?",
)
wrong(
    "penalty_of_long_ones",
    BP,
    "1.0 if c <= r else math.exp(1 - c / r)",
    "Long translations pay in your code, and short ones do not. Which of the two has p_n punished "
    "already?",
)
wrong(
    "penalty_never_one",
    BP,
    "math.exp(1 - r / c)",
    "Long translations get a BP above 1, so they gain by their length. How large may BP be?",
)
wrong(
    "penalty_of_both",
    BP,
    "math.exp(1 - max(r / c, c / r))",
    "Long translations pay as well in your code. Which of the two has p_n punished already?",
)
wrong(
    "lengths_exchanged_in_the_penalty",
    BP,
    "1.0 if c >= r else math.exp(1 - c / r)",
    "Your BP divides the wrong length by the other: it is above 1. What is r / c if the "
    "translations are too short?",
)
wrong(
    "ratio_as_penalty",
    BP,
    "min(1.0, c / r)",
    "Your BP is the ratio of the two lengths. Which function of it does the formula have?",
)
wrong(
    "exponent_without_one",
    BP,
    "1.0 if c >= r else math.exp(-r / c)",
    "Your BP jumps from 1 to less than a half as soon as a word is missing. What is the "
    "exponent if both lengths are equal?",
)
wrong(
    "penalty_without_exponential",
    BP,
    "1.0 if c >= r else 1 - r / c",
    "Your BP is negative if the translations are too short. Which function of the exponent is "
    "missing?",
)
wrong(
    "penalty_under_the_root",
    "return 100 * bp * mean",
    "return 100 * bp ** (1 / max_n) * mean",
    "You take the root of BP as well. What does the root in the formula cover?",
)
wrong(
    "whole_division",
    "math.exp(1 - r / c)",
    "math.exp(1 - r // c)",
    "Your ratio of lengths is a whole number. Which operator divides exactly?",
)
wrong(
    "shortest_reference",
    CLOSEST,
    "min(lengths)",
    "You take the length of the shortest reference. (One well-known program does.) Which one does "
    "the task take?",
)
wrong(
    "longest_reference",
    CLOSEST,
    "max(lengths)",
    "You take the length of the longest reference. Which one does the task take?",
)
wrong(
    "first_reference",
    CLOSEST,
    "lengths[0]",
    "You take the length of the first reference. Which one does the task take?",
)
wrong(
    "mean_length",
    CLOSEST,
    "sum(lengths) / len(lengths)",
    "You take the mean length of the references. Which one of them does the task take?",
)
wrong(
    "all_references",
    CLOSEST,
    "sum(lengths)",
    "You add up the lengths of all references, so every translation looks too short. Which one "
    "does the task take?",
)
wrong(
    "first_of_two_equally_close",
    CLOSEST,
    "min(lengths, key=lambda length: abs(length - len(h)))",
    "Of two references that are equally close in length, you take the one that comes first. Which "
    "one does the task take?",
)
wrong(
    "longer_of_two_equally_close",
    CLOSEST,
    "min(lengths, key=lambda length: (abs(length - len(h)), -length))",
    "Of two references that are equally close in length, you take the longer one. Which one does "
    "the task take?",
)
wrong(
    "closest_from_below",
    CLOSEST,
    "max([length for length in lengths if length <= len(h)] or [min(lengths)])",
    "You prefer references that are not longer than the translation. Which one does the task take?",
)
wrong(
    "characters_counted",
    "c = sum(len(h) for h in hypotheses)",
    "c = sum(len(str(token)) for h in hypotheses for token in h)",
    "You count characters of the translations. What is a length in this task?",
)
wrong(
    "number_of_sentences",
    "c = sum(len(h) for h in hypotheses)",
    "c = len(hypotheses)",
    "Your c is the number of translations. What is added up for it?",
)
wrong.several(
    "last_sentence_only",
    {"r += min(lengths": "r = min(lengths"},
    "Your r is the length of the last reference. What is added up for it?",
)
wrong.several(
    "penalty_for_each_sentence",
    {
        "    bp = 1.0 if c >= r else math.exp(1 - r / c)\n": (
            "    bps = []\n"
            "    for h, refs in zip(hypotheses, references, strict=True):\n"
            "        r = min((len(x) for x in refs), key=lambda n: (abs(n - len(h)), n))\n"
            "        bps.append(1.0 if len(h) >= r else math.exp(1 - r / len(h)) if h else 0.0)\n"
            "    bp = sum(bps) / len(bps)\n"
        ),
    },
    "You take the mean of the sentences' penalties, so a long sentence cannot make up for a short "
    "one. Which lengths does BP compare?",
)

sacre = exercise.edits(as_in_sacrebleu)

sacre(
    "last_reference",
    "if closest_diff is None or diff < closest_diff:",
    "if closest_diff is None or diff >= 0:",
    "You take the length of the last reference. Which one does the task take?",
)
