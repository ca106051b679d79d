"""errata: two places on slides about GPT-2's sizes to look at twice."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "G1": Item(
            "the millions of parameters with the bullet's 12 layers, and with the table's 48.",
            points=1.25,
            says=450.9,
            right=1557.6,
            reason="1.5 billion parameters need 48 layers",
            rtol=6e-3,
            question="Which parts of the model grow with the number of layers, and which do not?",
        ),
        "G10": Item(
            "which vocabulary makes the table right, and the smallest model's size with the other.",
            points=1.25,
            says=40_478,
            right=124.4,
            reason="the table counts the tokens of GPT-1",
            rtol=6e-3,
            question="What does 9.4's formula give for each model with either vocabulary?",
        ),
    },
    says_points=0,
    reasons_points=0.5,
)

exercise.wrong(
    "slide_believed",
    "G1: those are the slide's own numbers, in millions. What do 12 layers of width 1,600 come to?",
    G1=(1500, 1542, "both are right about it"),
)
exercise.wrong(
    "sizes_swapped",
    "G1: the two numbers are swapped: first the model of the bullet, then that of the table.",
    G1=(1557.6, 450.9, "the bullet has too few layers"),
)
exercise.wrong(
    "not_in_millions",
    "G1: your numbers are right if they count parameters. The question asks for millions.",
    G1=(450_942_400, 1_557_611_200, "the bullet has too few layers"),
)
exercise.wrong(
    "layers_without_tables",
    "G1: you count the layers alone. Which tables does a GPT have besides?",
    G1=(368.9, 1475.6, "the bullet has too few layers"),
)
exercise.wrong(
    "two_tables_of_tokens",
    "G1: you count a head of its own. What are the head and the table of tokens in a GPT?",
    G1=(531.3, 1638.0, "the bullet has too few layers"),
)
exercise.wrong(
    "the_older_vocabulary",
    "G1: you took the vocabulary of GPT-1. Which one has GPT-2?",
    G1=(435.3, 1542.0, "the bullet has too few layers"),
)
exercise.wrong(
    "numbers_of_layers",
    "G1: you wrote the numbers of layers. The question asks for the sizes of the two models.",
    G1=(12, 48, "the bullet has too few layers"),
)
exercise.wrong(
    "width_of_the_smallest",
    "G1: you took the width of the smallest model. Which one does the bullet name?",
    G1=(124.4, 1557.6, "the bullet has too few layers"),
)
exercise.wrong(
    "own_vocabulary_makes_it_right",
    "G10: with that vocabulary, does your formula give 117 million for the smallest model?",
    G10=(50_257, 124.4, "the table is about GPT-2"),
)
exercise.wrong(
    "table_believed",
    "G10: that is the table's number. What does the formula give with 50,257 tokens?",
    G10=(40_478, 117, "the table is right about it"),
)
exercise.wrong(
    "vocabulary_in_thousands",
    "G10: your number of tokens is in thousands. The question asks for the number itself.",
    G10=(40.478, 124.4, "these are the tokens of GPT-1"),
)
exercise.wrong(
    "parameters_not_in_millions",
    "G10: your size is right if it counts parameters. The question asks for millions.",
    G10=(40_478, 124_439_808, "these are the tokens of GPT-1"),
)
exercise.wrong(
    "order_swapped",
    "G10: the two numbers are swapped: first the vocabulary, then the size.",
    G10=(124.4, 40_478, "these are the tokens of GPT-1"),
)
exercise.wrong(
    "head_of_its_own",
    "G10: you count a head of its own. What are the head and the table of tokens in a GPT?",
    G10=(40_478, 163.0, "these are the tokens of GPT-1"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. Say in a short sentence what is wrong, or what "
    "follows.",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up("Which of them does the question ask for first?")

exercise.also_right_with(
    "exact_and_in_lists",
    G1=[450.9424, 1557.6112, "the bullet should say 48 layers"],
    G10=[40_478.0, 124.439808, "somebody counted with GPT-1's tokens"],
)
exercise.also_right_with(
    "rounded_and_as_tensors",
    G1=(torch.tensor(451), torch.tensor(1558), "the bullet has a quarter of the layers"),
    G10=(torch.tensor(40_478), torch.tensor(124), "its vocabulary is that of GPT-1"),
)
