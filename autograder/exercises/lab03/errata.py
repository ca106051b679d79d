"""errata: five formulas on the slides, and what they should be."""

from __future__ import annotations

import torch

from attnlab.checking.answers import plain
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["errata"])


NAMES = ("C4", "C9", "G5", "N3", "W1")


def parts(lab, name):
    """The three parts of an item; none where it has not been written or is no list."""
    item = lab.errata.get(name, ())
    return list(item) if isinstance(item, (tuple, list)) else []


def numbers(lab, name):
    """What the slide gives and what is right, as far as they have been written."""
    return {name: [plain(value) for value in parts(lab, name)[:2]]}


def is_number(value):
    return not isinstance(value, str) and torch.as_tensor(value).numel() == 1


@exercise.check(points=1)
def three_parts(lab, draw):
    """Each item has two numbers and a reason, in at least four words."""
    forms = {}
    for name in NAMES:
        if name not in lab.errata:
            continue
        item = parts(lab, name)
        forms[name] = {
            "parts": len(item),
            "numbers": [is_number(value) for value in item[:2]],
            "words enough": len(str(item[-1]).split()) >= 4 if item else False,
        }
    return forms


@exercise.check(points=1, hidden=True, judge=Close(atol=0.02))
def what_to_divide_by(lab, draw):
    """C4: what the scores of a head are divided by, on the slide and in truth."""
    return numbers(lab, "C4")


@exercise.check(points=1.5, hidden=True)
def rows_and_columns(lab, draw):
    """C9: how many rows the table of scores has, by the slide's formula and in truth."""
    return numbers(lab, "C9")


@exercise.check(points=1.5, hidden=True, judge=Close(atol=5e-3))
def which_axis(lab, draw):
    """G5: the weight of key 0 for query 0, with the softmax along either axis."""
    return numbers(lab, "G5")


@exercise.check(points=1.5, hidden=True, judge=Close(atol=0.05, rtol=0.06))
def variance_without_scale(lab, draw):
    """N3: the variance of the scores that enter the softmax, on the slide and in truth."""
    return numbers(lab, "N3")


@exercise.check(points=1.5, hidden=True, judge=Close(atol=0.02, rtol=0.03))
def spread_of_scores(lab, draw):
    """W1: the standard deviation of a head's scores, on the slide and in truth."""
    return numbers(lab, "W1")


RIGHT = {
    "C4": (22.627, 8.0, "d is the width of the model, a head has less"),
    "C9": (7, 5, "with tokens in rows it compares features"),
    "G5": (0.6698, 0.4011, "queries stand in the columns of that table"),
    "N3": (64.0, 1.0, "the scale is missing before the softmax"),
    "W1": (0.3536, 1.0, "a query has 64 numbers and not 512"),
}


def but(**wrong):
    """The right errata, but for these entries."""
    return {"errata": {**RIGHT, **wrong}}


@exercise.mistake(
    "C4: you gave the numbers under the roots. What does the formula do with them before it "
    "divides?"
)
def without_the_root():
    return but(C4=(512.0, 64.0, "d is the width of the model"))


@exercise.mistake(
    "C4: these two are the other way round. Which of them stands on the slide with the "
    "feed-forward formula, and which on the one before?"
)
def divisors_swapped():
    return but(C4=(8.0, 22.627, "d is the width of the model"))


@exercise.mistake(
    "C4: you believe the slide. Among how many numbers does one head's dot product add up, if "
    "eight heads share 512?"
)
def divisor_believed():
    return but(C4=(22.627, 22.627, "the slide is right about this"))


@exercise.mistake(
    "C4: you divided by the root of the number of heads. How many numbers does each of them get?"
)
def root_of_heads():
    return but(C4=(22.627, 2.8284, "there are eight heads in it"))


@exercise.mistake(
    "C9: with tokens in the rows of x, what is the shape of Qx, and which axis does the transpose "
    "then put in front? Try it with a tensor of zeros."
)
def shapes_swapped():
    return but(C9=(5, 7, "with tokens in rows it compares features"))


@exercise.mistake(
    "C9: read x as the slide's second formula does, one token in a row. That is not how its first "
    "formula needs it; what comes out if you put it in all the same?"
)
def columns_assumed():
    return but(C9=(5, 5, "the slide is right if x has columns"))


@exercise.mistake(
    "C9: a table of scores has a row for each word that looks. How many words has the sentence?"
)
def feature_table_believed():
    return but(C9=(7, 7, "the slide is right about this"))


@exercise.mistake("C9: you counted all entries of the table. How many rows has it?")
def entries_counted():
    return but(C9=(49, 25, "with tokens in rows it compares features"))


@exercise.mistake(
    "G5: you left out the division by the square root of d_k. It stands in both of the slide's "
    "formulas."
)
def softmax_without_scale():
    return but(G5=(0.7311, 0.4223, "queries stand in the columns there"))


@exercise.mistake(
    "G5: these two are the other way round. Which of them comes from the softmax along the rows "
    "of K Qᵀ?"
)
def axes_swapped():
    return but(G5=(0.4011, 0.6698, "queries stand in the columns there"))


@exercise.mistake(
    "G5: both of your numbers come from the right axis. What does `softmax(K @ Q.T / 2**0.5, "
    "dim=-1)` give, if one takes the slide's formula as it stands?"
)
def right_axis_twice():
    return but(G5=(0.4011, 0.4011, "queries stand in the columns there"))


@exercise.mistake(
    "G5: your right number still shares one key among the queries. A query's weights have the sum "
    "one over which things?"
)
def wrong_axis_twice():
    return but(G5=(0.6698, 0.6698, "the slide is right about this"))


@exercise.mistake("N3: these are standard deviations. The question asks for the variance.")
def deviation_for_variance():
    return but(N3=(8.0, 1.0, "the scale is missing before softmax"))


@exercise.mistake(
    "N3: you divided by d_k itself. The variance shrinks with the square of what you divide by."
)
def divided_by_d():
    return but(N3=(64.0, 1 / 64, "the scale is missing before softmax"))


@exercise.mistake(
    "N3: you divided the variance by the square root of d_k. It is the scores that are divided; "
    "what does that do to their variance?"
)
def variance_divided_by_root():
    return but(N3=(64.0, 8.0, "the scale is missing before softmax"))


@exercise.mistake("N3: you believe the slide. What does `score_variance` give with `scaled=True`?")
def no_scale_believed():
    return but(N3=(64.0, 64.0, "the slide is right about this"))


@exercise.mistake("W1: these are variances. The question asks for the standard deviation.")
def variance_for_deviation():
    return but(W1=(0.125, 1.0, "a query has 64 numbers"))


@exercise.mistake(
    "W1: you let queries and keys have 512 numbers. How many are left after the slide's matrix of "
    "512 by 64?"
)
def queries_of_full_width():
    return but(W1=(1.0, 1.0, "the slide is right about this"))


@exercise.mistake("W1: you divided by 512 itself. The slide divides by its square root.")
def root_forgotten():
    return but(W1=(64**0.5 / 512, 1.0, "a query has 64 numbers"))


@exercise.mistake(
    "W1: your right number belongs to scores that are not divided at all. By what should they be?"
)
def right_without_scale():
    return but(W1=(0.3536, 8.0, "a query has 64 numbers"))


@exercise.mistake(
    "W1: these two are the other way round. Which of them comes with the slide's divisor?"
)
def deviations_swapped():
    return but(W1=(1.0, 0.3536, "a query has 64 numbers"))


@exercise.mistake(
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide."
)
def no_reasons():
    return {"errata": {name: (slide, right, "wrong") for name, (slide, right, _) in RIGHT.items()}}


@exercise.mistake(
    "An item has three parts: what the slide gives, what is right, and why. Which one is missing?"
)
def slide_left_out():
    return {"errata": {name: (right, why) for name, (_, right, why) in RIGHT.items()}}


@exercise.also_right
def rounded_and_in_lists():
    return but(
        C4=[22.63, 8, "a head has only 64 numbers"],
        C9=[7.0, 5.0, "columns and rows change places"],
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
    return but(
        C4=(torch.tensor(512.0).sqrt(), torch.tensor([64.0]).sqrt(), "a head has only 64 numbers"),
        C9=(len((to_q @ x).T @ (to_q @ x)), len(x), "columns and rows change places"),
        G5=(table.softmax(-1)[0, 0], table.softmax(0)[0, 0], "that softmax runs over queries"),
        N3=(scores.var(), (scores / 8).var(), "nothing divides them before softmax"),
        W1=((scores / 512**0.5).std(), (scores / 8).std(), "the product has 64 terms"),
    )
