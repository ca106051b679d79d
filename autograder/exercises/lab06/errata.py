"""errata: three places on slides about positions and layers to look at twice."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "C1": Item(
            "the longest wave for 512 columns, with the slide's base and with the paper's.",
            points=1.5,
            says=6116.0,
            right=60612.0,
            reason="the paper's base is 10000, not 1000",
            rtol=5e-3,
            question="Which column has the longest wave, and what is its exponent?",
        ),
        "G6": Item(
            "how many of five outputs change with one word.",
            points=1.5,
            says=5,
            right=1,
            reason="the network sees one position at a time",
            question="From which positions does the formula compute one position's output?",
        ),
        "W3": Item(
            'how many vectors the eight "the" of the four sentences have.',
            points=1.5,
            says=1,
            right=8,
            reason="only positions tell the orders apart",
            question="What distinguishes two equal words without positions, and what with them?",
        ),
    },
    says_points=0,
    reasons_points=0.5,
)

exercise.wrong(
    "waves_of_the_base_itself",
    "C1: you took 2π times the base. The last pair of columns does not quite reach it: what is its "
    "exponent, for i = d/2 - 1?",
    C1=(6283.2, 62831.9, "the paper's base is 10000"),
)
exercise.wrong(
    "two_pi_forgotten",
    "C1: that is how many positions one radian takes. After how many radians does a wave repeat?",
    C1=(973.4, 9646.6, "the paper's base is 10000"),
)
exercise.wrong(
    "shortest_wave",
    "C1: that is the wave of the first pair of columns, which is the same for every base. Which "
    "pair has the longest?",
    C1=(6.283, 6.283, "both begin with one radian"),
)
exercise.wrong(
    "bases_written",
    "C1: these are the two bases. The question asks how many positions the longest wave needs to "
    "repeat.",
    C1=(1000, 10000, "a zero is missing there"),
)
exercise.wrong(
    "numbers_swapped",
    "C1: the two numbers are swapped: first the slide's, then the right one.",
    C1=(60612.0, 6116.0, "the paper's base is 10000"),
)
exercise.wrong(
    "slide_believed",
    "G6: you let the network relate words, as the slide's sentence says. Look at its formula: "
    "which words are in it? Or change one word and count.",
    G6=(5, 5, "the network connects all words"),
)
exercise.wrong(
    "pairs_counted",
    "G6: the question is not about pairs. One word changes: how many of the five output vectors "
    "change?",
    G6=(25, 5, "each word with each other"),
)
exercise.wrong(
    "neighbours_not_counted",
    "G6: the first number is what should happen if the slide's sentence were true: how many words "
    "are related to the one that changed, itself included?",
    G6=(4, 1, "the network sees one position"),
)
exercise.wrong(
    "always_eight",
    "W3: without positions, attention gives a word the same vector in every order. Which function "
    "of lab 1 measures this?",
    W3=(8, 8, "there are eight words in all"),
)
exercise.wrong(
    "always_one",
    "W3: with positions, the same word gets another vector in another order. Compare the tables in "
    "the picture of 6.4: is the second one full of zeros?",
    W3=(1, 1, "the order is not important"),
)
exercise.wrong(
    "by_the_place_alone",
    'W3: "the" stands at four different positions. Is its own position all that its vector depends '
    "on after attention?",
    W3=(1, 4, "it stands at four different places"),
)
exercise.wrong(
    "one_for_each_sentence",
    'W3: each sentence has two "the". Do the two have one vector?',
    W3=(4, 8, "one vector for each sentence"),
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
    C1=[6120, 60600, "a zero is missing in the base"],
    G6=[5.0, 1.0, "there is one t in FFN(x_t)"],
    W3=[1.0, 8.0, "without positions it is a bag of words"],
)
exercise.also_right_with(
    "computed",
    C1=(
        2 * torch.pi * 1000 ** (510 / 512),
        torch.tensor(2 * torch.pi * 10000 ** (510 / 512)),
        "all other lectures divide by 10000",
    ),
    G6=(torch.tensor(5), torch.tensor([1]), "the same network at each position"),
)
