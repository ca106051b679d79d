"""errata: three places where the slides on masks are wrong."""

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "N1": Item(
            'the weight of "I" in the row for "am", once the future is masked.',
            points=1,
            says=0.37,
            right=0.3775,
            reason="the last digit was cut off",
            atol=4e-3,
        ),
        "N2": Item(
            'the weight of "a" in the row for "a" before masking.',
            points=1,
            says=0.6,
            right=0.3385,
            reason="these are scores before softmax",
            atol=4e-3,
        ),
        "S2": Item(
            "how many pairs of five outputs may look at each other.",
            points=1,
            says=10,
            right=15,
            reason="every output also sees itself",
        ),
    },
    says_points=0.5,
    says_atol=4e-3,
    reasons_points=0.5,
)

exercise.wrong(
    "masked_after_softmax",
    "N1: you took softmax over all four scores and masked afterwards, so the row no longer sums "
    "to one. When does -inf come in, before or after the exponential?",
    N1=(0.37, 0.2104, "the mask was applied too late"),
)
exercise.wrong(
    "filled_with_zero",
    "N1: masked scores were set to 0, and exp(0) = 1 still takes its share. Which score leaves "
    "nothing after the exponential?",
    N1=(0.37, 0.2243, "masked scores were set to zero"),
)
exercise.wrong(
    "another_column",
    'N1: that is the weight of the word itself. Counting from 0, "I" is column 0 of the row for '
    '"am", which is row 1.',
    N1=(0.37, 0.6225, "looked at the second column"),
)
exercise.wrong(
    "slide_believed",
    "N1: that is the slide's number. Compute it to four digits and round to two: what comes out?",
    N1=(0.37, 0.37, "the slide is right about it"),
)
exercise.wrong(
    "scores_by_their_sum",
    "N1: your row divides the two scores by their sum. What does the slide say is applied?",
    N1=(0.37, 0.1429, "a share of the sum of scores"),
)
exercise.wrong(
    "table_believed",
    "N2: that is the table's number. Its rows look like shares of one, and one of them sums to "
    "1.1. What does softmax make of that row?",
    N2=(0.6, 0.6, "the table is right about it"),
)
exercise.wrong(
    "divided_by_the_sum",
    "N2: dividing a row by its sum makes shares of it, but this lecture does something else to "
    "scores. What?",
    N2=(0.6, 0.5455, "a share of the sum of scores"),
)
exercise.wrong(
    "after_masking",
    "N2: that is the weight after masking. The question is about the table before, where all four "
    "words share.",
    N2=(0.6, 0.4260, "softmax of the masked row"),
)
exercise.wrong(
    "softmax_down_the_column",
    "N2: your softmax ran down the column. The words that look are the rows: along which axis do "
    "their weights sum to one?",
    N2=(0.6, 0.3314, "softmax along the other axis"),
)
exercise.wrong(
    "self_excluded",
    "S2: with j' < j as on the slide, the first output may look at nothing at all. What should it "
    "be able to use?",
    S2=(10, 10, "the slide is right about it"),
)
exercise.wrong(
    "everything_seen",
    "S2: that is all pairs, even those that look ahead. Which half must not be seen?",
    S2=(10, 25, "every output sees all outputs"),
)
exercise.wrong(
    "numbers_swapped",
    "S2: the two numbers are swapped: first the slide's, then the right one.",
    S2=(15, 10, "every output also sees itself"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. Say in a short sentence what went wrong on the "
    "slide.",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.also_right_with(
    "rounded_and_in_lists",
    N1=[0.37, 0.38, "it should be rounded up to .38"],
    N2=[0.6, 0.339, "a score is not a weight"],
    S2=[10.0, 15.0, "one j' is missing in each row"],
)
exercise.also_right_with(
    "tensors",
    N1=(0.37, torch.tensor(0.3775), "cut off after two digits"),
    N2=(torch.tensor(0.6), torch.tensor(0.3385), "softmax has yet to come"),
    S2=(torch.tensor(10), torch.tensor(15), "an output also sees itself"),
)
