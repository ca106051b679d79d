"""errata: four numbers on the slides, and what they should be."""

from __future__ import annotations

import torch

from attnlab.checking.answers import entries, plain, right_number
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["errata"])


NAMES = ("N1", "N2", "N6", "S1")


@exercise.check(points=2, judge=Close(atol=5e-3))
def what_the_slides_say(lab, draw):
    """The first of each item's three parts is the number that the slide gives."""
    return {name: plain(value) for name, value in entries(lab, 0, *NAMES).items()}


@exercise.check(points=1)
def reasons(lab, draw):
    """The third part of each item is a reason, in at least four words."""
    given = entries(lab, 2, *NAMES).items()
    return {name: len(str(reason).split()) >= 4 for name, reason in given}


@exercise.check(points=1.5, hidden=True, judge=Close(atol=5e-3))
def masked_softmax(lab, draw):
    """N1: what softmax gives there, once the future is masked."""
    return right_number(lab, "N1")


@exercise.check(points=1, hidden=True, judge=Close(atol=5e-3))
def sum_of_a_row(lab, draw):
    """N2: what a row of attention weights sums to."""
    return right_number(lab, "N2")


@exercise.check(points=1.5, hidden=True, judge=Close(atol=5e-3))
def weight_of_fruit(lab, draw):
    """N6: the weight of fruit under softmax."""
    return right_number(lab, "N6")


@exercise.check(points=1, hidden=True, judge=Close(atol=5e-3))
def toy_table(lab, draw):
    """S1: what the attention of one output sums to."""
    return right_number(lab, "S1")


RIGHT = {
    "N1": (0.3, 0.3156, "rounded down, and by too much"),
    "N2": (1.1, 1.0, "these are scores before softmax"),
    "N6": (0.2, 0.1834, "divided by the sum, not softmax"),
    "S1": (2 / 3, 1.0, "weights over inputs must share one"),
}


def but(**wrong):
    """The right errata, but for these entries."""
    return {"errata": {**RIGHT, **wrong}}


@exercise.mistake(
    "N1: you took softmax over all four scores and masked afterwards, so the row no longer sums "
    "to one. When does -inf come in, before or after the exponential?"
)
def masked_after_softmax():
    return but(N1=(0.3, 0.2508, "the mask was applied too late"))


@exercise.mistake(
    "N1: a masked score was set to 0, and exp(0) = 1 still takes its share. Which score gives the "
    "probability 0?"
)
def filled_with_zero():
    return but(N1=(0.3, 0.2558, "masked scores were set to zero"))


@exercise.mistake(
    "N1: your softmax ran down the column. The slide's rows are the words that look; along which "
    "axis do their weights sum to one?"
)
def softmax_down_the_column():
    return but(N1=(0.3, 0.2985, "softmax along the other axis"))


@exercise.mistake(
    'N1: that is the value of another column. Counting from 0, "am" is column 1 of the row '
    'for "a", which is row 2.'
)
def another_column():
    return but(N1=(0.3, 0.2584, "looked at the first column"))


@exercise.mistake(
    "N1: you divided the scores by their sum. What does the slide say is applied to them?"
)
def scores_by_their_sum():
    return but(N1=(0.3, 0.3, "the slide is right about it"))


@exercise.mistake(
    "N2: the first part is what the slide's row adds up to, the second what a row of weights "
    "must add up to. Have they changed places?"
)
def sums_swapped():
    return but(N2=(1.0, 1.1, "these are scores before softmax"))


@exercise.mistake(
    "N2: a row of attention weights is a distribution, whatever the scores in it add up to. What "
    "does each row of a softmax add up to?"
)
def sum_believed():
    return but(N2=(1.1, 1.1, "the slide's row sums to that"))


@exercise.mistake(
    "N6: .2 is what dividing by the sum gives, the slide's own way. What does your `softmax` make "
    "of the row for apple?"
)
def slide_believed():
    return but(N6=(0.2, 0.2, "the slide is right about it"))


@exercise.mistake(
    "N6: that is the weight of apple itself in this row. Which column belongs to fruit?"
)
def weight_of_apple():
    return but(N6=(0.2, 0.3882, "softmax gives another weight there"))


@exercise.mistake(
    "N6: you left out the three words with similarity 0. Does softmax give a score of 0 no weight?"
)
def zeros_left_out():
    return but(N6=(0.2, 0.3208, "softmax over two words only"))


@exercise.mistake(
    "S1: you summed a column. Each row of that table is one output position; its weights say how "
    "much it takes from each input. Which sums are to be one?"
)
def columns_summed():
    return but(S1=(5 / 6, 1.0, "columns do not all sum to one"))


@exercise.mistake(
    "S1: the second part is what the weights of one output should add up to if they are to be a "
    "weighted mean. Is 2/3 enough?"
)
def toy_table_believed():
    return but(S1=(2 / 3, 2 / 3, "all rows but one agree"))


@exercise.mistake(
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide."
)
def no_reasons():
    return {"errata": {name: (slide, right, "wrong") for name, (slide, right, _) in RIGHT.items()}}


@exercise.also_right
def rounded_and_in_lists():
    return but(
        N1=[0.3, 0.32, "the third digit was cut off, not rounded"],
        N6=[0.2, 0.183, "this is a share of the sum"],
        S1=[0.667, 1, "the three weights are too small"],
    )


@exercise.also_right
def tensors():
    scores = torch.tensor([0.0, 0.0, 0.25, 0.0, 1.0])
    return but(
        N6=(scores[2] / scores.sum(), torch.softmax(scores, 0)[2], "softmax serves words at zero"),
        N2=(torch.tensor([0.1, 0.3, 0.6, 0.1]).sum(), torch.ones(1), "a sum above one is no share"),
    )
