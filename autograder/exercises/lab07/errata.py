"""errata: three places on slides about whole Transformers to look at twice."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "C5": Item(
            "how many numbers the loss has, as written and as it should be.",
            points=0.5,
            says=37000,
            right=1,
            reason="the true word y_t is missing",
            question="Which index says which word's probability is meant?",
        ),
        "W2": Item(
            "what twice the heads adds to the parameters, and what twice the vocabulary adds.",
            points=0.5,
            says=0,
            right=18944000,
            reason="the vocabulary is not among the three",
            question=(
                "Which matrices change their size with each of the two, and how often "
                "is each one stored?"
            ),
        ),
        "WM": Item(
            "how many times the decoder runs to learn from six words.",
            points=0.5,
            says=6,
            right=1,
            reason="each row of the scores has its own mask",
            question="For how many different inputs does the decoder run in each of the two ways?",
        ),
    },
    says_points=0,
    reasons_points=0.5,
)

exercise.wrong(
    "slide_believed",
    "C5: f returns a number for each word of the vocabulary. What does the slide add up, and what "
    "is the shape of a sum of such vectors?",
    C5=(1, 1, "a sum is one number"),
)
exercise.wrong(
    "loss_of_each_word",
    "C5: a loss that can be minimised is a single number. What is left when one of the vector's "
    "entries is picked at each position and all are added?",
    C5=(37000, 37000, "there is one for each word"),
)
exercise.wrong(
    "one_word_picked",
    "C5: the second number is right. Where does the formula on the slide pick the entry of the "
    "true word?",
    C5=(2, 1, "the true word is missing there"),
)
exercise.wrong(
    "loss_swapped",
    "C5: the two numbers are swapped: first the slide's, then the right one.",
    C5=(1, 37000, "the true word is missing there"),
)
exercise.wrong(
    "heads_have_more_weights",
    "W2: more heads are narrower heads. What does `count_params` say for 16 heads instead of 8?",
    W2=(18874368, 18944000, "each head has four matrices"),
)
exercise.wrong(
    "vocabulary_for_free",
    "W2: what does `count_params` say for a base model with twice as many symbols?",
    W2=(0, 0, "the three fix all of it"),
)
exercise.wrong(
    "three_tables_counted",
    "W2: the base model shares one table. How many times does it count?",
    W2=(0, 56832000, "the vocabulary is missing there"),
)
exercise.wrong(
    "whole_models_counted",
    "W2: these are the sizes of whole models. The question asks how many parameters are added.",
    W2=(63082496, 82026496, "the vocabulary is missing there"),
)
exercise.wrong(
    "always_six",
    "WM: in your decoder layer, which rows does a causal mask hide from which positions, and how "
    "many positions are computed in one run?",
    WM=(6, 6, "one run for each word"),
)
exercise.wrong(
    "always_one",
    "WM: if later words are replaced in the input, the third position reads two words and the "
    "fourth reads three. Can one input be both?",
    WM=(1, 1, "the mask hides the future"),
)
exercise.wrong(
    "only_the_masked_words",
    "WM: the slide shows one of the inputs, with three words masked. How many such inputs does the "
    "sentence need, one for each word to predict?",
    WM=(3, 1, "each row has its own mask"),
)
exercise.wrong(
    "first_word_not_predicted",
    "WM: the first word is predicted, too, from the start symbol alone. How many words are "
    "predicted?",
    WM=(5, 1, "each row has its own mask"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. Say in a short sentence what is wrong, or what "
    "follows.",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up("Which of them does the slide give?")

exercise.also_right_with(
    "rounded_and_in_lists",
    C5=[37000.0, 1.0, "no term picks the target"],
    W2=[0.0, 18.944e6, "V is a choice, and d_ff, too"],
    WM=[6.0, 1.0, "the mask works on scores, not on words"],
)
exercise.also_right_with(
    "computed",
    C5=(torch.zeros(37000).numel(), torch.tensor(1), "the index y_t is left out"),
    W2=(torch.tensor(0), torch.tensor(37000) * 512, "the size of the vocabulary is missing"),
    WM=(torch.tensor([6]), torch.tensor([1]), "all positions are computed at once"),
)
