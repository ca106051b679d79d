"""predictions: predict the result, then run the code."""

from __future__ import annotations

import math

import torch

from attnlab.data.apples import fruit_sentence
from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the softmax of four equal scores.",
            points=1,
            right=0.25,
            reason="Equal scores get equal shares, however large they are: one of four.",
            atol=1e-3,
            question="What do four equal scores mean for their shares?",
        ),
        "P2": Prediction(
            "the loss of a model that knows nothing yet.",
            points=1,
            right=10.82,
            reason=(
                "Equal logits give each of the 50,257 words the probability 1/V, and "
                "-ln(1/V) = ln 50,257 = 10.82."
            ),
            atol=0.06,
            question=(
                "What probability does each word get, and what is the loss of such a probability?"
            ),
        ),
        "P3": Prediction(
            "the temperature with the same effect as doubled scores.",
            points=1,
            right=0.5,
            reason="Scores are divided by T, and dividing by a half doubles them.",
            atol=1e-3,
            question=(
                "What does `temperature` do with the scores, and what must it do to double them?"
            ),
        ),
        "P4": Prediction(
            "the change in the loss if the same number is added to all logits.",
            points=1,
            right=0.0,
            reason=(
                "Softmax does not change if the same number is added to all scores, so "
                "the loss does not change either."
            ),
            atol=1e-3,
            question="What does softmax do with a number that is added to all scores?",
        ),
        "P5": Prediction(
            'where "fruit" moves in the first sentence.',
            points=1,
            right=[1.0, 7.8],
            reason=(
                "The weights are 1/1.25 = .8 for fruit and .25/1.25 = .2 for apple, and "
                ".8 [0, 8] + .2 [5, 7] = [1.0, 7.8]."
            ),
            atol=6e-2,
            question="Which two vectors are mixed, and with which two shares?",
        ),
    },
    answered="Each of the five questions has an answer: four numbers and one pair of numbers.",
)

exercise.wrong(
    "overflow_expected",
    "P1: a softmax that subtracts the maximum sees four zeros here, not four thousands. What are "
    "four equal shares of one?",
    P1=float("nan"),
)
exercise.wrong(
    "winner_takes_all",
    "P1: the scores are equal, so no entry can win. What do the four entries sum to?",
    P1=1.0,
)
exercise.wrong(
    "in_percent",
    "P1: that is a percentage. What do the entries of a softmax sum to?",
    P1=25.0,
)
exercise.wrong(
    "scores_returned",
    "P1: that is a score, and the entries of a softmax are probabilities. Between which limits is "
    "a probability?",
    P1=1000.0,
)
exercise.wrong(
    "digits_for_nats",
    "P2: your number is a logarithm of base 10. Which logarithm does the loss of this lab use?",
    P2=math.log10(50257),
)
exercise.wrong(
    "loss_below_zero",
    "P2: a loss is never below 0, because no probability is above 1. Which sign does the formula "
    "put in front of the logarithm?",
    P2=-math.log(50257),
)
exercise.wrong(
    "number_of_words",
    "P2: that is the number of words among which the model hesitates. How surprised is it by one "
    "of them, in nats?",
    P2=50257.0,
)
exercise.wrong(
    "loss_in_bits",
    "P2: your number is in bits. Which logarithm does the loss of this lab use?",
    P2=math.log2(50257),
)
exercise.wrong(
    "probability_for_loss",
    "P2: 1/V is the probability of the right word. How surprised is a model that gives it this "
    "probability?",
    P2=1 / 50257,
)
exercise.wrong(
    "loss_of_a_sure_thing",
    "P2: that is the surprise of a coin, or of no surprise at all. How many words are equally "
    "likely here?",
    P2=0.0,
)
exercise.wrong(
    "temperature_upside_down",
    "P3: larger scores give a sharper distribution, and so does a lower temperature. Do you "
    "multiply the scores by T or divide by it?",
    P3=2.0,
)
exercise.wrong(
    "temperature_one",
    "P3: at that temperature the scores stay as they are. By what does temperature divide them?",
    P3=1.0,
)
exercise.wrong(
    "loss_multiplied",
    "P4: that is by how much every exponential grows. What becomes of this factor in a quotient of "
    "exponentials?",
    P4=math.exp(5),
)
exercise.wrong(
    "loss_moves_along",
    "P4: you let the loss rise with the logits. Adding a number to all scores of a row does not "
    "change its softmax: what does that mean for its logarithm?",
    P4=5.0,
)
exercise.wrong(
    "loss_moves_against",
    "P4: you let the loss fall when the logits rise. Adding a number to all scores of a row does "
    "not change its softmax: what does that mean for its logarithm?",
    P4=-5.0,
)
exercise.wrong(
    "apple_for_fruit",
    "P5: this is where apple moves. Which row of the table belongs to fruit?",
    P5=[4.0, 7.2],
)
exercise.wrong(
    "fruit_not_normalised",
    "P5: similarities of 1 and .25 are not weights yet, because together they are more than one. "
    "What does the lecture divide them by?",
    P5=[1.25, 9.75],
)
exercise.wrong(
    "coordinates_swapped",
    "P5: these are the two numbers in the wrong order. Fruit starts at [0, 8]: which of its two "
    "numbers is the larger one?",
    P5=[7.8, 1.0],
)
exercise.wrong(
    "halfway",
    "P5: that is halfway between fruit and apple. Which of the two similarities is larger, and by "
    "how much?",
    P5=[2.5, 7.5],
)
exercise.wrong(
    "similarity_for_weight",
    "P5: you give apple a weight of .25, which is its similarity. What is the sum of the two "
    "similarities, and what does the lecture do with it?",
    P5=[1.25, 7.75],
)
sentence = fruit_sentence()
for name, words in (("all_words", [0, 1, 2, 3, 4]), ("two_words", [2, 4])):
    shares = torch.softmax(sentence.similarity[2, words], 0)
    exercise.wrong(
        f"softmax_over_{name}",
        "P5: you normalise the similarities by softmax. What does the lecture divide them by?",
        P5=(shares @ sentence.vectors[words]).tolist(),
    )
exercise.wrong(
    "fruit_stays",
    "P5: you say that fruit does not move. Which other word has a similarity above 0 to fruit?",
    P5=[0.0, 8.0],
)

exercise.also_right_with("rounded", P2=10.8, P3=1 / 2, P4=0, P5=(1, 7.8))
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor([0.25]),
    P2=torch.log(torch.tensor(50257.0)),
    P4=torch.tensor(0),
    P5=torch.tensor([1.0, 7.8]),
)
