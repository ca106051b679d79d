"""predictions: how much of a text BERT is asked about, and how large it is."""

from __future__ import annotations

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "how many times as many tokens BERT must read for as many answers as GPT.",
            points=0.75,
            right=1 / 0.15,
            atol=0.05,
            reason="GPT is asked at every token and BERT at 15 %: 1/0.15 is 6.67.",
            question="How many answers does each of the two models get from 100 tokens?",
        ),
        "P2": Prediction(
            "the share of rows in which no token is chosen.",
            points=0.75,
            right=0.85**10,
            atol=0.006,
            reason="Each of ten words is left alone with probability 0.85, independently: 0.85^10.",
            question="What is the chance that one word is not chosen, and that ten are not?",
        ),
        "P3": Prediction(
            "the share of the words that the model sees as they are, and at which it is asked.",
            points=0.75,
            right=0.015 / 0.865,
            atol=1.2e-3,
            reason=(
                "Of 100 words, 85 are not chosen and 1.5 are chosen and kept: 1.5 of 86.5, or "
                "1.7 percent."
            ),
            question=(
                "Of 100 words, how many does the model see as they were, and at how "
                "many of these is it asked?"
            ),
        ),
        "P4": Prediction(
            "the parameters of BERT base, in millions, with its pooler and without its heads.",
            points=0.75,
            right=109.48,
            atol=0.25,
            reason=(
                "The tables have 23.84 million, each of 12 layers has 7.09 million, and the pooler "
                "has 0.59."
            ),
            question="Which tables and layers are there, and which of them have biases?",
        ),
    },
    answered="The answer to each of the four questions is a number.",
    points=1,
)

exercise.wrong(
    "one_in_fifteen",
    "P1: how many tokens of 100 is BERT asked about, and how many of 100 is GPT?",
    P1=15,
)
exercise.wrong(
    "only_places_with_mask",
    "P1: the loss counts at all chosen places, not at those with [MASK] alone. What is their "
    "share?",
    P1=1 / 0.12,
)
exercise.wrong(
    "a_share_instead",
    "P1: you wrote which share of the answers BERT gets. How many times as many tokens does it "
    "need?",
    P1=0.15,
)
exercise.wrong(
    "left_out_tokens",
    "P1: that is how many tokens are left alone for each chosen one. Which share is 1 of all "
    "tokens?",
    P1=0.85 / 0.15,
)
exercise.wrong(
    "always_one_and_a_half",
    "P2: a row has 1.5 chosen words on average, but not always. What is the chance that each of "
    "ten words is left alone?",
    P2=0.0,
)
exercise.wrong(
    "at_least_one",
    "P2: that is the chance that at least one word is chosen. What is left?",
    P2=1 - 0.85**10,
)
exercise.wrong(
    "one_word_left_alone",
    "P2: that is the chance that one word is left alone. How many must be?",
    P2=0.85,
)
exercise.wrong(
    "twelve_words",
    "P2: can [CLS] and [SEP] be chosen? How many words can?",
    P2=0.85**12,
)
exercise.wrong(
    "of_all_words",
    "P3: that is the share of *all* words. Of how many does the model see what stands there?",
    P3=0.015,
)
exercise.wrong(
    "random_ones_too",
    "P3: you count the words that became random ones, too. Does the model see these as they are?",
    P3=0.03 / 0.88,
)
exercise.wrong(
    "of_the_chosen_words",
    "P3: that is the share of the chosen words. What share of the words that are as they were?",
    P3=0.1,
)
exercise.wrong(
    "all_chosen_words",
    "P3: that is the share of chosen words. How many of them can be read?",
    P3=0.15,
)
exercise.wrong(
    "pooler_forgotten",
    "P4: your model has no pooler. How many numbers has a linear layer from d to d?",
    P4=108.89,
)
exercise.wrong(
    "heads_counted",
    "P4: you count the two heads, too. What does the question leave out?",
    P4=110.11,
)
exercise.wrong(
    "layers_only",
    "P4: those are the 12 layers. How large is a table of 30,522 vectors?",
    P4=85.05,
)
exercise.wrong(
    "table_of_the_head_too",
    "P4: your model has two tables of 30,522 vectors. How many parameters is a table that two "
    "parts share?",
    P4=132.93,
)
exercise.wrong(
    "large_model_counted",
    "P4: that is the large model. How many layers has the base one?",
    P4=335.14,
)
exercise.wrong(
    "parameters_not_in_millions",
    "P4: your number counts parameters. The question asks for millions.",
    P4=109_482_240,
)

exercise.also_right_with("rounded", P1=6.7, P2=0.2, P3=0.017, P4=109.5)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor(20 / 3),
    P2=torch.tensor([0.1969]),
    P3=torch.tensor(1.5) / 86.5,
    P4=torch.tensor(109.48),
)
