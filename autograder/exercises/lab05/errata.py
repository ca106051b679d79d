"""errata: three places where the slides' masks do not hold."""

from __future__ import annotations

import torch

from attnlab.checking.answers import entries, plain, right_number
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["errata"])


NAMES = ("N1", "N2", "S2")


@exercise.check(points=0.5, judge=Close(atol=4e-3))
def what_the_slides_say(lab, draw):
    """The first of each item's three parts is the number that the slide gives."""
    return {name: plain(value) for name, value in entries(lab, 0, *NAMES).items()}


@exercise.check(points=0.5)
def reasons(lab, draw):
    """The third part of each item is a reason, in at least four words."""
    given = entries(lab, 2, *NAMES).items()
    return {name: len(str(reason).split()) >= 4 for name, reason in given}


@exercise.check(points=1, hidden=True, judge=Close(atol=4e-3))
def masked_softmax(lab, draw):
    """N1: the weight of "I" in the row for "am", once the future is masked."""
    return right_number(lab, "N1")


@exercise.check(points=1, hidden=True, judge=Close(atol=4e-3))
def scores_are_no_weights(lab, draw):
    """N2: the weight of "a" in the row for "a" before masking."""
    return right_number(lab, "N2")


@exercise.check(points=1, hidden=True)
def the_decoder_sees_itself(lab, draw):
    """S2: how many pairs of five outputs may look at each other."""
    return right_number(lab, "S2")


RIGHT = {
    "N1": (0.37, 0.3775, "the last digit was cut off"),
    "N2": (0.6, 0.3385, "these are scores before softmax"),
    "S2": (10, 15, "every output also sees itself"),
}


def but(**wrong):
    """The right errata, but for these entries."""
    return {"errata": {**RIGHT, **wrong}}


@exercise.mistake(
    "N1: you took softmax over all four scores and masked afterwards, so the row no longer sums "
    "to one. When does -inf come in, before or after the exponential?"
)
def masked_after_softmax():
    return but(N1=(0.37, 0.2104, "the mask was applied too late"))


@exercise.mistake(
    "N1: masked scores were set to 0, and exp(0) = 1 still takes its share. Which score leaves "
    "nothing after the exponential?"
)
def filled_with_zero():
    return but(N1=(0.37, 0.2243, "masked scores were set to zero"))


@exercise.mistake(
    'N1: that is the weight of the word itself. Counting from 0, "I" is column 0 of the row for '
    '"am", which is row 1.'
)
def another_column():
    return but(N1=(0.37, 0.6225, "looked at the second column"))


@exercise.mistake(
    "N1: the slide was believed. Compute the number to four digits and round it to two: what "
    "comes out?"
)
def slide_believed():
    return but(N1=(0.37, 0.37, "the slide is right about it"))


@exercise.mistake(
    "N1: your row divides the two scores by their sum. What does the slide say is applied?"
)
def scores_by_their_sum():
    return but(N1=(0.37, 0.1429, "a share of the sum of scores"))


@exercise.mistake(
    "N2: the table was believed. Its rows look like shares of one, and one of them sums to 1.1. "
    "What does softmax make of that row?"
)
def table_believed():
    return but(N2=(0.6, 0.6, "the table is right about it"))


@exercise.mistake(
    "N2: dividing a row by its sum makes shares of it, and is not what this lecture does to scores."
)
def divided_by_the_sum():
    return but(N2=(0.6, 0.5455, "a share of the sum of scores"))


@exercise.mistake(
    "N2: that is the weight after masking. The question is about the table before, where all four "
    "words share."
)
def after_masking():
    return but(N2=(0.6, 0.4260, "softmax of the masked row"))


@exercise.mistake(
    "N2: your softmax ran down the column. The words that look are the rows: along which axis do "
    "their weights sum to one?"
)
def softmax_down_the_column():
    return but(N2=(0.6, 0.3314, "softmax along the other axis"))


@exercise.mistake(
    "S2: with j' < j as on the slide, the first output may look at nothing at all. What should it "
    "have to go by?"
)
def self_excluded():
    return but(S2=(10, 10, "the slide is right about it"))


@exercise.mistake(
    "S2: that is all pairs, those that look ahead as well. Which half may not be seen?"
)
def everything_seen():
    return but(S2=(10, 25, "every output sees all outputs"))


@exercise.mistake("S2: the two numbers have changed places: first the slide's, then the right one.")
def numbers_swapped():
    return but(S2=(15, 10, "every output also sees itself"))


@exercise.mistake(
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide."
)
def no_reasons():
    return {"errata": {name: (slide, right, "wrong") for name, (slide, right, _) in RIGHT.items()}}


@exercise.also_right
def rounded_and_in_lists():
    return but(
        N1=[0.37, 0.38, "it should be rounded up to .38"],
        N2=[0.6, 0.339, "a score is not a weight"],
        S2=[10.0, 15.0, "one j' is missing in each row"],
    )


@exercise.also_right
def tensors():
    rows = torch.tensor([[0.1, 0.6, -torch.inf, -torch.inf], [0.1, 0.3, 0.6, 0.1]]).softmax(-1)
    return but(
        N1=(0.37, rows[0, 0], "cut off after two digits"),
        N2=(torch.tensor(0.6), rows[1, 2], "softmax has yet to come"),
        S2=(torch.tensor(10), torch.ones(5, 5).tril().sum(), "an output also sees itself"),
    )
