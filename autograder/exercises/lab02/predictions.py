"""predictions: say what will come out, then run it."""

from __future__ import annotations

import math

import torch

from attnlab.checking.answers import answers, kind
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["predictions"])


NAMES = ("P1", "P2", "P3", "P4")


@exercise.check(points=1)
def all_answered(lab, draw):
    """Each of the four questions has a number for its answer."""
    return {name: kind(answer) for name, answer in answers(lab, *NAMES).items()}


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def equal_scores(lab, draw):
    """P1: the weight of a token beside padding."""
    return answers(lab, "P1")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=0.12))
def first_loss(lab, draw):
    """P2: the loss before the first step of training."""
    return answers(lab, "P2")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=1e-3))
def candidates(lab, draw):
    """P3: how many candidates a step of beam search has."""
    return answers(lab, "P3")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=1e-3))
def winner(lab, draw):
    """P4: the score of the better of two hypotheses."""
    return answers(lab, "P4")


RIGHT = {"P1": 1 / 3, "P2": 2.64, "P3": 29, "P4": -0.3}


def but(**wrong):
    """The right predictions, but for these."""
    return {"predictions": {**RIGHT, **wrong}}


@exercise.mistake("P1: padding does not share. How many places are there to share the one unit?")
def padding_shares():
    return but(P1=0.2)


@exercise.mistake("P1: equal scores have no winner. What do the weights of the tokens sum to?")
def winner_takes_all():
    return but(P1=1.0)


@exercise.mistake("P1: this is the weight of a place of padding. The question is for a token.")
def weight_of_padding():
    return but(P1=0.0)


@exercise.mistake("P2: your number is in bits. The loss uses the natural logarithm.")
def loss_in_bits():
    return but(P2=math.log2(14))


@exercise.mistake(
    "P2: those are the eleven characters. The model does not know yet that PAD and BOS never come "
    "and EOS comes last: how many columns do its logits have?"
)
def characters_only():
    return but(P2=math.log(11))


@exercise.mistake(
    "P2: that is the surprise of a model that is sure and right. What does one know that has "
    "learned nothing?"
)
def sure_from_the_start():
    return but(P2=0.0)


@exercise.mistake(
    "P2: those are the symbols of the source. Over which vocabulary does the decoder choose?"
)
def symbols_of_the_source():
    return but(P2=math.log(40))


@exercise.mistake(
    "P3: a finished hypothesis is not continued. Which place has it among the candidates?"
)
def finished_continued():
    return but(P3=42)


@exercise.mistake(
    "P3: the finished hypothesis is a candidate itself, just as it is. Did you count it?"
)
def finished_forgotten():
    return but(P3=28)


@exercise.mistake(
    "P3: each hypothesis offers all its continuations, and the best three of all of them are "
    "chosen afterwards. How many are there before the choice?"
)
def only_those_kept():
    return but(P3=3)


@exercise.mistake(
    "P4: that is the plain sum of the shorter one. With alpha = 1, what is it divided by?"
)
def sum_of_the_shorter():
    return but(P4=-1.2)


@exercise.mistake("P4: that is the mean of the shorter one. Compute both means: which is larger?")
def mean_of_the_shorter():
    return but(P4=-0.4)


@exercise.mistake(
    "P4: log-probabilities are negative, and so are their means. Is the better one above 0?"
)
def sign_lost():
    return but(P4=0.3)


@exercise.also_right
def rounded():
    return but(P1=0.333, P2=2.6, P3=29.0, P4=-3 / 10)


@exercise.also_right
def as_tensors():
    return but(P1=torch.tensor([1 / 3]), P2=torch.log(torch.tensor(14.0)), P3=torch.tensor(29))
