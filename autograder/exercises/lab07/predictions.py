"""predictions: say what a whole Transformer will do, then run it."""

from __future__ import annotations

import math

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "the attentions in two encoder layers and three decoder layers.",
            points=0.5,
            right=8,
            reason=(
                "An encoder layer has one attention. A decoder layer has two: one to the target "
                "itself and one to the encoder's output."
            ),
            question="How many attentions has one encoder layer, and how many one decoder layer?",
        ),
        "P2": Prediction(
            "how often `decode` is called to write nine symbols, for one call in training.",
            points=0.5,
            right=9,
            reason=(
                "In training all nine inputs are known, so one call computes all nine logits. When "
                "the model writes, each call gives one symbol, and the next call needs it."
            ),
            question="Which symbols must be known before the next one can be computed?",
        ),
        "P3": Prediction(
            "how many times larger a decoder layer is than an encoder layer.",
            points=0.5,
            right=4 / 3,
            atol=0.01,
            reason=(
                "If d_ff = 4 d, an attention has 4 d² weights and a feed-forward network 8 d²: "
                "16 d² in a decoder layer, 12 d² in an encoder layer."
            ),
            question="Which sublayers has each of the two layers, and how large is each sublayer?",
        ),
        "P4": Prediction(
            "the first loss of a model with 27 symbols and small logits.",
            points=0.5,
            right=math.log(27),
            atol=0.05,
            reason="It finds all 27 about equally likely, and -ln(1/27) = ln 27.",
            question="What probability does such a model give to each symbol?",
        ),
        "P5": Prediction(
            "the exact match with true symbols to read, if it is 0.402 without them.",
            points=0.5,
            right=0.402,
            atol=1e-3,
            reason=(
                "A sentence without a mistake is read as it was written, so both ways see the same "
                "symbols up to the first mistake, and agree on whether there is one."
            ),
            question="What does each of the two ways read in a sentence without a mistake?",
        ),
    },
    answered="The answer to each of the five questions is a number.",
    points=0.5,
)

exercise.wrong(
    "one_attention_in_each_layer",
    "P1: that is one attention for each layer. From where does a decoder layer know the source?",
    P1=5,
)
exercise.wrong(
    "two_attentions_in_each_layer",
    "P1: you give each layer two attentions. What would an encoder layer look at with its second?",
    P1=10,
)
exercise.wrong(
    "one_attention_after_the_encoder",
    "P1: you count the attention to the encoder's output once. Which decoder layers look at it?",
    P1=6,
)
exercise.wrong(
    "layers_exchanged",
    "P1: you give two attentions to the encoder's layers and one to the decoder's. Which of the "
    "two has something else to read?",
    P1=7,
)
exercise.wrong(
    "one_call_for_each",
    "P2: in training, one call is enough because all inputs are known beforehand. Which inputs are "
    "known to a model that writes by itself?",
    P2=1,
)
exercise.wrong(
    "eos_for_free",
    "P2: `eos` is one of the nine symbols. Who writes it?",
    P2=8,
)
exercise.wrong(
    "one_call_too_many",
    "P2: `bos` is given, not written. After which symbol does the decoding stop?",
    P2=10,
)
exercise.wrong(
    "calls_added_up",
    "P2: 45 symbols are read in all, because each call reads the symbols so far again. How many "
    "calls are that?",
    P2=45,
)
exercise.wrong(
    "sublayers_counted",
    "P3: you count sublayers, three to two. Has an attention as many weights as a feed-forward "
    "network that is four times as wide inside?",
    P3=1.5,
)
exercise.wrong(
    "twice_as_large",
    "P3: one attention is added, not a whole layer. What is in both kinds of layers?",
    P3=2.0,
)
exercise.wrong(
    "same_size",
    "P3: which sublayer does a decoder layer have that an encoder layer has not?",
    P3=1.0,
)
exercise.wrong(
    "one_matrix_in_an_attention",
    "P3: you count too few weights for an attention. How many matrices of d × d are in it?",
    P3=10 / 9,
)
exercise.wrong(
    "output_projection_forgotten",
    "P3: queries, keys and values have a matrix each. Which one comes after the heads?",
    P3=14 / 11,
)
exercise.wrong(
    "narrow_feed_forward",
    "P3: you count a feed-forward network of 2 d². How wide is it inside?",
    P3=10 / 6,
)
exercise.wrong(
    "upside_down",
    "P3: which of the two layers is larger, and which number is above the line?",
    P3=0.75,
)
exercise.wrong(
    "no_loss_at_first",
    "P4: a loss of 0 means that the model is certain of the right symbol. What does a fresh model "
    "know?",
    P4=0.0,
)
exercise.wrong(
    "one_of_so_many",
    "P4: that is the probability of each symbol. Which function of it is the loss?",
    P4=1 / 27,
)
exercise.wrong(
    "in_bits",
    "P4: your number is in bits. Which logarithm does the cross-entropy of lab 1 take?",
    P4=math.log2(27),
)
exercise.wrong(
    "number_of_symbols",
    "P4: that is the number of symbols, or the perplexity. What is the logarithm of it?",
    P4=27,
)
exercise.wrong(
    "all_right_with_the_truth",
    "P5: true symbols to read do not make a wrong symbol right. In a sentence with a mistake, what "
    "has the model read before its first mistake, in each of the two ways?",
    P5=1.0,
)
exercise.wrong(
    "better_with_the_truth",
    "P5: true symbols help after a mistake. How many mistakes does an exact match allow?",
    P5=0.6,
)
exercise.wrong(
    "gap_asked_for",
    "P5: that is the gap between the two. The question asks for the exact match itself.",
    P5=0.0,
)

exercise.also_right_with("rounded", P1=8.0, P2=9.0, P3=1.33, P4=3.3, P5=0.402)
exercise.also_right_with(
    "as_tensors",
    P1=torch.tensor(8),
    P2=torch.tensor([9]),
    P3=torch.tensor(16) / 12,
    P4=torch.tensor(27.0).log(),
    P5=torch.tensor(0.402),
)
