"""errata: four places on slides about BERT and GPT to look at twice."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "G2": Item(
            "what the slide's formula leaves at λ = 0, and its λ for the paper's 0.5.",
            points=1.25,
            says=1,
            right=2,
            reason="a convention: the other term is weighted",
            question=(
                "Which term does λ multiply in each formula, and when do two weighted "
                "sums have one best point?"
            ),
        ),
        "G3": Item(
            "columns of SQuAD in the table, and the numbers in its average.",
            points=1.25,
            says=0,
            right=9,
            reason="the columns are tasks of GLUE",
            question=(
                "To which collection of tasks do the columns belong, and over which "
                "of the row's numbers is the mean?"
            ),
        ),
        "G8": Item(
            "rows whose heads do not fill the width, and the width of 40 heads of 128.",
            points=1.25,
            says=2,
            right=5120,
            reason="heads times their size must be the width",
            question="In which rows do the heads, times the size of each, fill the width?",
        ),
        "G9": Item(
            "the number of epochs that does not fit, and the one that follows.",
            points=1.25,
            says=2.9,
            right=3.47,
            reason="weight times 300 billion, divided by the size",
            atol=0.17,
            question=(
                "What do the weight, the tokens read and the size of a text say about its epochs?"
            ),
        ),
    },
    says_points=0,
    reasons_points=1,
)

exercise.wrong(
    "task_is_left",
    "G2: with λ = 0 on the slide, which of the two likelihoods is multiplied by 0?",
    G2=(2, 2, "the other term is weighted"),
)
exercise.wrong(
    "same_lambda",
    "G2: with λ = 0.5 on the slide, which of the two counts more? And in the paper?",
    G2=(1, 0.5, "the other term is weighted"),
)
exercise.wrong(
    "order_exchanged",
    "G2: the two numbers are exchanged: first what is left at λ = 0, then the other λ.",
    G2=(2, 1, "the other term is weighted"),
)
exercise.wrong(
    "shares_of_one",
    "G2: the two weights need not add up to 1. What happens to the best weights if a sum is "
    "multiplied by 2?",
    G2=(1, 1 / 3, "the other term is weighted"),
)
exercise.wrong(
    "title_believed",
    "G3: which of the columns is about finding an answer's place in a text?",
    G3=(9, 9, "the columns are other tasks"),
)
exercise.wrong(
    "one_column_of_squad",
    "G3: QNLI and QQP are about questions, but neither is SQuAD. Which column says SQuAD?",
    G3=(1, 9, "the columns are other tasks"),
)
exercise.wrong(
    "columns_counted",
    "G3: there are eight columns of tasks, but the first one holds two numbers. Which mean is "
    "82.1?",
    G3=(0, 8, "the columns are other tasks"),
)
exercise.wrong(
    "ten_numbers",
    "G3: does the average count itself?",
    G3=(0, 10, "the columns are other tasks"),
)
exercise.wrong(
    "only_the_odd_width",
    "G8: you found one row. What is 24 · 128?",
    G8=(1, 5120, "heads times their size must be the width"),
)
exercise.wrong(
    "width_of_xl",
    "G8: that is the product of the other row. What are 40 heads of 128?",
    G8=(2, 3072, "heads times their size must be the width"),
)
exercise.wrong(
    "printed_width",
    "G8: that is the width that is printed. What are 40 heads of 128?",
    G8=(2, 5140, "heads times their size must be the width"),
)
exercise.wrong(
    "no_row",
    "G8: multiply the heads by their size in each of the eight rows. Is the product always the "
    "width?",
    G8=(0, 5120, "heads times their size must be the width"),
)
exercise.wrong(
    "wikipedia_suspected",
    "G9: 3 % of the mix may be 3.4 %, rounded, and 3 billion may be 2.6. Which row does not fit "
    "even then?",
    G9=(3.4, 3.0, "weight times tokens by size"),
)
exercise.wrong(
    "wikipedia_recalculated",
    "G9: your second number belongs to another row than the first. What follows for the row that "
    "does not fit?",
    G9=(2.9, 3.0, "weight times tokens by size"),
)
exercise.wrong(
    "divided_the_other_way",
    "G9: you divided the size by what is read. How often is a text of 19 billion tokens read if "
    "66 billion are taken from it?",
    G9=(2.9, 0.288, "weight times tokens by size"),
)
exercise.wrong(
    "weight_forgotten",
    "G9: of the 300 billion tokens, which share comes from this text?",
    G9=(2.9, 15.8, "weight times tokens by size"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. Say in a short sentence what is wrong, or what "
    "follows.",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up("Which of them does the question ask for first?")

exercise.also_right_with(
    "as_text_and_lists",
    G2=[1, 2.0, "the paper weights the language model"],
    G3=[0, 9, "this is GLUE, a set of tasks"],
    G8=[2, 5120.0, "13B and XL break the rule"],
    G9=[2.9, 66 / 19, "22 % of 300 billion is 66"],
)
exercise.also_right_with(
    "tensors_and_rounding",
    G2=(torch.tensor(1), torch.tensor(2.0), "it is a convention, not a slip"),
    G3=(torch.tensor(0), torch.tensor(9), "eight tasks, one of them twice"),
    G8=(torch.tensor(2), torch.tensor(5120), "heads times head size is the width"),
    G9=(torch.tensor(2.9), torch.tensor(3.5), "the text is read more often"),
)
