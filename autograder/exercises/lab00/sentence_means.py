"""sentence_means: a shape slip, and what `check` says to it."""

from __future__ import annotations

import torch

from attnlab.warmup import sentence_means
from gradekit.exercise import Exercise

exercise = Exercise(sentence_means)


@exercise.check(points=1)
def two_sentences(lab, draw):
    """Gives one vector for each of two sentences."""
    return lab.sentence_means(draw.integers(-5, 6, 2, 3, 4).float())


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for other sizes and dtypes, lets gradients through, and leaves its input alone."""
    x = draw.strided(draw.normal(5, 7, 3))
    out = lab.sentence_means(x)
    return {
        "means": out,
        "dtype": str(out.dtype).removeprefix("torch."),
        "one sentence of one word": lab.sentence_means(draw.normal(1, 1, 2)),
        "gradient": draw.gradients(lambda x: lab.sentence_means(x), x),
        "input as it was": draw.untouched(),
    }


@exercise.mistake(
    "You took the mean over axis 0: that mixes different sentences. In (B, T, d), which letter "
    "stands for the words, and which number is its axis?"
)
def over_sentences(x):
    return x.mean(0)


@exercise.mistake(
    "You took the mean over the last axis: that mixes the features of one word. In (B, T, d), "
    "which letter stands for the words, and which number is its axis?"
)
def over_features(x):
    return x.mean(-1)


@exercise.mistake("You took the mean of all numbers. Over which one axis was it asked for?")
def over_everything(x):
    return x.mean()


@exercise.mistake(
    "The axis of the words is still there, with length 1. Which argument keeps it, and is it "
    "needed?"
)
def axis_kept(x):
    return x.mean(1, keepdim=True)


@exercise.mistake("You added the words up. What is missing for a mean?")
def sums(x):
    return x.sum(1)


@exercise.mistake(
    "You divided by another axis's length than the one you summed over. How many words does a "
    "sentence have?"
)
def divided_by_features(x):
    return x.sum(1) / x.shape[-1]


@exercise.also_right
def sum_over_length(x):
    return torch.einsum("btd->bd", x) / x.shape[1]


@exercise.also_right
def sentence_by_sentence(x):
    return torch.stack([sum(words) / len(words) for words in x])
