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
            question="How many positions share the weight, and how do equal scores share it?",
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
            question=(
                "How do the losses of 11 predictions combine, and how does a loss "
                "become a probability?"
            ),
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
            question="How many continuations has an open hypothesis, and how many a finished one?",
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
            question=(
                "What does alpha = 1 divide each sum by, and which of two negative "
                "scores is larger?"
            ),
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
    "shared_by_the_padding",
    "P1: your places share the unit as if only two counted. How many of the five are padding, and "
    "how many are left?",
    P1=0.5,
)
exercise.wrong(
    "loss_of_one_prediction",
    "P2: that is the loss of one prediction, in nats. Which probability has this loss, and how "
    "many predictions are there?",
    P2=0.02,
)
exercise.wrong(
    "loss_for_probability",
    "P2: your number is 0, or nearly. A loss of 0.02 nats is no probability of 0.02: how likely "
    "is a symbol that surprises so little?",
    P2=0.0,
)
exercise.wrong(
    "sign_of_the_loss",
    "P2: your number is above 1. Which sign does the logarithm of a probability have?",
    P2=math.exp(0.22),
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
ROUNDED_TOO = {
    "one_prediction": (
        "P2: that is the probability of one symbol. How many predictions must all be right?",
        (math.exp(-0.02), 0.98, 0.9802),
    ),
    "chance_of_a_mistake": (
        "P2: that is the probability of at least one mistake. Which one does the question ask for?",
        (1 - math.exp(-0.22), 0.2, 0.197, 0.1975),
    ),
    "end_left_out": (
        "P2: that is the probability of ten right symbols. Which prediction of the eleven have you "
        "left out?",
        (math.exp(-0.2), 0.82, 0.819, 0.8187),
    ),
    "twelve_predictions": (
        "P2: that is the probability of twelve right symbols. How many predictions has a date, "
        "according to the question?",
        (math.exp(-0.24), 0.787, 0.7866),
    ),
    "power_of_two": (
        "P2: that is a power of 2, as for a loss in bits. Which logarithm has a loss in nats?",
        (2**-0.22, 0.86, 0.859, 0.8586),
    ),
    "per_cent": (
        "P2: your number counts in per cent. Between which two numbers should it be, according to "
        "the question?",
        (100 * math.exp(-0.22), 80, 80.2, 80.25, 80.3),
    ),
}
for name, (advice, numbers_given) in ROUNDED_TOO.items():
    for number, given in enumerate(numbers_given):
        exercise.wrong(f"{name}_{number}" if number else name, advice, P2=given)
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
    "finished_counted_twice",
    "P3: all three hypotheses continue in your count, and the finished one is a candidate besides. "
    "How many of the three are still open?",
    P3=43,
)
for name, few in (
    ("only_those_kept", 3),
    ("three_of_each_open_one", 6),
    ("three_of_each_and_the_finished", 7),
    ("three_of_each", 9),
):
    exercise.wrong(
        name,
        "P3: an open hypothesis offers all its continuations, and the best three are chosen "
        "afterwards. How many candidates are there before the choice?",
        P3=few,
    )
for name, few in (("end_not_offered", 26), ("end_not_offered_but_finished", 27)):
    exercise.wrong(
        name,
        "P3: in your count an open hypothesis offers fewer symbols than the vocabulary has. Which "
        "symbol have you left out, and is it impossible?",
        P3=few,
    )
exercise.wrong(
    "one_open_hypothesis",
    "P3: that is one hypothesis' number of continuations. How many of the three are still open, "
    "and what does the finished one add?",
    P3=14,
)
exercise.wrong(
    "sum_of_the_shorter",
    "P4: that is the plain sum of the shorter one. With alpha = 1, what is it divided by?",
    P4=-1.2,
)
exercise.wrong(
    "sum_of_the_longer",
    "P4: that is the plain sum of the longer one. With alpha = 1, what is it divided by?",
    P4=-1.5,
)
for number, given in enumerate((math.exp(-0.3), 0.74, 0.741)):
    exercise.wrong(
        f"probability_for_score_{number}" if number else "probability_for_score",
        "P4: that is a probability, the exponential of a mean. Scores of beam search are kept as "
        "logarithms: which sign do they have?",
        P4=given,
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
for name, product in (("multiplied_shorter", -3.6), ("multiplied_longer", -7.5)):
    exercise.wrong(
        name,
        "P4: you multiplied a sum by its length, and a long sequence then loses even more. With "
        "alpha = 1, what does the formula do with the length?",
        P4=product,
    )
