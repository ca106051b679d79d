"""predictions: say what positions and layers will do, then run it."""

from __future__ import annotations

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the first column in which two bases differ.",
            points=0.5,
            right=2,
            reason=(
                "Columns 0 and 1 use the base to the power of 0, which is 1 for every base. The "
                "next pair is the first in which the base counts."
            ),
            question="In which columns does the power of the base depend on the base?",
        ),
        "P2": Prediction(
            "a vector of equal numbers in the slide's formula, without an ε.",
            points=0.5,
            right=float("nan"),
            reason="The mean is subtracted, so 0 is divided by the root of 0.",
            question="What are the mean and the deviation of equal numbers?",
        ),
        "P3": Prediction(
            "the length of a row of the encoding with 512 columns.",
            points=0.5,
            right=16.0,
            atol=0.01,
            reason="Each of the 256 pairs is a sine and a cosine of one angle: sin² + cos² = 1.",
            question="What do the sine and the cosine of one angle add to the sum of squares?",
        ),
        "P4": Prediction(
            "the deviation of a pre-norm stream after 24 additions.",
            points=0.5,
            right=5.0,
            atol=0.05,
            reason="Variances of independent numbers add up: 1 at the start, and 1 each time.",
            question="Which adds up for independent numbers: the deviation or the variance?",
        ),
    },
    answered="The answer to each of the four questions is a number.",
)

exercise.wrong(
    "first_column",
    "P1: columns 0 and 1 are sin(p / base⁰) and cos(p / base⁰). What is any base to the power of "
    "0?",
    P1=0,
)
exercise.wrong(
    "cosine_of_the_first_pair",
    "P1: column 1 is the cosine of the same angle as column 0. In which pair does the base have an "
    "effect?",
    P1=1,
)
exercise.wrong(
    "counted_from_one",
    "P1: you count columns from 1. From which number does the formula count?",
    P1=3,
)
exercise.wrong(
    "zero_over_zero_is_zero",
    "P2: above and below the line there is 0. What does torch make of 0/0?",
    P2=0.0,
)
exercise.wrong(
    "infinite",
    "P2: a number over 0 would be infinite, but what is above the line once the mean is "
    "subtracted?",
    P2=float("inf"),
)
exercise.wrong(
    "the_number_itself",
    "P2: the mean is subtracted first. What is left of equal numbers?",
    P2=3.0,
)
exercise.wrong(
    "squared_length",
    "P3: that is the squared length. What is the length?",
    P3=256.0,
)
exercise.wrong(
    "all_columns_count",
    "P3: a sine and a cosine of one angle have squares that sum to 1. How many such pairs are "
    "there?",
    P3=22.63,
)
exercise.wrong(
    "length_one",
    "P3: one pair of columns has the length 1. How many pairs are there, and how do their squares "
    "add up?",
    P3=1.0,
)
exercise.wrong(
    "deviations_add_up",
    "P4: you add deviations. For independent numbers, which quantity adds up, the deviation or the "
    "variance?",
    P4=25.0,
)
exercise.wrong(
    "start_forgotten",
    "P4: you count the 24 additions, but the stream itself had a deviation, too, before the first.",
    P4=4.899,
)
exercise.wrong(
    "nothing_grows",
    "P4: that holds for post-norm, which normalises every sum. What does pre-norm normalise?",
    P4=1.0,
)

exercise.also_right_with("rounded", P1=2.0, P2=float("nan"), P3=16, P4=5)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor(2),
    P2=torch.tensor(0.0) / 0,
    P3=torch.tensor([256.0]).sqrt(),
    P4=torch.tensor(25.0).sqrt(),
)
