"""errata: three slides about heads, one of which is right."""

from __future__ import annotations

import torch

from attnlab.checking.answers import entries, plain, right_number
from attnlab.checking.judges import Close
from gradekit.exercise import Exercise

exercise = Exercise(answers=["errata"])


NAMES = ("N4", "G4", "N432")


@exercise.check(points=1.5, judge=Close(atol=0.5))
def what_the_slides_say(lab, draw):
    """The first of each item's three parts is the number that the slide gives."""
    return {name: plain(value) for name, value in entries(lab, 0, *NAMES).items()}


@exercise.check(points=1)
def reasons(lab, draw):
    """The third part of each item is a reason, in at least four words."""
    given = entries(lab, 2, *NAMES).items()
    return {name: len(str(reason).split()) >= 4 for name, reason in given}


@exercise.check(points=1.5, hidden=True, judge=Close(atol=0.5))
def wider_heads(lab, draw):
    """N4: how many numbers a layer with key_dim=5 holds."""
    return right_number(lab, "N4")


@exercise.check(points=1, hidden=True, judge=Close(atol=0.5))
def a_matrix_for_keys(lab, draw):
    """G4: how many numbers are in the matrices of eight heads and of the last projection."""
    return right_number(lab, "G4")


@exercise.check(points=1, hidden=True, judge=Close(atol=0.5))
def width_in_the_middle(lab, draw):
    """N432: how wide eight heads of four features are side by side."""
    return right_number(lab, "N432")


RIGHT = {
    "N4": (418, 1021, "the old shapes were left standing"),
    "G4": (786432, 1048576, "keys need a matrix of their own"),
    "N432": (32, 32, "eight heads of four features each"),
}


def but(**wrong):
    """The right errata, but for these entries."""
    return {"errata": {**RIGHT, **wrong}}


@exercise.mistake(
    "N4: the second part is the number for the printed shapes once more. What does "
    "`mha_param_shapes` give for heads of 5?"
)
def key_dim_2_believed():
    return but(N4=(418, 418, "the slide is right about it"))


@exercise.mistake(
    "N4: you have changed the queries', keys' and values' weights and forgotten their biases. "
    "Which axes come out of such a projection?"
)
def biases_left_at_2():
    return but(N4=(418, 994, "the weights are three wide now"))


@exercise.mistake(
    "N4: you have left the last projection as it was. What does it take in, when the heads are 5 "
    "wide?"
)
def output_left_at_2():
    return but(N4=(418, 877, "queries, keys and values grow"))


@exercise.mistake(
    "N4: that counts the weights alone. Every projection of Keras' layer has a bias, too; the "
    "slide prints their shapes."
)
def no_biases():
    return but(N4=(418, 960, "four matrices of larger heads"))


@exercise.mistake("N4: that is one head of 5. How many heads does the slide's layer have?")
def one_head_of_5():
    return but(N4=(418, 351, "the heads are wider than before"))


@exercise.mistake(
    "G4: one matrix is missing. Do keys and values share one, as on the slide, or was the last "
    "projection left out? Which letter stands twice in G's three formulas?"
)
def two_matrices_believed():
    return but(G4=(786432, 786432, "two matrices for each head suffice"))


@exercise.mistake("G4: biases are counted in. The item asks for a layer without.")
def with_biases():
    return but(G4=(786432, 1050624, "keys need a matrix of their own"))


@exercise.mistake("G4: you count one head. There are eight, each with matrices of its own.")
def one_head_counted():
    return but(G4=(786432, 3 * 512 * 64 + 512 * 512, "keys need a matrix of their own"))


@exercise.mistake(
    "N432: on this slide a head is as wide as the whole input. How wide are eight of them side by "
    "side?"
)
def paper_believed():
    return but(N432=(32, 4, "a head has d_model / h features"))


@exercise.mistake(
    "N432: that is how many numbers the last matrix holds. What is asked is how many rows it has."
)
def size_for_width():
    return but(N432=(32, 128, "the last matrix is 32 by 4"))


@exercise.mistake(
    "Slide and right have changed places: the first part is what the slide says, the second what "
    "is so."
)
def places_changed():
    return but(N4=(1021, 418, "the old shapes were left standing"))


@exercise.mistake(
    "A reason of one or two words says little. Say in a short sentence what is wrong, or right, "
    "about the slide."
)
def no_reasons():
    return {"errata": {name: (slide, right, "wrong") for name, (slide, right, _) in RIGHT.items()}}


@exercise.also_right
def tensors_and_lists():
    return but(
        N4=[torch.tensor(418), torch.tensor(1021.0), "nobody changed the shapes below the call"],
        G4=[torch.tensor([786432]), 4 * 512**2, "values and keys would be one"],
    )


@exercise.also_right
def floats():
    return but(
        N4=(418.0, 1021.0, "this is the output of key_dim=2"),
        N432=(torch.tensor(32.0), 32.0, "this one holds: eight times four is 32"),
    )
