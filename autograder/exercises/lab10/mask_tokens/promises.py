"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Each token that is not special is chosen with probability `p`, independently of all "
        "others.": "shares independent edges",
        "A chosen token becomes `mask_id` with probability 0.8, a random ordinary token with "
        "probability 0.1 (each has the same chance, the old one included), and else it stays.": (
            "shares random_tokens independent"
        ),
        "it stays unchanged.": "labels",
        "in any order: the tokens that are never chosen, and that no random token is.": (
            "special_tokens random_tokens"
        ),
        "the ordinary tokens are all numbers below it that are not special.": "random_tokens",
        "the token that hides another.": "shares random_tokens",
        "the probability of being chosen, from 0 to 1.": "edges",
        "the only source of randomness if it is given; otherwise torch's global one.": "randomness",
        "The changed ids, (B, T), and the labels, (B, T), both int64: a label is the old token if "
        "the token was chosen, and -100 otherwise.": "labels edges",
    },
    explained=[
        "Hide some tokens, so that a model can learn to say which they were.",
        "[CLS], [SEP], the padding and `mask_id` are among them.",
    ],
)
