"""errata: four numbers that follow from the slides, and what they should be."""

from __future__ import annotations

import torch

from attnlab.checking.answers import entries, plain, right_number
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["errata"])


NAMES = ("G11", "S1", "S2", "N5")


@exercise.check(points=2, judge=Close(atol=5e-3))
def what_the_slides_say(lab, draw):
    """The first of each item's three parts is the number that follows from the slide."""
    return {name: plain(value) for name, value in entries(lab, 0, *NAMES).items()}


@exercise.check(points=1)
def reasons(lab, draw):
    """The third part of each item is a reason, in at least four words."""
    given = entries(lab, 2, *NAMES).items()
    return {name: len(str(reason).split()) >= 4 for name, reason in given}


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def weight_of_one_place(lab, draw):
    """G11: the weight of the second place."""
    return right_number(lab, "G11")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def context_of_equal_vectors(lab, draw):
    """S1: the context, where all vectors are the same."""
    return right_number(lab, "S1")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def positions_seen(lab, draw):
    """S2: how many output positions the third one looks at."""
    return right_number(lab, "S2")


@exercise.check(points=0.75, hidden=True, judge=Close(atol=5e-3))
def symbols_generated(lab, draw):
    """N5: how many tokens are generated."""
    return right_number(lab, "N5")


RIGHT = {
    "G11": (1.0, 0.541045, "a softmax runs over all places"),
    "S1": (4.0, 6.0, "the weights must sum to one"),
    "S2": (2, 3, "a position may see itself, too"),
    "N5": (1, 5, "until, and not when, it stops"),
}


def but(**wrong):
    """The right errata, but for these entries."""
    return {"errata": {**RIGHT, **wrong}}


@exercise.mistake(
    "G11: the softmax of a single number is 1 whatever the number is; so it was on the slide. "
    "Which numbers share the one unit of weight?"
)
def slide_believed():
    return but(G11=(1.0, 1.0, "the slide is right about it"))


@exercise.mistake(
    "G11: that is the score of the second place. What does your `attend` make of the three "
    "scores together?"
)
def score_for_weight():
    return but(G11=(1.0, 0.964028, "the score itself is the weight"))


@exercise.mistake(
    "G11: that is the weight of another place. Counting from 1, the second place has the largest "
    "of the three scores."
)
def weight_of_another_place():
    return but(G11=(1.0, 0.206330, "looked at the first place"))


@exercise.mistake("G11: you divided the score by the sum of the scores. What is applied to them?")
def score_by_the_sum():
    return but(G11=(1.0, 0.826452, "divided by the sum of scores"))


@exercise.mistake(
    "S1: the first part is the context that the slide's weights give, the second what a weighted "
    "mean gives. Have they changed places?"
)
def contexts_swapped():
    return but(S1=(6.0, 4.0, "the weights must sum to one"))


@exercise.mistake(
    "S1: a weighted mean of equal vectors is that vector, however the weights are spread. What "
    "must the weights sum to for that?"
)
def toy_table_believed():
    return but(S1=(4.0, 4.0, "two thirds of six is four"))


@exercise.mistake(
    "S1: you give the sum of the weights. The question is for the context: which number do they "
    "weight?"
)
def sum_for_context():
    return but(S1=(4.0, 1.0, "the weights must sum to one"))


@exercise.mistake(
    "S2: with j' < j a position does not see itself. Under lecture S's own convention, which word "
    "makes the query of position j, and is that word already known?"
)
def itself_left_out():
    return but(S2=(2, 2, "the slide is right about it"))


@exercise.mistake(
    "S2: that is one too many, a look at the word that is still to be predicted. Up to which "
    "position may the third one look?"
)
def future_seen():
    return but(S2=(2, 4, "a position may see the next"))


@exercise.mistake(
    "N5: by the slide's own words a round is repeated when the stop token has come. It has not, "
    "after the first word, so the slide's loop ends there. When should it go on?"
)
def loop_believed():
    return but(N5=(1, 1, "the slide is right about it"))


@exercise.mistake(
    "N5: the stop token is generated, too: the model has to choose it. How many tokens are that, "
    "with it?"
)
def stop_not_counted():
    return but(N5=(1, 4, "until, and not when, it stops"))


@exercise.mistake(
    "N5: [START] is put in by hand; the model does not generate it. How many tokens come out?"
)
def start_counted():
    return but(N5=(1, 6, "until, and not when, it stops"))


@exercise.mistake(
    "N5: read the slide as a computer would: after the first token, has the stop token been "
    "generated? Does the slide's loop repeat then?"
)
def slide_read_kindly():
    return but(N5=(5, 5, "until, and not when, it stops"))


@exercise.mistake(
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide."
)
def no_reasons():
    return {"errata": {name: (slide, right, "wrong") for name, (slide, right, _) in RIGHT.items()}}


@exercise.also_right
def rounded_and_in_lists():
    return but(
        G11=[1, 0.54, "softmax takes all the scores at once"],
        N5=[1.0, 5.0, "the loop ends before it began"],
    )


@exercise.also_right
def tensors():
    weights = torch.softmax(torch.tensor([0.0, 0.964028, 0.202433]), 0)
    return but(
        G11=(torch.softmax(torch.tensor([0.964028]), 0), weights[1], "one number alone gets 1"),
        S1=(torch.tensor(4.0), torch.tensor([6.0]), "a mean of sixes is six"),
    )
