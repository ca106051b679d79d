"""errata: two slides about what a decoder may see, of which one is right."""

import math

import torch

from attnlab.checking.answers import entries, plain
from gradekit.exercise import Errata, Item

# The numbers on the slides.
SAYS = {"W4": 0.5, "S2": 10}

exercise = Errata(
    {
        "W4": Item(
            "how much weight goes to the future, masked as on the slide and as it must be.",
            points=1.5,
            says=SAYS["W4"],
            right=0.0,
            reason="a [Mask] token is still a key",
            atol=4e-3,
            question="How many keys are there, and which of them may a query look at?",
        ),
        "S2": Item(
            "how many pairs of output words a decoder may use.",
            points=1.5,
            says=SAYS["S2"],
            right=10,
            reason="the word at j is not known yet",
            question=(
                "Which words are known when word j is computed, and how many pairs is "
                "that over all rows?"
            ),
        ),
    },
    says_points=0.4,
    says_atol=4e-3,
    reasons_points=0.2,
)


def pairs_of(lab):
    """The two numbers of each item that is written, by its name."""
    firsts, seconds = (entries(lab, place, *SAYS) for place in (0, 1))
    return {name: (plain(firsts[name]), plain(seconds[name])) for name in firsts}


STRANGE = ("NaN", "infinity", "minus infinity")


def finite_or_not(part):
    """One of the words above for a number that is not finite; "finite" for anything else."""
    if not isinstance(part, float) or math.isfinite(part):
        return "finite"
    return STRANGE[0] if math.isnan(part) else STRANGE[1 if part > 0 else 2]


def agree(one, other):
    """Whether these are two numbers that are equal up to rounding."""
    are_numbers = all(isinstance(number, (int, float)) for number in (one, other))
    return are_numbers and abs(one - other) <= 4e-3


@exercise.check(points=0.2, question="Which calculation of yours gives it?")
def finite(lab, draw):
    """The second number of each item is finite."""
    if not isinstance(lab.errata, dict):
        return lab.errata
    return {name: finite_or_not(second) for name, (_, second) in pairs_of(lab).items()}


def equal_pairs(pairs):
    """How many items have two equal numbers, in words."""
    return ("none", "one", "both")[sum(agree(*pair) for pair in pairs.values())]


def size(number):
    """A count as it is; of a share, only that it is none."""
    return f"{number:g}" if isinstance(number, float) and number > 1 else "1 or less"


@exercise.check(
    points=0.2,
    question="How many of the two slides are right, according to the text above the items?",
)
def equal_numbers(lab, draw):
    """As many items have two equal numbers as there are slides that are right as they stand."""
    if not isinstance(lab.errata, dict):
        return lab.errata
    pairs = pairs_of(lab)
    # What another check sees already is not asked about here.
    asked = all(agree(pairs[name][0], says) for name, says in SAYS.items() if name in pairs)
    asked = asked and not any(finite_or_not(second) in STRANGE for _, second in pairs.values())
    number = equal_pairs(pairs) if asked and len(pairs) == len(SAYS) else "one"
    return {
        "items that are written": list(pairs),
        "items with two equal numbers": number,
        # This only tells apart the answers without such an item.
        "their second numbers": [size(second) for _, second in pairs.values()]
        if number == "none"
        else [],
    }


exercise.wrong(
    "slide_hides_the_future",
    "W4: you say that the slide's [Mask] keys get no weight. They are three of six keys with equal "
    "scores: what does softmax give them?",
    W4=(0.0, 0.0, "the slide is right about it"),
)
exercise.wrong(
    "slide_believed",
    "W4: that is the slide's number. May a query give any weight at all to a word that it must "
    "predict?",
    W4=(0.5, 0.5, "the slide is right about it"),
)
exercise.wrong(
    "one_mask_counted",
    "W4: that is the weight of one [Mask] key. How many of them are there?",
    W4=(1 / 6, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "start_token_counted",
    "W4: on the slide, you share the weight among seven keys. How many keys does the item name?",
    W4=(3 / 7, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "known_words_miscounted",
    "W4: your number fits other numbers of known words and of [Mask] keys than the item names. How "
    "many of each are there?",
    W4=(0.6, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "known_words_and_masks_miscounted",
    "W4: your number fits other numbers of known words and of [Mask] keys than the item names. How "
    "many of each are there?",
    W4=(0.4, 0.0, "a mask token is a key"),
)
for name, keys in (("mask_keys", 3), ("all_keys", 6)):
    exercise.wrong(
        f"{name}_counted",
        "W4: you count keys. The item asks how much of a query's weight, which is 1 in all, the "
        "[Mask] keys get.",
        W4=(keys, 0.0, "a mask token is a key"),
    )
exercise.wrong(
    "masks_get_everything",
    "W4: with your number, the three [Mask] keys get the whole weight of a query. What do the "
    "three known words get?",
    W4=(1.0, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "in_percent",
    "W4: your share is far above 1, or is it in percent? A query's whole weight is 1.",
    W4=(50, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "equal_share_of_three",
    "W4: that is a share of three equal keys. How many keys does a query look at on the slide?",
    W4=(1 / 3, 0.0, "a mask token is a key"),
)
SCORES_OF_ZERO = 1 / (math.e + 1)  # of three, next to three scores of 1
exercise.wrong(
    "scores_of_zero_on_the_slide",
    "W4: your number fits three scores of 0 next to three of 1. The item says which scores are "
    "equal on the slide: what does softmax make of six such scores?",
    W4=(SCORES_OF_ZERO, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "mask_multiplied",
    "W4: your right number fits three scores that are multiplied by 0, next to three of 1. Does a "
    "score of 0 hide a key from softmax?",
    W4=(0.5, SCORES_OF_ZERO, "a mask token is a key"),
)
exercise.wrong(
    "share_of_a_later_word",
    "W4: your right number is the share of one of six keys, none of them hidden. How much may go "
    "to a word that comes later?",
    W4=(0.5, 1 / 6, "a mask token is a key"),
)
exercise.wrong(
    "right_share_not_a_number",
    "W4: your right number is NaN, and a share cannot be that. What is 0 times infinity, and what "
    "does softmax make of a row of -inf alone?",
    W4=(0.5, math.nan, "a mask token is a key"),
)
for name, score in (("minus_infinity", -math.inf), ("minus_a_billion", -1e9), ("minus_1e4", -1e4)):
    exercise.wrong(
        f"{name}_for_a_share",
        "W4: your right number is a masked score. The item asks for a share of the weight: what "
        "does softmax make of such a score?",
        W4=(0.5, score, "a mask token is a key"),
    )
exercise.wrong(
    "share_of_a_known_word",
    "W4: your right number is what one of the three known words gets without the rest. How much "
    "may go to a word that comes later?",
    W4=(0.5, 1 / 3, "a mask token is a key"),
)
exercise.wrong(
    "past_counted",
    "W4: your right number belongs to the three words that are known. What must the future get?",
    W4=(0.5, 1.0, "a mask token is a key"),
)
exercise.wrong(
    "shares_swapped",
    "W4: your second number is the slide's, and it stands where the right one should be. How much "
    "weight may go to the future?",
    W4=(0.0, 0.5, "a mask token is a key"),
)
exercise.wrong(
    "diagonal_allowed",
    "S2: your right number counts j' = j or the start token, too. In 5.1, place i reads word i: "
    "which word does it predict, and which pairs (j, j') does the diagonal give?",
    S2=(10, 15, "an output sees itself, too"),
)
DIAGONAL_READ = (
    "S2: the slide's sum contains neither j' = j nor the start token. Count its terms for j = 1 "
    "first: how many are there?"
)
exercise.wrong(
    "diagonal_read",
    DIAGONAL_READ,
    S2=(15, 15, "the slide is right about it"),
)
exercise.wrong(
    "diagonal_turned_round",
    DIAGONAL_READ,
    S2=(15, 10, "word j is not known yet"),
)
for everything in (25, 20):
    exercise.wrong(
        f"everything_seen_{everything}",
        "S2: your right number counts pairs of later words, too. Which of them must not be used?",
        S2=(10, everything, "every output sees all outputs"),
    )
    exercise.wrong(
        f"every_pair_on_the_slide_{everything}",
        "S2: on the slide, you count pairs in which word j is computed from a later one, too. "
        "Which sign does the slide put between j' and j?",
        S2=(everything, 10, "only earlier words are known"),
    )
for name, pairs, advice in (
    (
        "last_row_alone",
        4,
        "S2: that is the number of pairs in the last row alone. How many rows are counted?",
    ),
    (
        "four_words",
        6,
        "S2: a number of yours fits four output words. For which j does the slide's sum run, and "
        "how many terms has the last one?",
    ),
    (
        "words_counted",
        5,
        "S2: that is the number of words, or of pairs on the diagonal. Which pairs (j, j') does "
        "the item count?",
    ),
):
    exercise.wrong(name, advice, S2=(pairs, pairs, "the slide is right about it"))
    exercise.wrong(f"{name}_on_the_slide", advice, S2=(pairs, 10, "all earlier words are known"))
    exercise.wrong(f"{name}_as_right", advice, S2=(10, pairs, "all earlier words are known"))
for name, number in (("nan", math.nan), ("infinity", math.inf)):
    exercise.wrong(
        f"{name}_for_a_count",
        "S2: your right number is NaN or infinity, but the item asks for a number of pairs. How "
        "many pairs (j, j') have five words at most?",
        S2=(10, number, "all earlier words are known"),
    )
TOO_SHORT = "A reason is missing or very short. Can you say in a sentence what the slide does?"
exercise.wrong(
    "no_reasons",
    TOO_SHORT,
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)
for name, (says, right, _) in exercise.right.items():
    exercise.wrong(f"no_reason_for_{name}", TOO_SHORT, **{name: (says, right, "wrong")})

exercise.numbers_mixed_up("Which of them does the slide give?")

exercise.also_right_with(
    "rounded_and_in_lists",
    W4=[0.5, 0, "attention still has six keys"],
    S2=[10.0, 10.0, "the sum stops before word j"],
)
exercise.also_right_with(
    "tensors",
    W4=(torch.tensor(0.5), torch.tensor(0.0), "the scores must be masked instead"),
    S2=(torch.tensor(10), torch.tensor(10), "no word is computed from itself"),
)
