"""predictions: say what a mask will do, then run it."""

from __future__ import annotations

import torch

from attnlab.checking.answers import answers, kind
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["predictions"])


NAMES = ("P1", "P2", "P3", "P4")


@exercise.check(points=1)
def all_answered(lab, draw):
    """Each of the four questions has a number for an answer."""
    return {name: kind(answer) for name, answer in answers(lab, *NAMES).items()}


@exercise.check(points=0.75, hidden=True)
def entries_with_a_cache(lab, draw):
    """P1: how many entries of a mask with a cache are True."""
    return answers(lab, "P1")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=0.011))
def share_of_the_future(lab, draw):
    """P2: what the future still gets when masked scores are set to 0."""
    return answers(lab, "P2")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def a_row_of_very_low_scores(lab, draw):
    """P3: what softmax makes of four scores of -1e9."""
    return answers(lab, "P3")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=0.01))
def loss_of_a_model_that_sees_the_answer(lab, draw):
    """P4: the lowest loss of a model that sees one symbol ahead."""
    return answers(lab, "P4")


RIGHT = {"P1": 12, "P2": 0.41, "P3": 0.25, "P4": 0.0}


def but(**wrong):
    """The right predictions, but for these."""
    return {"predictions": {**RIGHT, **wrong}}


@exercise.mistake(
    "P1: you started the triangle in the top left corner, as if there were no cache. At which key "
    "does the last of the three queries stand?"
)
def no_cache():
    return but(P1=6)


@exercise.mistake("P1: that is all entries of the mask. What may the first query not see?")
def all_entries():
    return but(P1=15)


@exercise.mistake("P1: you left out each query's own place. May a token look at itself?")
def without_the_diagonal():
    return but(P1=9)


@exercise.mistake("P2: that would be so with -inf. What is the exponential of 0?")
def zero_hides():
    return but(P2=0.0)


@exercise.mistake(
    "P2: half of the words lie ahead, but their scores are lower than the two others. What are the "
    "four exponentials?"
)
def half_of_it():
    return but(P2=0.5)


@exercise.mistake(
    "P2: that is what the past and the word itself get. The question is about the two words ahead."
)
def share_of_the_past():
    return but(P2=0.59)


@exercise.mistake("P2: that is one of the two words ahead. Both together were asked for.")
def one_word_only():
    return but(P2=0.203)


@exercise.mistake(
    "P3: a row of equal scores has no low and no high ones: softmax subtracts the largest first. "
    "What are four equal shares?"
)
def nothing_for_anybody():
    return but(P3=0.0)


@exercise.mistake(
    "P3: -1e9 is a number, so no infinity is subtracted from another. What are four equal shares?"
)
def not_a_number():
    return but(P3=float("nan"))


@exercise.mistake(
    "P4: that is the floor for models that see the past. This one sees the symbol that it is "
    "asked for: how surprised can it be?"
)
def the_floor():
    return but(P4=1.373)


@exercise.mistake(
    "P4: a mean of surprises cannot be negative. What is the surprise at something already seen?"
)
def below_zero():
    return but(P4=-1.373)


@exercise.also_right
def rounded():
    return but(P1=12.0, P2=0.4, P3=1 / 4, P4=0)


@exercise.also_right
def as_tensors():
    scores = torch.tensor([0.1, 0.6, 0.0, 0.0])
    return but(
        P1=torch.ones(3, 5).tril(2).sum(),
        P2=torch.softmax(scores, 0)[2:].sum(),
        P3=torch.softmax(torch.full((4,), -1e9), 0)[0],
        P4=torch.tensor([0.0004]),
    )
