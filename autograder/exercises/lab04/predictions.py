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


@exercise.check(points=1, hidden=True, judge=Close(atol=0.5))
def cost_of_heads(lab, draw):
    """P1: how many more parameters eight heads have than one."""
    return answers(lab, "P1")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def size_of_weights(lab, draw):
    """P2: how the attention weights grow with the number of heads."""
    return answers(lab, "P2")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def place_of_a_feature(lab, draw):
    """P3: the head and the place that a feature goes to."""
    return answers(lab, "P3")


@exercise.check(points=1, hidden=True, judge=Close(atol=2e-2))
def widest_look(lab, draw):
    """P4: the entropy of a head that looks at all boxes alike."""
    return answers(lab, "P4")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-2))
def one_known_one_guessed(lab, draw):
    """P5: how often both digits are right, if one is known and the other guessed."""
    return answers(lab, "P5")


RIGHT = {"P1": 0, "P2": 8, "P3": [1, 3], "P4": 2.079, "P5": 0.25}


def but(**wrong):
    """The right predictions, but for these."""
    return {"predictions": {**RIGHT, **wrong}}


@exercise.mistake(
    "P1: with d_k not given, how many features do eight heads have together, and how many has one "
    "head?"
)
def every_head_as_wide():
    return but(P1=7 * 3 * 512 * 512)


@exercise.mistake(
    "P1: you count a layer's parameters. The question is by how many the two layers differ."
)
def size_of_the_layer():
    return but(P1=4 * 512 * 513)


@exercise.mistake(
    "P2: the *features* of a head shrink when there are more of them. What is the shape of the "
    "weights, and is d_k in it?"
)
def weights_as_many():
    return but(P2=1)


@exercise.mistake(
    "P2: the number of heads is in the shape of the weights once, not twice. Write it down: four "
    "axes."
)
def weights_squared():
    return but(P2=64)


@exercise.mistake(
    "P3: that is how heads are dealt out in turn, feature 0 to head 0, feature 1 to head 1. What "
    "does 4.1 say about neighbours?"
)
def features_in_turn():
    return but(P3=[1, 2])


@exercise.mistake("P3: the pair is turned round. Which of the two did the question ask for first?")
def pair_turned_round():
    return but(P3=[3, 1])


@exercise.mistake("P3: count heads and places from 0, as torch does.")
def counted_from_one():
    return but(P3=[2, 4])


@exercise.mistake("P3: an answer is missing. It is a pair: the head, and the place there.")
def head_alone():
    return but(P3=1)


@exercise.mistake(
    "P4: that is the entropy in bits. The question asks for nats: which logarithm is that?"
)
def in_bits():
    return but(P4=3.0)


@exercise.mistake("P4: that is the weight of each box. What is −Σ p log p for eight of them?")
def weight_of_a_box():
    return but(P4=0.125)


@exercise.mistake("P5: that is the rule for ten digits. How many are there to guess from here?")
def ten_digits():
    return but(P5=0.1)


@exercise.mistake("P5: you let it guess both digits. How sure is it of the first?")
def both_guessed():
    return but(P5=0.0625)


@exercise.mistake(
    "P5: you count the case as lost whenever one digit is a guess. How often is a guess right?"
)
def guess_never_right():
    return but(P5=0.0)


@exercise.also_right
def tensors():
    return but(
        P1=torch.tensor(0),
        P2=torch.tensor(8.0),
        P3=torch.tensor([1, 3]),
        P4=torch.tensor(8.0).log(),
        P5=torch.tensor([0.25]),
    )


@exercise.also_right
def rounded():
    return but(P1=0.0, P3=(1, 3), P4=2.08, P5=1 / 4)
