"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Draw a token for each row of logits.": "temperatures rows_on_their_own",
        "The logits are divided by the temperature.": "temperatures",
        "Then only the `top_k` likeliest tokens stay.": "order_of_the_filters edges",
        "Of what is left, as probabilities that add up to 1, the smallest set of likeliest tokens "
        "stays whose total reaches `top_p`, so the token that crosses `top_p` stays, and at least "
        "one does.": "crossing_token order_of_the_filters edges",
        "The token is drawn from what is left.": "other_distributions",
        "logits: (..., V); they stay unchanged.": "randomness any_shape",
        "above 1 makes the distribution flatter, below 1 sharper": "temperatures",
        "0 takes the likeliest token, whatever `top_k` and `top_p` are": "greedy",
        "how many tokens stay; all of them if it is above V, or None": "edges temperatures",
        "the share of the probability that stays; None for all": "crossing_token temperatures",
        "the only source of randomness if it is given": "randomness",
        "(...), int64: one token for each row, drawn independently.": "any_shape rows_on_their_own",
        "a negative temperature, `top_k` below 1, or `top_p` outside (0, 1]": "without_a_meaning",
    },
    explained=["Which of several tokens with equal logits stays is open."],
)
