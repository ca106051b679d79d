"""predictions: say what will come out, then run it."""

from __future__ import annotations

import torch

from attnlab.checking.answers import answers, kind
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["predictions"])


NAMES = ("P1", "P2", "P3", "P4", "P5")


@exercise.check(points=1)
def all_answered(lab, draw):
    """Each of the five questions has an answer: four numbers and one pair of numbers."""
    return {name: kind(answer) for name, answer in answers(lab, *NAMES).items()}


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def equal_scores(lab, draw):
    """P1: the softmax of four equal scores."""
    return answers(lab, "P1")


@exercise.check(points=1, hidden=True, judge=Close(atol=0.06))
def first_loss(lab, draw):
    """P2: the loss of a model that knows nothing yet."""
    return answers(lab, "P2")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def doubled_scores(lab, draw):
    """P3: doubling the scores, seen as a temperature."""
    return answers(lab, "P3")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def shifted_scores(lab, draw):
    """P4: what adding the same number to all logits does to the loss."""
    return answers(lab, "P4")


@exercise.check(points=1, hidden=True, judge=Close(atol=6e-2))
def where_fruit_moves(lab, draw):
    """P5: where "fruit" moves in the first sentence."""
    return answers(lab, "P5")


RIGHT = {"P1": 0.25, "P2": 10.82, "P3": 0.5, "P4": 0.0, "P5": [1.0, 7.8]}


def but(**wrong):
    """The right predictions, but for these."""
    return {"predictions": {**RIGHT, **wrong}}


@exercise.mistake(
    "P1: a softmax that subtracts the maximum sees four zeros here, not four thousands. What are "
    "four equal shares of one?"
)
def overflow_expected():
    return but(P1=float("nan"))


@exercise.mistake("P1: the scores are equal, so no entry can win. What do the four entries sum to?")
def winner_takes_all():
    return but(P1=1.0)


@exercise.mistake("P2: your number is in bits. The loss of this lab uses the natural logarithm.")
def loss_in_bits():
    return but(P2=15.62)


@exercise.mistake(
    "P2: 1/V is the probability of the right word. How surprised is a model that gives it this "
    "probability?"
)
def probability_for_loss():
    return but(P2=1 / 50257)


@exercise.mistake(
    "P2: that is the surprise of a coin, or of no surprise at all. How many words are equally "
    "likely here?"
)
def loss_of_a_sure_thing():
    return but(P2=0.0)


@exercise.mistake(
    "P3: larger scores are sharper, and so is a lower temperature. Do you multiply the scores by "
    "T or divide by it?"
)
def temperature_upside_down():
    return but(P3=2.0)


@exercise.mistake(
    "P4: adding a number to all scores of a row leaves softmax as it is. What does that mean for "
    "its logarithm?"
)
def loss_moves_along():
    return but(P4=5.0)


@exercise.mistake(
    "P4: adding a number to all scores of a row leaves softmax as it is. What does that mean for "
    "its logarithm?"
)
def loss_moves_against():
    return but(P4=-5.0)


@exercise.mistake(
    "P5: this is where apple moves. Which row of the table belongs to fruit, and which vector "
    "does it weight with .8?"
)
def apple_for_fruit():
    return but(P5=[4.0, 7.2])


@exercise.mistake(
    "P5: similarities of 1 and .25 are not weights yet: 1.25 times a word is too much of it. What "
    "does the lecture divide them by?"
)
def fruit_not_normalised():
    return but(P5=[1.25, 9.75])


@exercise.mistake("P5: fruit does not stay where it was: apple pulls at it as it pulls at apple.")
def fruit_stays():
    return but(P5=[0.0, 8.0])


@exercise.also_right
def rounded():
    return but(P2=10.8, P3=1 / 2, P4=0, P5=(1, 7.8))


@exercise.also_right
def as_tensors():
    return but(
        P1=torch.tensor([0.25]),
        P2=torch.log(torch.tensor(50257.0)),
        P4=torch.tensor(0),
        P5=torch.tensor([1.0, 7.8]),
    )
