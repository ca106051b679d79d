"""errata: four numbers on the slides, and what they should be."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "N1": Item(
            'the softmax weight of "am" in the row for "a", once the future is masked.',
            points=1.5,
            says=0.3,
            right=0.3156,
            reason="rounded down, and by too much",
            atol=5e-3,
            question="Which scores count in this row, and what is each share divided by?",
        ),
        "N2": Item(
            "the sum of a row of attention weights.",
            points=1,
            says=1.1,
            right=1.0,
            reason="these are scores before softmax",
            atol=5e-3,
            question="What do weights have in common that scores need not have?",
        ),
        "N6": Item(
            "the weight of fruit under softmax.",
            points=1.5,
            says=0.2,
            right=0.1834,
            reason="divided by the sum, not softmax",
            atol=5e-3,
            question=(
                "How many of the five entries of the row get a weight from softmax, "
                "and what does it do with a 0?"
            ),
        ),
        "S1": Item(
            "the sum of one output's attention weights.",
            points=1,
            says=2 / 3,
            right=1.0,
            reason="weights over inputs must share one",
            atol=5e-3,
            question="What do the weights of a mean add up to?",
        ),
    },
    says_points=2,
    reasons_points=1,
)

# N1: the row for "a" before the mask, the column for "am" below it. N6: apple's similarities.
row = torch.tensor([0.1, 0.3, 0.6, 0.1], dtype=torch.float64)
column = torch.tensor([0.6, 0.3, 0.3], dtype=torch.float64)
apple = torch.tensor([0.0, 0.0, 0.25, 0.0, 1.0], dtype=torch.float64)
right_row = torch.softmax(row[:3], 0).tolist()
right_apple = torch.softmax(apple, 0).tolist()

exercise.wrong(
    "masked_after_softmax",
    "N1: you took softmax over all four scores and masked afterwards, so the row no longer sums "
    "to one. When should -inf be put in, before or after the exponential?",
    N1=(0.3, float(torch.softmax(row, 0)[1]), "the mask was applied too late"),
)
exercise.wrong(
    "filled_with_zero",
    "N1: you set a masked score to 0, but exp(0) = 1 still takes its share. Which score gives the "
    "probability 0?",
    N1=(
        0.3,
        float(torch.softmax(torch.tensor([*row[:3], 0.0]).double(), 0)[1]),
        "masked scores were set to zero",
    ),
)
exercise.wrong(
    "softmax_down_the_column",
    "N1: your softmax ran down the column. The slide's rows are the words that look: along which "
    "axis do their weights sum to one?",
    N1=(0.3, float(torch.softmax(column, 0)[1]), "softmax along the other axis"),
)
exercise.wrong(
    "another_column",
    'N1: that is the value of another column. Counting from 0, row 2 belongs to "a": which column '
    'belongs to "am"?',
    N1=(0.3, right_row[0], "looked at the first column"),
)
exercise.wrong(
    "numbers_of_N1_swapped",
    "N1: the first part is the number that the slide prints, the second the one that should be "
    "there. Which of your two numbers is on the slide?",
    N1=(right_row[1], 0.3, "rounded down, and by too much"),
)
exercise.wrong(
    "one_minus_the_others",
    "N1: you subtracted the slide's other two numbers from one, so their rounding is in yours. "
    "Which exponentials give the number directly?",
    N1=(0.3, 0.31, "the row should sum to one"),
)
exercise.wrong(
    "number_of_the_largest",
    'N1: these are the numbers for "a" itself. Which score of the row belongs to "am"?',
    N1=(0.43, right_row[2], "the largest of the row is rounded"),
)
exercise.wrong(
    "scores_by_their_sum",
    "N1: your second number is the score itself, or its share of the sum of the scores. What does "
    "the slide say is applied to the scores?",
    N1=(0.3, 0.3, "the slide is right about it"),
)
exercise.wrong(
    "sums_swapped",
    "N2: the first part is the sum of the slide's row, the second is the required sum of a row of "
    "weights. Did you swap them?",
    N2=(1.0, 1.1, "these are scores before softmax"),
)
exercise.wrong(
    "another_row",
    "N2: that row sums to one, as scores may. Sum all four rows: which of them does not?",
    N2=(1.0, 1.0, "these are scores before softmax"),
)
for name, total in (("", 1.3), ("_a", 1.2), ("_student", 0.6)):
    exercise.wrong(
        f"column_summed{name}",
        "N2: that is the sum of a column. Which words share one unit of attention, those of a row "
        "or those of a column?",
        N2=(total, 1.0, "these are scores before softmax"),
    )
exercise.wrong(
    "all_weights_summed",
    "N2: your second number fits the weights of all four words together. Which weights does one "
    "row hold?",
    N2=(1.1, 4.0, "every word has weight one"),
)
exercise.wrong(
    "all_scores_summed",
    "N2: your first number is the sum of the whole table. Which row of it makes that sum odd?",
    N2=(4.1, 1.0, "these are scores before softmax"),
)
exercise.wrong(
    "sum_believed",
    "N2: a row of attention weights is a distribution, whatever its scores sum to. What does each "
    "row of a softmax sum to?",
    N2=(1.1, 1.1, "the slide's row sums to that"),
)
exercise.wrong(
    "slide_believed",
    "N6: .2 comes from dividing by the sum, which is the slide's own way. What does your `softmax` "
    "give for the row of apple?",
    N6=(0.2, 0.2, "the slide is right about it"),
)
exercise.wrong(
    "numbers_of_N6_swapped",
    "N6: the first part is the weight that the slide prints, the second that of softmax. Which of "
    "your two numbers is on the slide?",
    N6=(right_apple[2], 0.2, "divided by the sum, not softmax"),
)
exercise.wrong(
    "similarity_for_weight",
    "N6: the first number of yours is a similarity. Which weight does the slide make of it?",
    N6=(0.25, right_apple[2], "divided by the sum, not softmax"),
)
exercise.wrong(
    "weight_of_a_zero",
    "N6: that is the weight of a word with similarity 0. What is fruit's similarity to apple?",
    N6=(0.2, right_apple[0], "softmax gives zeros a weight, too"),
)
exercise.wrong(
    "weight_of_apple",
    "N6: that is the weight of apple itself in this row. Which column belongs to fruit?",
    N6=(0.2, right_apple[4], "softmax gives another weight there"),
)
exercise.wrong(
    "zeros_left_out",
    "N6: you left out the three words with similarity 0. Does softmax give a score of 0 no weight?",
    N6=(0.2, float(torch.softmax(apple[[2, 4]], 0)[0]), "softmax over two words only"),
)
exercise.wrong(
    "columns_summed",
    "S1: you summed a column, or the row of another output. Each row of that table is one output "
    "position; its weights say how much it takes from each input. Which sum did the task ask for?",
    S1=(5 / 6, 1.0, "columns do not all sum to one"),
)
exercise.wrong(
    "numbers_of_S1_swapped",
    "S1: the first part is the sum of the slide's row, the second the sum that a mean needs. Which "
    "of your two numbers is on the slide?",
    S1=(1.0, 2 / 3, "weights over inputs must share one"),
)
exercise.wrong(
    "largest_weight_for_the_sum",
    "S1: your first number is a single weight of the row. How many weights does output 2 have, and "
    "what do they sum to?",
    S1=(1 / 3, 1.0, "weights over inputs must share one"),
)
exercise.wrong(
    "toy_table_believed",
    "S1: the second part is the sum that the weights of one output need for a weighted mean. Is "
    "2/3 enough?",
    S1=(2 / 3, 2 / 3, "all rows but one agree"),
)
exercise.wrong(
    "what_is_missing",
    "S1: your second number is the weight that is missing in the slide's row. Which sum does the "
    "task ask for?",
    S1=(2 / 3, 1 / 3, "weights over inputs must share one"),
)
exercise.wrong(
    "no_reasons",
    "A reason is missing, or has fewer than four words. In one short sentence, what is wrong on "
    "the slide, or is easily misread?",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up(
    "The first part is the number that the slide prints: which is on the slide?"
)

exercise.also_right_with(
    "rounded_and_in_lists",
    N1=[0.3, 0.32, "the third digit was cut off, not rounded"],
    N6=[0.2, 0.183, "this is a share of the sum"],
    S1=[0.667, 1, "the three weights are too small"],
)

exercise.also_right_with(
    "tensors",
    N2=(torch.tensor([0.1, 0.3, 0.6, 0.1]).sum(), torch.ones(1), "a sum above one is no share"),
    N6=(apple[2] / apple.sum(), torch.softmax(apple, 0)[2], "softmax serves words at zero"),
)
