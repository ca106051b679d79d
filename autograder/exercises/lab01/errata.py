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
        ),
        "N2": Item(
            "the sum of a row of attention weights.",
            points=1,
            says=1.1,
            right=1.0,
            reason="these are scores before softmax",
            atol=5e-3,
        ),
        "N6": Item(
            "the weight of fruit under softmax.",
            points=1.5,
            says=0.2,
            right=0.1834,
            reason="divided by the sum, not softmax",
            atol=5e-3,
        ),
        "S1": Item(
            "the sum of one output's attention weights.",
            points=1,
            says=2 / 3,
            right=1.0,
            reason="weights over inputs must share one",
            atol=5e-3,
        ),
    },
    says_points=2,
    reasons_points=1,
)

exercise.wrong(
    "masked_after_softmax",
    "N1: you took softmax over all four scores and masked afterwards, so the row no longer sums "
    "to one. When should -inf be put in, before or after the exponential?",
    N1=(0.3, 0.2508, "the mask was applied too late"),
)
exercise.wrong(
    "filled_with_zero",
    "N1: you set a masked score to 0, but exp(0) = 1 still takes its share. Which score gives the "
    "probability 0?",
    N1=(0.3, 0.2558, "masked scores were set to zero"),
)
exercise.wrong(
    "softmax_down_the_column",
    "N1: your softmax ran down the column. The slide's rows are the words that look: along which "
    "axis do their weights sum to one?",
    N1=(0.3, 0.2985, "softmax along the other axis"),
)
exercise.wrong(
    "another_column",
    'N1: that is the value of another column. Counting from 0, row 2 belongs to "a": which column '
    'belongs to "am"?',
    N1=(0.3, 0.2584, "looked at the first column"),
)
exercise.wrong(
    "scores_by_their_sum",
    "N1: you divided the scores by their sum. What does the slide say is applied to them?",
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
    "weight_of_apple",
    "N6: that is the weight of apple itself in this row. Which column belongs to fruit?",
    N6=(0.2, 0.3882, "softmax gives another weight there"),
)
exercise.wrong(
    "zeros_left_out",
    "N6: you left out the three words with similarity 0. Does softmax give a score of 0 no weight?",
    N6=(0.2, 0.3208, "softmax over two words only"),
)
exercise.wrong(
    "columns_summed",
    "S1: you summed a column. Each row of that table is one output position; its weights say how "
    "much it takes from each input. Which sums should be one?",
    S1=(5 / 6, 1.0, "columns do not all sum to one"),
)
exercise.wrong(
    "toy_table_believed",
    "S1: the second part is the sum that the weights of one output need for a weighted mean. Is "
    "2/3 enough?",
    S1=(2 / 3, 2 / 3, "all rows but one agree"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. In one short sentence, what is wrong on the slide?",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.also_right_with(
    "rounded_and_in_lists",
    N1=[0.3, 0.32, "the third digit was cut off, not rounded"],
    N6=[0.2, 0.183, "this is a share of the sum"],
    S1=[0.667, 1, "the three weights are too small"],
)

scores = torch.tensor([0.0, 0.0, 0.25, 0.0, 1.0])
exercise.also_right_with(
    "tensors",
    N2=(torch.tensor([0.1, 0.3, 0.6, 0.1]).sum(), torch.ones(1), "a sum above one is no share"),
    N6=(scores[2] / scores.sum(), torch.softmax(scores, 0)[2], "softmax serves words at zero"),
)
