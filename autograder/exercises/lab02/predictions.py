"""predictions: say what will come out, then run it."""

import math

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the weight of a token next to padding.",
            points=0.75,
            right=1 / 3,
            reason=(
                "Padding gets the weight 0, so the three words with equal scores share the rest."
            ),
            atol=5e-3,
        ),
        "P2": Prediction(
            "how likely a whole date is.",
            points=0.75,
            right=0.8,
            reason=(
                "The losses of the 11 predictions add up to .22, and a probability is e to minus "
                "its loss: e^-.22 = .80."
            ),
            atol=1.1e-2,
        ),
        "P3": Prediction(
            "how many candidates a step of beam search has.",
            points=0.75,
            right=29,
            reason=(
                "The two open hypotheses continue with 14 symbols each, and the finished "
                "one stays as it is: 2 · 14 + 1."
            ),
            atol=1e-3,
        ),
        "P4": Prediction(
            "the score of the better of two hypotheses.",
            points=0.75,
            right=-0.3,
            reason=(
                "With alpha = 1 each sum is divided by its length: -1.2/3 = -.4 and "
                "-1.5/5 = -.3, and the larger one wins."
            ),
            atol=1e-3,
        ),
    },
    answered="Each of the four questions has a number for its answer.",
)

exercise.wrong(
    "padding_shares",
    "P1: padding gets no share. How many places share the one unit of weight?",
    P1=0.2,
)
exercise.wrong(
    "winner_takes_all",
    "P1: equal scores have no winner. What do the weights of the tokens sum to?",
    P1=1.0,
)
exercise.wrong(
    "weight_of_padding",
    "P1: that is the weight of a place of padding. Which weight does the question ask for?",
    P1=0.0,
)
exercise.wrong(
    "one_prediction",
    "P2: that is the probability of one symbol. How many predictions must all be right?",
    P2=math.exp(-0.02),
)
exercise.wrong(
    "loss_of_the_date",
    "P2: that is the loss of the whole date, in nats. Which probability has this logarithm?",
    P2=0.22,
)
exercise.wrong(
    "loss_taken_off",
    "P2: a loss of 0.02 nats is a surprise, and you subtract it like a share of mistakes, eleven "
    "times. For small losses both nearly agree; how are surprise and probability related?",
    P2=0.78,
)
exercise.wrong(
    "chance_of_a_mistake",
    "P2: that is the probability of at least one mistake. Which one does the question ask for?",
    P2=1 - math.exp(-0.22),
)
exercise.wrong(
    "finished_continued",
    "P3: a finished hypothesis is not continued. How does it count among the candidates?",
    P3=42,
)
exercise.wrong(
    "finished_forgotten",
    "P3: the finished hypothesis is a candidate itself, unchanged. Did you count it?",
    P3=28,
)
exercise.wrong(
    "only_those_kept",
    "P3: each hypothesis offers all its continuations, and the best three are chosen afterwards. "
    "How many candidates are there before the choice?",
    P3=3,
)
exercise.wrong(
    "sum_of_the_shorter",
    "P4: that is the plain sum of the shorter one. With alpha = 1, what is it divided by?",
    P4=-1.2,
)
exercise.wrong(
    "mean_of_the_shorter",
    "P4: that is the mean of the shorter one. Compute both means: which is larger?",
    P4=-0.4,
)
exercise.wrong(
    "sign_lost",
    "P4: log-probabilities are negative, and so are their means. Is the better one above 0?",
    P4=0.3,
)

exercise.also_right_with("rounded", P1=0.333, P2=0.8, P3=29.0, P4=-3 / 10)
exercise.also_right_with(
    "as_tensors", P1=torch.tensor([1 / 3]), P2=torch.tensor([-0.22]).exp(), P3=torch.tensor(29)
)
