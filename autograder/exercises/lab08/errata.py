"""errata: three places on slides about training to look at twice."""

from __future__ import annotations

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "C2": Item(
            "where x is after one update, by the slide's formula and by Adam's.",
            points=0.5,
            says=1.1,
            right=0.9,
            reason="an average adds the new gradient",
            atol=1e-3,
            question=(
                "With which sign does the gradient enter the average, and in which "
                "direction does x move then?"
            ),
        ),
        "C3": Item(
            "the size of the big model, in millions, with the slide's d_ff and with four times d.",
            points=0.5,
            says=163.9,
            right=214.2,
            reason="the big model has d_ff 4096",
            rtol=7e-3,
            question="Which matrices have the size d_ff, and what is it by each of the two rules?",
        ),
        "C6": Item(
            "what the true word gets on the slide, and what torch must be given for it.",
            points=0.5,
            says=0.9,
            right=0.125,
            reason="torch gives the true word a share, too",
            atol=1e-3,
            question=(
                "How many words share what is taken from the true one, by each of the two rules?"
            ),
        ),
    },
    says_points=0,
    reasons_points=0.5,
)

exercise.wrong(
    "signs_swapped",
    "C2: the two numbers are swapped: first the slide's, then the right one.",
    C2=(0.9, 1.1, "the sign in front of the gradient"),
)
exercise.wrong(
    "slide_goes_downhill",
    "C2: with the slide's minus, which sign has m after the first gradient, and on which side of 1 "
    "is x then?",
    C2=(0.9, 0.9, "an average adds the new gradient"),
)
exercise.wrong(
    "plain_gradient_descent",
    "C2: that is one step of gradient descent, lr times the gradient 2. How long is Adam's first "
    "update, whatever the gradient is?",
    C2=(1.2, 0.8, "an average adds the new gradient"),
)
exercise.wrong(
    "averages_not_corrected",
    "C2: your update has another length than lr. What do the hats in the slide's last line do to m "
    "and v?",
    C2=(1.316, 0.684, "an average adds the new gradient"),
)
exercise.wrong(
    "two_hundred_updates",
    "C2: that is where x is much later. The question asks for x after a single update.",
    C2=(30.5, 0.0, "an average adds the new gradient"),
)
exercise.wrong(
    "only_the_update",
    "C2: you wrote how far x goes. The question asks where it is afterwards.",
    C2=(0.1, -0.1, "an average adds the new gradient"),
)
exercise.wrong(
    "base_model_counted",
    "C3: that is the size of the base model. What is d for the big one?",
    C3=(63.1, 214.2, "the big model has d_ff 4096"),
)
exercise.wrong(
    "slide_believed",
    "C3: the same number twice. By lecture W's rule, what is d_ff if d = 1024?",
    C3=(163.9, 163.9, "the size is the same"),
)
exercise.wrong(
    "sizes_swapped",
    "C3: the two numbers are swapped: first the model with the slide's d_ff.",
    C3=(214.2, 163.9, "the big model has d_ff 4096"),
)
exercise.wrong(
    "not_in_millions",
    "C3: your numbers are right if they count parameters. The question asks for millions.",
    C3=(163_889_152, 214_245_376, "the big model has d_ff 4096"),
)
exercise.wrong(
    "width_inside_asked",
    "C3: you wrote the widths of the feed-forward network. The question asks for the size of the "
    "whole model.",
    C3=(2048, 4096, "the big model has d_ff 4096"),
)
exercise.wrong(
    "three_tables",
    "C3: your models have a table of their own for source, target and head. How many tables has "
    "the model of 7.5?",
    C3=(239.7, 290.0, "the big model has d_ff 4096"),
)
exercise.wrong(
    "same_epsilon",
    "C6: with that ε, torch gives each of the five words ε/5, and the true word 1 - ε besides. "
    "What is the sum at the true word?",
    C6=(0.9, 0.1, "both smooth with the same number"),
)
exercise.wrong(
    "targets_of_torch",
    "C6: that is what the true word gets from torch if ε is 0.1. Which ε makes it what the slide "
    "says?",
    C6=(0.9, 0.92, "torch gives the true word a share, too"),
)
exercise.wrong(
    "converted_the_other_way",
    "C6: with your number torch takes less from the true word than the slide does. Which of the "
    "two ε must be larger?",
    C6=(0.9, 0.08, "torch gives the true word a share, too"),
)
exercise.wrong(
    "share_of_a_wrong_word",
    "C6: 0.025 is what each of the other words gets on the slide. The question asks for the true "
    "one.",
    C6=(0.025, 0.125, "torch gives the true word a share, too"),
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
    C2=[1.0999999995, 0.9000000005, "the average must add the gradient"],
    C3=[163.889152, 214.245376, "d_ff should be 4 d = 4096"],
    C6=[0.9, 0.1 * 5 / 4, "torch spreads epsilon over all five words"],
)
exercise.also_right_with(
    "the_papers_number_and_pre_norm",
    C2=(torch.tensor(1.1), torch.tensor(0.9), "minus means going uphill"),
    C3=(163.893248, 213, "the slide's inner width is too small"),
    C6=(torch.tensor(0.9), torch.tensor(1) / 8, "it is another convention, not a slip"),
)
