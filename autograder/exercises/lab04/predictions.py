"""predictions: say what the result will be, then run it."""

from __future__ import annotations

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "how many more parameters eight heads have than one.",
            points=1,
            right=0,
            reason="Eight heads of 64 features need the same matrices as one head of 512.",
            atol=0.5,
            question="How wide is each of the heads, and how large is a projection to all of them?",
        ),
        "P2": Prediction(
            "how the attention weights grow with the number of heads.",
            points=1,
            right=8,
            reason=("Each head has a table of weights of its own, 100 × 100 for each sentence."),
            atol=1e-3,
            question="Which tables of weights does each head have of its own?",
        ),
        "P3": Prediction(
            "the head and the position that a feature goes to.",
            points=1,
            right=[1, 3],
            reason=(
                "A head has 12/3 = 4 features: head 0 gets 0 to 3, head 1 gets 4 to 7, "
                "and 7 is the last of these."
            ),
            atol=1e-3,
            question="How many features has each head, and which of them come before feature 7?",
        ),
        "P4": Prediction(
            "the entropy of a head that looks at all boxes equally.",
            points=1,
            right=2.079,
            reason=(
                "Each box has the weight 1/8, and the entropy of eight equal weights is "
                "ln 8 = 2.079."
            ),
            atol=2e-2,
            question="What is the weight of each box, and what is the entropy of equal weights?",
        ),
        "P5": Prediction(
            "how often both digits are right, if one of them is given twice.",
            points=1,
            right=0.25,
            reason=("Both are right only if the two digits are equal, which happens once in four."),
            atol=1e-2,
            question="In which cases are both digits right if the same one is given twice?",
        ),
    },
    answered="Each of the five questions has an answer: four numbers and one pair of numbers.",
)

EVERY_HEAD_AS_WIDE = (
    "P1: if d_k is not given, how many features do eight heads have together, and how many does "
    "one head have?"
)
for name, more in (
    ("every_head_as_wide", 7 * 3 * 512 * 512),
    ("every_head_as_wide_with_biases", 7 * 3 * 512 * 513),
    ("every_head_a_layer", 7 * 4 * 512 * 513),
    ("every_head_a_layer_without_biases", 7 * 4 * 512 * 512),
):
    exercise.wrong(name, EVERY_HEAD_AS_WIDE, P1=more)
SEVEN_MORE_SETS = (
    "P1: you count matrices of 512 × 64 for seven more heads, as if the first head stayed as it "
    "is. How many features does the single head have in the layer with one head?"
)
for name, more in (
    ("seven_more_sets", 7 * 3 * 512 * 64),
    ("seven_more_sets_with_biases", 7 * 3 * 513 * 64),
    ("seven_more_sets_of_four", 7 * 4 * 512 * 64),
    ("seven_more_sets_of_four_with_biases", 7 * 4 * 513 * 64),
    ("seven_more_matrices", 7 * 512 * 64),
):
    exercise.wrong(name, SEVEN_MORE_SETS, P1=more)
LAST_PROJECTION_ADDED = (
    "P1: that is the size of one projection. Which of the four would a layer with one head do "
    "without?"
)
exercise.wrong("last_projection_added", LAST_PROJECTION_ADDED, P1=512 * 512)
exercise.wrong("last_projection_and_bias_added", LAST_PROJECTION_ADDED, P1=512 * 513)
exercise.wrong(
    "factor_for_difference",
    "P1: one parameter more? The question asks how many more there are, not how many times as "
    "many. Which of the two did you answer?",
    P1=1,
)
for name, number in (("heads_counted", 8), ("heads_added", 7)):
    exercise.wrong(
        name,
        "P1: that is a number of heads. The question asks about parameters: how many has each of "
        "the two layers?",
        P1=number,
    )
for name, size in (
    ("size_of_the_layer", 4 * 512 * 513),
    ("size_without_biases", 4 * 512 * 512),
    ("size_of_the_input_projections", 3 * 512 * 513),
    ("size_of_their_matrices", 3 * 512 * 512),
):
    exercise.wrong(
        name,
        "P1: you count the parameters of one layer, or of three of its projections. By how many "
        "do the two layers differ?",
        P1=size,
    )
exercise.wrong(
    "weights_as_many",
    "P2: the *features* of a head shrink if there are more heads. What is the shape of the "
    "weights, and is d_k in it?",
    P2=1,
)
FEWER_WEIGHTS = (
    "P2: fewer weights with more heads? Each head compares every word with every word: what is the "
    "shape of one head's table?"
)
exercise.wrong("weights_divided", FEWER_WEIGHTS, P2=1 / 8)
exercise.wrong("weights_divided_twice", FEWER_WEIGHTS, P2=1 / 64)
exercise.wrong(
    "weights_squared",
    "P2: you count the number of heads twice. Write down the shape of the weights, four axes: how "
    "often is the number of heads in it?",
    P2=64,
)
exercise.wrong(
    "weights_counted",
    "P2: that is the number of weights of all eight heads. The question asks how many times as "
    "many: compared with what?",
    P2=160000,
)
for name, number in (
    ("weights_of_one_sentence", 80000),
    ("weights_of_one_head", 20000),
    ("weights_of_one_table", 10000),
    ("weights_added", 140000),
):
    exercise.wrong(
        name,
        "P2: that is a number of weights. The question asks how many times as many there are with "
        "8 heads: which two numbers do you divide?",
        P2=number,
    )
exercise.wrong(
    "times_more",
    "P2: the question asks how many times as many there are, not how many times more. What would "
    "your answer be if nothing changed?",
    P2=7,
)
exercise.wrong(
    "sentences_counted_too",
    "P2: you count the sentences as well. How many sentences does each of the two layers get?",
    P2=16,
)
exercise.wrong(
    "cut_into_threes",
    "P3: you cut the word into pieces of 3 features. Does the 3 in the question count heads, or "
    "the features of a head?",
    P3=[2, 1],
)
exercise.wrong(
    "features_in_turn",
    "P3: this gives heads their features in turn, feature 0 to head 0, feature 1 to head 1. What "
    "does 4.1 say about neighbours?",
    P3=[1, 2],
)
exercise.wrong(
    "pair_turned_round",
    "P3: the pair is reversed. Which of the two did the question ask for first?",
    P3=[3, 1],
)
COUNTED_FROM_ONE = (
    "P3: you count heads or positions from 1, or both. From which number does the question count?"
)
exercise.wrong("counted_from_one", COUNTED_FROM_ONE, P3=[2, 4])
exercise.wrong("heads_from_one", COUNTED_FROM_ONE, P3=[2, 3])
exercise.wrong("positions_from_one", COUNTED_FROM_ONE, P3=[1, 4])
exercise.wrong(
    "head_alone",
    "P3: one number is missing. The answer is a pair: which two things does the question ask for?",
    P3=1,
)
for name, pair in (("feature_for_position", [1, 7]), ("uncut", [0, 7])):
    exercise.wrong(
        name,
        "P3: your second number is the feature's place in the word. At which position is it among "
        "the features of its head?",
        P3=pair,
    )
exercise.wrong(
    "in_bits",
    "P4: that is the entropy in bits. The question asks for nats: which logarithm is that?",
    P4=3.0,
)
exercise.wrong(
    "in_base_ten",
    "P4: that is the entropy with a logarithm of base 10. The question asks for nats: which "
    "logarithm is that?",
    P4=0.9031,
)
exercise.wrong(
    "term_of_a_box",
    "P4: that is the term of one box, or the mean of the terms. An entropy is a sum: how many "
    "terms has it here?",
    P4=0.2599,
)
exercise.wrong(
    "weight_of_a_box",
    "P4: that is the weight of each box. What is −Σ p log p for eight of them?",
    P4=0.125,
)
exercise.wrong(
    "as_if_certain",
    "P4: an entropy of 0 belongs to a head that looks at a single box. At how many does this one "
    "look?",
    P4=0.0,
)
exercise.wrong(
    "sign_forgotten",
    "P4: your entropy is negative. Which sign stands before the sum Σ p log p?",
    P4=-2.0794415416798357,
)
exercise.wrong(
    "digits_that_differ",
    "P5: that is how often two of four digits differ. One of the answers is then wrong: when are "
    "both right?",
    P5=0.75,
)
exercise.wrong(
    "ten_digits",
    "P5: that is the rule for ten digits. How often are two of four digits equal?",
    P5=0.1,
)
exercise.wrong(
    "both_guessed",
    "P5: you let both answers go wrong on their own. One of the two digits is always right: when "
    "is the other?",
    P5=0.0625,
)
exercise.wrong(
    "one_of_two",
    "P5: one of the two digits is right every time, but the question is about both. When is the "
    "other one right, too?",
    P5=0.5,
)
exercise.wrong(
    "halved",
    "P5: you halve the share. Does it matter here which of the two boxes the head looks at?",
    P5=0.125,
)
exercise.wrong(
    "in_percent",
    "P5: more often than always? A share lies between 0 and 1: in which unit is your number?",
    P5=25,
)
exercise.wrong(
    "guess_never_right",
    "P5: you say that it never gets both. What if the two boxes hold the same digit?",
    P5=0.0,
)

exercise.also_right_with(
    "tensors",
    P1=torch.tensor(0),
    P2=torch.tensor(8.0),
    P3=torch.tensor([1, 3]),
    P4=torch.tensor(8.0).log(),
    P5=torch.tensor([0.25]),
)
exercise.also_right_with("rounded", P1=0.0, P3=(1, 3), P4=2.08, P5=1 / 4)
