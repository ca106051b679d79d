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
def equal_keys(lab, draw):
    """P1: the output when all keys are the same."""
    return answers(lab, "P1")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def doubled_entries(lab, draw):
    """P2: what doubling all queries and keys does to a score."""
    return answers(lab, "P2")


@exercise.check(points=1, hidden=True, judge=Close(atol=0.025))
def largest_weights(lab, draw):
    """P3: the largest of 32 weights for d = 512, without the scale and with it."""
    return answers(lab, "P3")


@exercise.check(points=1, hidden=True, judge=Close(atol=0.5))
def size_of_the_weights(lab, draw):
    """P4: the size of one head's weights for 100,000 tokens."""
    return answers(lab, "P4")


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-3))
def only_key(lab, draw):
    """P5: the weight of the only key that a mask leaves."""
    return answers(lab, "P5")


RIGHT = {"P1": 5.0, "P2": 4.0, "P3": [0.93, 0.165], "P4": 40.0, "P5": 1.0}


def but(**wrong):
    """The right predictions, but for these."""
    return {"predictions": {**RIGHT, **wrong}}


@exercise.mistake(
    "P1: that is the sum of the values. Attention takes a mean; which weights do equal scores get?"
)
def sum_of_values():
    return but(P1=15.0)


@exercise.mistake(
    "P1: the scores come from the keys, and the keys are the same. Does the size of a value change "
    "its weight?"
)
def largest_value():
    return but(P1=12.0)


@exercise.mistake("P1: the keys are the same, so all values count, not only the first.")
def first_value():
    return but(P1=0.0)


@exercise.mistake(
    "P2: a score is a sum of products of two numbers. What becomes of a product when both of them "
    "are doubled?"
)
def doubled_once():
    return but(P2=2.0)


@exercise.mistake(
    "P2: the division by √d_k makes up for the length of the vectors, not for the size of their "
    "entries. Does d_k change here?"
)
def scale_makes_up_for_it():
    return but(P2=1.0)


@exercise.mistake(
    "P2: each term of the sum grows by your factor, and so does the sum. Count the doublings in "
    "one term."
)
def doubled_three_times():
    return but(P2=8.0)


@exercise.mistake(
    "P3: equal shares would need equal scores, and random ones are not. Look at the picture of "
    "step 3.4."
)
def shares_are_equal():
    return but(P3=[1 / 32, 1 / 32])


@exercise.mistake(
    "P3: your two numbers are the other way round. Which scores lie further apart, those that are "
    "divided or those that are not?"
)
def pair_swapped():
    return but(P3=[0.165, 0.93])


@exercise.mistake(
    "P3: without the scale your number is right. With it, the scores of d = 512 spread like those "
    "of d = 1: what does the largest of 32 such weights come to?"
)
def scale_without_effect():
    return but(P3=[0.93, 0.93])


@exercise.mistake("P3: these are numbers for d = 64, or nearly. Which d does the question ask for?")
def smaller_d():
    return but(P3=[0.8, 0.165])


@exercise.mistake("P4: that counts the numbers, in billions. How many bytes does a float32 take?")
def numbers_not_bytes():
    return but(P4=10.0)


@exercise.mistake(
    "P4: the weights hold a number for each pair of tokens. You have counted one for each token."
)
def one_row_only():
    return but(P4=0.0004)


@exercise.mistake("P4: a float32 has 32 bits. How many bytes are that?")
def bits_for_bytes():
    return but(P4=320.0)


@exercise.mistake("P4: that is float64, torch's wider kind. The question asks for float32.")
def double_precision():
    return but(P4=80.0)


@exercise.mistake(
    "P5: e to the −50 is tiny, but the softmax divides it by the sum of what is left. What is left?"
)
def tiny_weight():
    return but(P5=0.0)


@exercise.mistake(
    "P5: the other keys are masked, and masked keys get nothing at all, not an equal share."
)
def shared_all_the_same():
    return but(P5=0.25)


@exercise.also_right
def rounded():
    return but(P1=5, P2=4, P3=(0.94, 0.16), P4=40, P5=1)


@exercise.also_right
def as_tensors():
    return but(
        P1=torch.tensor([0.0, 3.0, 12.0]).mean(),
        P3=torch.tensor([0.925, 0.17]),
        P4=torch.tensor(100_000) ** 2 * 4 / 1e9,
        P5=torch.ones(1),
    )
