"""errata: five formulas on the slides, and what they should be."""

import math

import torch

from attnlab.checking.answers import entries, kind, plain
from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "C4": Item(
            "what the scores of a head are divided by, on the slide and in truth.",
            points=1,
            says=22.627,
            right=8.0,
            reason="d is the width of the model, a head has less",
            atol=0.05,
            question="What is the width of the model, and what is the width of one head?",
        ),
        "C9": Item(
            "how many rows the table of scores has, by the slide's formula and in truth.",
            points=1,
            says=7,
            right=5,
            reason="with tokens in rows it compares features",
            question=(
                "Which axis of x holds the tokens in each of the two lines, and which axis remains?"
            ),
        ),
        "G5": Item(
            "the weight of key 0 for query 0, with the softmax along either axis.",
            points=1.5,
            says=0.6698,
            right=0.4011,
            reason="queries are in the columns of that table",
            atol=5e-3,
            question="Along which axis are the keys in each of the two tables?",
        ),
        "N3": Item(
            "the variance of the scores that enter the softmax, on the slide and in truth.",
            points=1.5,
            says=64.0,
            right=1.0,
            reason="the scale is missing before the softmax",
            atol=0.05,
            rtol=0.06,
            question=(
                "How does the variance of a sum of products grow with their number, "
                "and what does the scale do to it?"
            ),
        ),
        "W1": Item(
            "the standard deviation of a head's scores, on the slide and in truth.",
            points=1.5,
            says=0.3536,
            right=1.0,
            reason="a query has 64 numbers and not 512",
            atol=0.02,
            rtol=0.03,
            question=(
                "How many numbers has a query of one head, and how does the spread of "
                "its scores grow with them?"
            ),
        ),
    },
    says_points=0,
    reasons_points=0.5,
)


def order(one, other):
    """Which of two numbers is larger, in words."""
    kinds = [kind(part) if part == part else "NaN" for part in (one, other)]
    if kinds != ["one number"] * 2:
        return f"not two numbers but {kinds[0]} and {kinds[1]}"
    if one == other:
        return "equal"
    return "the first one is larger" if one > other else "the second one is larger"


def is_larger(one, other):
    """Whether one number is larger than the other; False if these are not two numbers."""
    return order(one, other) == "the first one is larger"


def near(number, *others):
    """Whether a number is one of these, up to rounding or measuring; False of what is no number."""
    is_number = isinstance(number, (int, float))
    return is_number and any(abs(number - other) <= 0.06 * other for other in others)


# A student may read the text of a failed check, so these numbers stand outside of the checks.
UNDER_ROOTS, LONGEST_AXIS, ROOT_OF_VARIANCE, SQUARE_OF_DEVIATION = (512, 64), 7, 8, 1 / 8


def kind_of_spread(number):
    """What a number of W1 may be, in words."""
    if near(number, 512**0.5):
        return "the root that the slide divides by"
    if near(number, 8):
        return "the spread of scores that nothing divides"
    # A measured spread may be a little above 1; what is no number is told by another entry.
    return "a number above 1" if is_larger(number, 1.06) else "a spread of divided scores"


def pair_of(lab, name):
    """The two numbers of an item; nothing if it is not written."""
    pairs = zip(entries(lab, 0, name).values(), entries(lab, 1, name).values(), strict=True)
    return next(((plain(slide), plain(right)) for slide, right in pairs), None)


def order_of(pair):
    """Whether two numbers are different, and which of them is larger."""
    return {} if pair is None else {"your two numbers": order(*pair)}


IN_PLACE = "Are the two exchanged, or is one of them not what the item asks for?"


@exercise.check(points=0.2, question=IN_PLACE)
def divisors(lab, draw):
    """C4: two different divisors, the larger one first."""
    pair = pair_of(lab, "C4")
    under = any(near(number, *UNDER_ROOTS) for number in pair or ())
    word = "what is under the root" if under else "divisors"
    return {"what your numbers are": word} | order_of(pair)


@exercise.check(points=0.2, question=IN_PLACE)
def rows(lab, draw):
    """C9: two different numbers of rows, the larger one first."""
    pair = pair_of(lab, "C9")
    above = any(is_larger(number, LONGEST_AXIS) for number in pair or ())
    word = "one is above the longest axis of x" if above else "lengths of axes"
    return {"what your numbers are": word} | order_of(pair)


@exercise.check(points=0.2, question=IN_PLACE)
def weights(lab, draw):
    """G5: two different weights, the larger one first."""
    return order_of(pair_of(lab, "G5"))


@exercise.check(points=0.2, question=IN_PLACE)
def variances(lab, draw):
    """N3: two different variances, the larger one first."""
    pair = pair_of(lab, "N3")
    rooted = pair is not None and near(pair[0], ROOT_OF_VARIANCE)
    word = "the root of a variance" if rooted else "a variance"
    return {"your first number seems to be": word} | order_of(pair)


@exercise.check(points=0.2, question=IN_PLACE)
def deviations(lab, draw):
    """W1: two different standard deviations of divided scores, the larger one second."""
    pair = pair_of(lab, "W1")
    slide, right = pair or (None, None)
    squared = near(slide, SQUARE_OF_DEVIATION)
    return {
        "your first number seems to be": "a variance" if squared else kind_of_spread(slide),
        "your second number seems to be": kind_of_spread(right),
    } | order_of(pair)


def wrong_pair(name, advice, **pairs):
    """A known mistake in the numbers of one item, exactly and as people round them."""
    ((item, (slide, right, reason)),) = pairs.items()
    known = set()
    for digits in (15, 4, 3, 2):
        pair = round(slide, digits), round(right, digits)
        if pair not in known:
            rounded = f"_to_{digits}_digits" if known else ""
            exercise.wrong(f"{name}{rounded}", advice, **{item: (*pair, reason)})
        known.add(pair)


def share(score, times):
    """The softmax of `score` if it occurs so many times, next to a single score of 0."""
    mine = math.exp(score)
    return mine / (times * mine + 1)


SLIDE_G5, RIGHT_G5 = share(2**-0.5, 1), share(2**-0.5, 2)


for name, slide, right in (
    ("without_the_root", 512.0, 64.0),
    ("one_root_forgotten", 512**0.5, 64.0),
    ("root_of_the_slide_forgotten", 512.0, 8.0),
):
    wrong_pair(
        name,
        "C4: a number of yours is still the one under its root. What does the formula do with it "
        "before it divides?",
        C4=(slide, right, "d is the width of the model"),
    )
wrong_pair(
    "divisors_swapped",
    "C4: your smaller number comes first, but the slide's is the larger one. Which of the two is "
    "on the slide with the feed-forward formula, and which on the one before?",
    C4=(8.0, 512**0.5, "d is the width of the model"),
)
wrong_pair(
    "root_of_heads",
    "C4: you divided by the root of the number of heads. How many numbers does each of them get?",
    C4=(512**0.5, 8**0.5, "there are eight heads in it"),
)
wrong_pair(
    "shapes_swapped",
    "C9: your smaller number comes first, but the slide's is the larger one. With tokens in the "
    "rows of x, what is the shape of Qx, and which axis does the transpose then put in front? Try "
    "it with a tensor of zeros.",
    C9=(5, 7, "with tokens in rows it compares features"),
)
for name, slide, right in (("entries_counted", 49, 25), ("entries_of_one_table", 7, 25)):
    wrong_pair(
        name,
        "C9: you give a number above the longest axis of x. What does the item count, the entries "
        "of a table or its rows?",
        C9=(slide, right, "with tokens in rows it compares features"),
    )
wrong_pair(
    "softmax_without_scale",
    "G5: your softmax is right, but its scores are not the slide's. What do both of the slide's "
    "formulas do to the scores before the softmax?",
    G5=(share(1.0, 1), share(1.0, 2), "queries are in the columns there"),
)
for name, root in (("divided_by_two", 2.0), ("divided_by_root_of_keys", 3**0.5)):
    wrong_pair(
        name,
        "G5: your softmax is right, but its scores are divided by another number than the slide's. "
        "What is below both fraction lines, and how long is one query here?",
        G5=(share(1 / root, 1), share(1 / root, 2), "queries are in the columns there"),
    )
wrong_pair(
    "axes_swapped",
    "G5: your smaller number comes first, but the slide's is the larger one. Which of the two "
    "comes from the softmax along the rows of K Qᵀ?",
    G5=(RIGHT_G5, SLIDE_G5, "queries are in the columns there"),
)
for name, right in (("deviation_for_variance", 1.0), ("deviation_twice", 8.0)):
    wrong_pair(
        name,
        "N3: your first number is a standard deviation, the root of a variance. Which measure of "
        "spread does the question ask for?",
        N3=(8.0, right, "the scale is missing before softmax"),
    )
wrong_pair(
    "variances_swapped",
    "N3: your smaller number comes first, but the slide's is the larger one. Which of the two "
    "belongs to scores that nothing divides?",
    N3=(1.0, 64.0, "the scale is missing before softmax"),
)
wrong_pair(
    "divided_by_d",
    "N3: you divided the scores by d_k itself. If you divide scores by a number, by what is their "
    "variance divided?",
    N3=(64.0, 1 / 64, "the scale is missing before softmax"),
)
wrong_pair(
    "variance_divided_by_root",
    "N3: you divided the variance by the square root of d_k, but attention divides the scores. "
    "What does that do to their variance?",
    N3=(64.0, 8.0, "the scale is missing before softmax"),
)
wrong_pair(
    "variance_for_deviation",
    "W1: your first number is a variance, the square of a deviation. Which measure of spread does "
    "the question ask for?",
    W1=(0.125, 1.0, "a query has 64 numbers"),
)
wrong_pair(
    "root_forgotten",
    "W1: you divided by 512 itself. What does the slide divide by?",
    W1=(64**0.5 / 512, 1.0, "a query has 64 numbers"),
)
wrong_pair(
    "right_without_scale",
    "W1: your right number belongs to scores that are not divided at all. What should they be "
    "divided by?",
    W1=(512**-0.5 * 8, 8.0, "a query has 64 numbers"),
)
wrong_pair(
    "slide_without_scale",
    "W1: the slide does divide these scores, but your first number is the spread of scores that "
    "nothing divides. By what does it divide them?",
    W1=(8.0, 1.0, "a query has 64 numbers"),
)
wrong_pair(
    "ratio_upside_down",
    "W1: by your first number, scores spread more than they should on the slide. Which root is "
    "larger, the slide's or the right one?",
    W1=(8**0.5, 1.0, "a query has 64 numbers"),
)
wrong_pair(
    "divisors_given",
    "W1: these are two numbers that divide scores. How large is the spread of the scores after "
    "each division?",
    W1=(512**0.5, 8.0, "a query has 64 numbers"),
)
for name, first, second in (
    ("divisor_of_the_slide_given", 512**0.5, 1.0),
    ("divisor_of_the_slide_given_as_right", 1.0, 512**0.5),
    ("divisors_given_and_swapped", 8.0, 512**0.5),
):
    wrong_pair(
        name,
        "W1: one of your two numbers is the root that the slide divides by. How large is the "
        "spread of the scores after that division?",
        W1=(first, second, "a query has 64 numbers"),
    )
wrong_pair(
    "spread_above_one",
    "W1: you give a number above 1. How large is the spread of a head's scores after they are "
    "divided by the right root?",
    W1=(0.3536, 2.8284, "a query has 64 numbers"),
)
for name, slide, right in (
    ("undivided_variances", 512.0, 64.0),
    ("undivided_variances_swapped", 64.0, 512.0),
    ("ratios_upside_down", 8**0.5, 8.0),
):
    wrong_pair(
        name,
        "W1: both of your numbers are above 1. How large is the spread of a head's scores after "
        "they are divided by the right root?",
        W1=(slide, right, "a query has 64 numbers"),
    )
wrong_pair(
    "deviations_swapped",
    "W1: your larger number comes first, but the slide's is the smaller one. Which of the two "
    "comes with the slide's divisor?",
    W1=(1.0, 512**-0.5 * 8, "a query has 64 numbers"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide.",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)
exercise.wrong(
    "slide_left_out",
    "An item has three parts: what the slide says, what is right, and why. Which one is missing?",
    **{name: (right, reason) for name, (_, right, reason) in exercise.right.items()},
)

exercise.wrong(
    "reasons_left_out",
    "An item of yours does not have exactly three parts. What is the third part that the cell asks "
    "for?",
    **{name: (says, right) for name, (says, right, _) in exercise.right.items()},
)
exercise.wrong(
    "all_pairs_swapped",
    "In every item, the other one of your two numbers should be the larger one. Which of the two "
    "follows from the slide as it is, and which place has it in the cell's example?",
    **{name: (right, says, reason) for name, (says, right, reason) in exercise.right.items()},
)

# Before the hand-in only the order is checked, so this must be true of wrong numbers, too.
TWICE = {
    "C4": "How many products does one head's dot product add up, if eight heads share 512?",
    "C9": "What comes out of each line if x has one token per row?",
    "G5": "Along which axis are the keys in each of the two tables?",
    "N3": "What does `score_variance` return with `scaled=True`, and what without it?",
    "W1": "How many numbers has a query after the slide's matrix of 512 by 64?",
}
for item, ask in TWICE.items():
    says, right, reason = exercise.right[item]
    for which, number in (("slide", says), ("right", right)):
        wrong_pair(
            f"{item}_{which}_number_twice",
            f"{item}: you give one number twice, but the slide's is not the right one. {ask}",
            **{item: (number, number, reason)},
        )
exercise.also_right_with(
    "rounded_and_in_lists",
    C4=[22.6, 8, "a head has only 64 numbers"],
    C9=[7.0, 5.0, "columns and rows are swapped"],
    G5=[0.67, 0.401, "that softmax runs over the queries"],
    W1=[0.35, 0.99, "measured with four thousand random scores"],
)


@exercise.also_right
def measured():
    g = torch.Generator().manual_seed(7)
    q, k = torch.randn(2, 50_000, 64, generator=g)
    scores = (q * k).sum(-1)
    x, to_q = torch.zeros(5, 7), torch.zeros(3, 5)
    table = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]) / 2**0.5
    width, head = torch.tensor(512.0), torch.tensor([64.0])
    errata = {
        "C4": (width.sqrt(), head.sqrt(), "a head has only 64 numbers"),
        "C9": (len((to_q @ x).T @ (to_q @ x)), len(x), "columns and rows are swapped"),
        "G5": (table.softmax(-1)[0, 0], table.softmax(0)[0, 0], "that runs over the queries"),
        "N3": (scores.var(), (scores / 8).var(), "nothing divides them before softmax"),
        "W1": ((scores / 512**0.5).std(), (scores / 8).std(), "the product has 64 terms"),
    }
    return {"errata": errata}
