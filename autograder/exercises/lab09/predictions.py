"""predictions: numbers about tokens, sizes and costs that follow before anything is trained."""

from __future__ import annotations

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "how many merges GPT-2's vocabulary has.",
            points=0.5,
            right=50_000,
            reason="Of 50,257 tokens, 256 are bytes and one is <|endoftext|>.",
            question="Which tokens of the vocabulary are no product of a merge?",
        ),
        "P2": Prediction(
            "the millions of parameters of the smallest GPT-2, if bytes were its only tokens.",
            points=0.5,
            right=86.04,
            atol=0.06,
            reason="Of 124.44 million, 50,001 rows of 768 numbers are no longer needed.",
            question="Which tables have a row for each token, and how many rows fall away?",
        ),
        "P3": Prediction(
            "the bits per byte of a model whose loss is 3.0 nats per token of 2.5 bytes.",
            points=0.5,
            right=1.7312,
            atol=8e-3,
            reason="3.0 / ln 2 = 4.33 bits for each token, which stands for 2.5 bytes.",
            question="What turns nats into bits, and tokens into bytes?",
        ),
        "P4": Prediction(
            "how often the likeliest token is drawn at temperature 0.5 with top_k = 2.",
            points=0.5,
            right=0.25 / 0.29,
            atol=4e-3,
            reason=(
                "A temperature of 0.5 squares the probabilities, and two tokens stay: "
                ".25 of .25 + .04."
            ),
            question=(
                "What does each option do to the probabilities, and what do those that stay sum to?"
            ),
        ),
        "P5": Prediction(
            "the megabytes in the cache of the smallest GPT-2 after 1,024 tokens.",
            points=0.5,
            right=75.5,
            atol=0.6,
            reason="A key and a value, 12 layers, 1,024 tokens, 768 numbers of 4 bytes.",
            question=(
                "How many numbers does one layer keep for each token, and how many bytes has each?"
            ),
        ),
    },
    answered="The answer to each of the five questions is a number.",
    points=0.5,
)

exercise.wrong(
    "special_token_counted",
    "P1: that is what is left without the bytes. Is every other token the product of a merge?",
    P1=50_001,
)
exercise.wrong(
    "all_tokens_counted",
    "P1: that is the number of all tokens. Which of them are there before the first merge?",
    P1=50_257,
)
exercise.wrong(
    "bytes_counted",
    "P1: you took one token off. Which tokens are there before the first merge?",
    P1=50_256,
)
exercise.wrong(
    "no_table_at_all",
    "P2: your model has no table of tokens at all. How many rows do the bytes need?",
    P2=85.84,
)
exercise.wrong(
    "layers_alone",
    "P2: you count the layers alone. Which tables has a GPT besides?",
    P2=85.06,
)
exercise.wrong(
    "all_tokens_left",
    "P2: that is the size with all 50,257 tokens. How many rows of the table are left for bytes?",
    P2=124.44,
)
exercise.wrong(
    "head_of_its_own",
    "P2: you count a head of its own. What are the head and the table of tokens in a GPT?",
    P2=86.24,
)
exercise.wrong(
    "parameters_not_in_millions",
    "P2: your number counts parameters. The question asks for millions.",
    P2=86_039_040,
)
exercise.wrong(
    "bits_per_token",
    "P3: those are the bits of a whole token. How many bytes share them?",
    P3=4.328,
)
exercise.wrong(
    "nats_per_byte",
    "P3: those are nats for each byte. How many bits are a nat?",
    P3=1.2,
)
exercise.wrong(
    "multiplied_by_ln_2",
    "P3: a bit is less than a nat. Is there a larger or a smaller number of bits, then?",
    P3=0.8318,
)
exercise.wrong(
    "multiplied_by_bytes",
    "P3: you multiplied by the bytes of a token. Are the bits of one byte more than those of a "
    "token, or fewer?",
    P3=10.82,
)
exercise.wrong(
    "decimal_logarithm",
    "P3: you divided by the logarithm of 10. Which number of choices is a bit?",
    P3=0.5212,
)
exercise.wrong(
    "without_the_temperature",
    "P4: that is the share at temperature 1. What does 0.5 do to the logits?",
    P4=0.714,
)
exercise.wrong(
    "not_divided_again",
    "P4: that is its probability before anything is left out. What do the tokens that stay add up "
    "to?",
    P4=0.769,
)
exercise.wrong(
    "flatter_instead_of_sharper",
    "P4: at which temperature would it be drawn so often: at 0.5, or at 2?",
    P4=0.6126,
)
exercise.wrong(
    "three_tokens",
    "P4: with your number, three tokens stay. How many are there with `top_k=2`?",
    P4=0.8,
)
exercise.wrong(
    "unchanged",
    "P4: that is its probability before temperature and filter. What does each of them do to it?",
    P4=0.5,
)
exercise.wrong(
    "always_drawn",
    "P4: only one token could be drawn then. How many stay with `top_k=2`?",
    P4=1.0,
)
exercise.wrong(
    "draws_in_percent",
    "P4: the question asks for a share, from 0 to 1.",
    P4=86.2,
)
exercise.wrong(
    "keys_only",
    "P5: that is one of two things that a layer keeps for each token. Which is the other?",
    P5=37.75,
)
exercise.wrong(
    "one_layer",
    "P5: that is the cache of one layer. How many are there?",
    P5=6.29,
)
exercise.wrong(
    "numbers_instead_of_bytes",
    "P5: you count numbers. How many bytes has one in float32?",
    P5=18.87,
)
exercise.wrong(
    "every_head_has_the_whole_width",
    "P5: you count the whole width for each of the 12 heads. How many numbers has one head?",
    P5=906.0,
)
exercise.wrong(
    "not_in_megabytes",
    "P5: your number is in bytes. The question asks for millions of bytes.",
    P5=75_497_472,
)
exercise.wrong(
    "table_of_all_pairs",
    "P5: you count the attention weights, a number for each pair of tokens. What does a cache keep "
    "instead?",
    P5=603.98,
)

exercise.also_right_with("rounded", P1=50_000.0, P2=86.0, P3=1.73, P4=0.86, P5=75.5)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor(50_000),
    P2=torch.tensor(86.039),
    P3=torch.tensor([1.7312]),
    P4=torch.tensor([0.862]),
    P5=torch.tensor(75.497),
)
