"""induction_scores: how much each head looks at what came after the same token the last time."""

from __future__ import annotations

import torch

from attnlab.induction import induction_scores
from gradekit.exercise import Exercise

exercise = Exercise(induction_scores)


def causal_weights(draw, B, h, T):
    """(B, h, T, T): random weights; each row sums to 1, and none looks ahead."""
    scores = draw.normal(B, h, T, T).masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    return torch.softmax(scores, -1)


@exercise.check(points=0)
def pure_heads(lab, draw):
    """A head that always looks one place after the last occurrence has 1, others have 0."""
    period, T = 4, 11
    place, looked_at = torch.arange(T)[:, None], torch.arange(T)
    looks = {
        "at what came next": looked_at == (place - period + 1).clamp(min=0),
        "at the last occurrence": looked_at == (place - period).clamp(min=0),
        "at the place before": looked_at == (place - 1).clamp(min=0),
    }
    weights = torch.stack(list(looks.values())).double().expand(2, -1, -1, -1)
    return dict(zip(looks, lab.induction_scores(weights, period).tolist(), strict=True))


@exercise.check(points=0)
def mean_of_the_repetition(lab, draw):
    """The mean is over all rows and over all places from `period` on, for any sizes."""
    seen = {}
    for B, h, T, period in ((2, 3, 10, 5), (1, 1, 8, 6), (3, 2, 9, 2), (4, 5, 12, 3)):
        weights = causal_weights(draw, B, h, T)
        seen[f"B={B}, h={h}, T={T}, period={period}"] = lab.induction_scores(weights, period)
    return {**seen, "as they were": draw.untouched()}


exercise.promises(
    {
        "How much each head attends to the token that followed the last time.": "pure_heads",
        "From a place t of a repetition (t ≥ period), an induction head looks at place "
        "t - period + 1": "pure_heads",
        "entry [b, i, t, s] is what head i gives to place s from place t": (
            "mean_of_the_repetition pure_heads"
        ),
        "period: after how many places a row repeats itself; 2 or more.": "mean_of_the_repetition",
        "for each head the mean of these weights over all rows and all places t ≥ period": (
            "mean_of_the_repetition"
        ),
    },
    explained=[
        "T is above `period`.",
        "The rows repeat themselves: the token at place t is the one at place t - period.",
    ],
)


@exercise.also_right
def place_by_place(weights, period):
    found = [weights[:, :, t, t - period + 1] for t in range(period, weights.shape[-1])]
    return torch.stack(found, -1).mean((0, 2))


@exercise.also_right
def by_indexing(weights, period):
    t = torch.arange(period, weights.shape[2])
    return weights[:, :, t, t - (period - 1)].mean(dim=-1).mean(dim=0)


wrong = exercise.edits(place_by_place)

wrong(
    "last_occurrence",
    "t - period + 1]",
    "t - period]",
    "You measure how much a head looks at the same token's last occurrence. What did the model "
    "want to know of it?",
)
wrong(
    "two_places_after",
    "t - period + 1]",
    "t - period + 2]",
    "You look two places after the last occurrence. Which place holds what came next?",
)
wrong(
    "queries_and_keys_exchanged",
    "weights[:, :, t, t - period + 1]",
    "weights[:, :, t - period + 1, t]",
    "You read the table the other way round: what the earlier place gives to the later one. Which "
    "axis has the places that look?",
)
wrong(
    "one_place_too_early",
    "range(period, weights",
    "range(period - 1, weights",
    "You begin one place before the repetition. From which place on has a token occurred before?",
)
wrong(
    "first_place_left_out",
    "range(period, weights",
    "range(period + 1, weights",
    "You leave out the first place of the repetition. From which place on has a token occurred "
    "before?",
)
wrong(
    "last_place_left_out",
    "weights.shape[-1])",
    "weights.shape[-1] - 1)",
    "You leave out the last place of the row. Up to which place does the mean run?",
)
wrong(
    "summed_over_places",
    ".mean((0, 2))",
    ".sum(2).mean(0)",
    "You add up the weights of all places, so longer rows have higher scores. What does the task "
    "ask for?",
)
wrong(
    "heads_averaged",
    ".mean((0, 2))",
    ".mean((1, 2))",
    "You take the mean over heads and keep the rows. Which axis has the heads?",
)
wrong(
    "largest_instead_of_mean",
    ".mean((0, 2))",
    ".amax(2).mean(0)",
    "You take the place where the weight is largest. Over which places does the mean of the task "
    "run?",
)
wrong(
    "first_row_only",
    ".mean((0, 2))",
    "[0].mean(1)",
    "You use the first row of the batch only. Over what does the mean run?",
)
