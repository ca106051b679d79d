"""predictions: say what will come out, then run it."""

from itertools import product

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the output when all keys are the same.",
            points=1,
            right=5.0,
            reason=(
                "Equal keys have equal scores, so each weight is 1/3: the mean of 0, 3 and 12 is 5."
            ),
            atol=1e-3,
            question=(
                "Which scores do equal keys get, and what do equal weights make of the values?"
            ),
        ),
        "P2": Prediction(
            "what doubling all queries and keys does to a score.",
            points=1,
            right=4.0,
            reason="A score is a product of q and k, so two doublings make four.",
            atol=1e-3,
            question="Of how many doubled numbers is each term of a score the product?",
        ),
        "P3": Prediction(
            "the largest of 32 weights for d = 512, without the scale and with it.",
            points=1,
            right=[0.93, 0.165],
            reason=(
                "Without the scale, scores have a standard deviation of 22.6, and the "
                "best of 32 keys is far ahead; with the scale it is 1."
            ),
            atol=0.025,
            question="How far apart are 32 random scores before and after the division by √d?",
        ),
        "P4": Prediction(
            "the size of one head's weights for 100,000 tokens.",
            points=1,
            right=40.0,
            reason=(
                "There are 100,000 · 100,000 weights of 4 bytes each, which is 40 · 10⁹ bytes."
            ),
            atol=0.5,
            question=(
                "How many weights are there for each query, how many queries, and how "
                "many bytes has a number?"
            ),
        ),
        "P5": Prediction(
            "the weight of the only key that a mask leaves.",
            points=1,
            right=1.0,
            reason=(
                "Softmax divides by the sum over the keys that are left, so a single key "
                "gets everything, whatever its score."
            ),
            atol=1e-3,
            question="Among how many keys is the weight shared once the others are masked?",
        ),
    },
    answered="Each of the five questions has an answer: four numbers and one pair of numbers.",
)

exercise.wrong(
    "sum_of_values",
    "P1: that is the sum of the values, but attention takes a mean. Which weights do equal scores "
    "get?",
    P1=15.0,
)
exercise.wrong(
    "largest_value",
    "P1: the scores are computed from the keys, and the keys are the same. Does the size of a "
    "value change its weight?",
    P1=12.0,
)
exercise.wrong(
    "first_value",
    "P1: that is the first value alone, but the keys are the same. How much does each value count "
    "if all scores are equal?",
    P1=0.0,
)
exercise.wrong(
    "middle_value",
    "P1: that is the middle value alone, but the keys are the same. How much does each value count "
    "if all scores are equal?",
    P1=3.0,
)
for name, number in (
    ("weight", 1 / 3),
    ("weight_to_2_digits", 0.33),
    ("weight_to_3_digits", 0.333),
):
    exercise.wrong(
        name,
        "P1: that is the weight of each key. What does attention do with the weights and the "
        "values?",
        P1=number,
    )
exercise.wrong(
    "doubled_once",
    "P2: a score is a sum of products of two numbers. What happens to a product when both of them "
    "are doubled?",
    P2=2.0,
)
exercise.wrong(
    "scale_makes_up_for_it",
    "P2: the division by √d_k compensates for the length of the vectors, not for the size of their "
    "entries. Does d_k change here?",
    P2=1.0,
)
exercise.wrong(
    "doubled_three_times",
    "P2: the sum grows by the same factor as each of its terms. How many doublings are in one "
    "term?",
    P2=8.0,
)
for name, number in (
    ("root_of_2", 2**0.5),
    ("root_of_2_rounded", 1.41),
    ("root_of_8", 8**0.5),
    ("root_of_8_rounded", 2.83),
    ("root_of_8_to_3_digits", 2.828),
):
    exercise.wrong(
        name,
        "P2: your number contains a root, but the length of the vectors stays as it is. Which "
        "numbers of a score does the question change?",
        P2=number,
    )
exercise.wrong(
    "shares_are_equal",
    "P3: equal shares need equal scores, and random scores are not equal. What does the plot of "
    "step 3.4 show?",
    P3=[1 / 32, 1 / 32],
)
for small, large in product((0.15, 0.16, 0.165, 0.17, 0.18), (0.9, 0.92, 0.93, 0.94, 0.95)):
    exercise.wrong(
        f"pair_swapped_{1000 * small:.0f}_{1000 * large:.0f}",
        "P3: your two numbers are swapped. Which scores are further apart, those that are divided "
        "or those that are not?",
        P3=[small, large],
    )
for percent in (15.0, 16.0, 16.5, 17.0):
    exercise.wrong(
        f"percent_{percent:g}".replace(".", "_"),
        "P3: these are percentages. To which number does a row of weights sum, and which part of "
        "it is the largest?",
        P3=[93.0, percent],
    )
for share in (0.3, 0.35, 0.4, 0.5, 0.6):
    exercise.wrong(
        f"scaled_share_{share:g}".replace(".", "_"),
        "P3: with the scale, one of your 32 keys still takes about a third of the weight or more. "
        "If scores spread like standard normal numbers, how far ahead is the best?",
        P3=[0.93, share],
    )
exercise.wrong(
    "scale_without_effect",
    "P3: without the scale your number is right. With it, the scores of d = 512 spread like those "
    "of d = 1: what is the largest of 32 such weights?",
    P3=[0.93, 0.93],
)
exercise.wrong(
    "smaller_d",
    "P3: these are numbers for d = 64, or nearly. Which d does the question ask for?",
    P3=[0.8, 0.165],
)
exercise.wrong(
    "numbers_not_bytes",
    "P4: you count numbers, in billions. How many bytes does a float32 take?",
    P4=10.0,
)
for name, number in (("one_row_only", 0.0004), ("in_terabytes", 0.04)):
    exercise.wrong(
        name,
        "P4: your number is close to 0, but there is a weight for each pair of tokens. How many "
        "pairs are there, and how many bytes has the unit that the question names?",
        P4=number,
    )
exercise.wrong(
    "bits_for_bytes",
    "P4: you count bits: a float32 has 32 of them. How many bytes is that?",
    P4=320.0,
)
exercise.wrong(
    "double_precision",
    "P4: that is the size in float64. Which dtype does the question ask for?",
    P4=80.0,
)
exercise.wrong(
    "half_of_it",
    "P4: your number is too small. Does your count hold every pair of tokens, and which size has "
    "one number in float32?",
    P4=20.0,
)
for name, number in (
    ("gibibytes", 4e10 / 2**30),
    ("gibibytes_rounded", 37.25),
    ("whole_gibibytes", 37.3),
):
    exercise.wrong(
        name,
        "P4: your unit is 2³⁰ bytes. Which unit does the question name?",
        P4=number,
    )
for unit, number in (("bytes", 4e10), ("kilobytes", 4e7), ("megabytes", 4e4)):
    exercise.wrong(
        f"in_{unit}",
        "P4: the digits are those of the size, but in another unit. How many bytes has the unit "
        "that the question names?",
        P4=number,
    )
exercise.wrong(
    "score_for_weight",
    "P5: that is the score. What does softmax make of the scores that the mask leaves?",
    P5=-50.0,
)
exercise.wrong(
    "tiny_weight",
    "P5: e to the −50 is tiny, but the softmax divides it by the sum of what is left. What is "
    "left?",
    P5=0.0,
)
exercise.wrong(
    "shared_all_the_same",
    "P5: you give the masked keys an equal share. How much weight does a masked key get?",
    P5=0.25,
)

exercise.also_right_with("rounded", P1=5, P2=4, P3=(0.94, 0.16), P4=40, P5=1)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor([0.0, 3.0, 12.0]).mean(),
    P3=torch.tensor([0.925, 0.17]),
    P4=torch.tensor(100_000) ** 2 * 4 / 1e9,
    P5=torch.ones(1),
)
