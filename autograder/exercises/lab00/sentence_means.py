"""sentence_means: a mistake in the shape, and the advice that `check` gives."""

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
    """Is right for other sizes and dtypes, passes gradients, and leaves its input unchanged."""
    x = draw.strided(draw.normal(5, 7, 3))
    out = lab.sentence_means(x)
    return {
        "means": out,
        "dtype": str(out.dtype).removeprefix("torch."),
        "one sentence of one word": lab.sentence_means(draw.normal(1, 1, 2)),
        "gradient": draw.gradients(lambda x: lab.sentence_means(x), x),
        "input unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "One vector for each sentence: the mean of its words' vectors.": "two_sentences",
        "x: (B, T, d): B sentences of T words, each word a vector of d features.": (
            "two_sentences other_sizes"
        ),
        "(B, d), in the dtype of `x`.": "two_sentences other_sizes",
        "Gradients flow back to `x`, and it stays unchanged.": "other_sizes",
    },
)


@exercise.also_right
def by_mean(x):
    return x.mean(1)


wrong = exercise.edits(by_mean)

wrong(
    "over_sentences",
    "mean(1)",
    "mean(0)",
    "You took the mean over axis 0: that mixes different sentences. In (B, T, d), what is the "
    "number of the axis that stands for the words?",
)
wrong(
    "over_features",
    "mean(1)",
    "mean(-1)",
    "You took the mean over the last axis: that mixes the features of one word. In (B, T, d), what "
    "is the number of the axis that stands for the words?",
)
wrong(
    "over_everything",
    "mean(1)",
    "mean()",
    "You took the mean of all numbers. Over which one axis does the task ask for it?",
)
wrong(
    "axis_kept",
    "mean(1)",
    "mean(1, keepdim=True)",
    "The axis of the words is still there, with length 1. Which argument keeps it?",
)
wrong("sums", "mean(1)", "sum(1)", "You added the words up. What is missing for a mean?")
wrong(
    "divided_by_features",
    "mean(1)",
    "sum(1) / x.shape[-1]",
    "You summed over one axis and divided by the length of another. How many words does a sentence "
    "have?",
)

wrong(
    "without_gradients",
    "x.mean(1)",
    "x.detach().mean(1)",
    "The numbers are right, but no gradient flows back to `x`. Which call in your code leaves "
    "torch's graph?",
)
wrong(
    "in_place",
    "x.mean(1)",
    "x.div_(x.shape[1]).sum(1)",
    "Your code changes `x` itself. Which method of it ends in an underscore?",
)
wrong(
    "always_float32",
    "mean(1)",
    "mean(1).float()",
    "Your answer is always float32. Which dtype does the task promise?",
)


@exercise.also_right
def sum_over_length(x):
    return torch.einsum("btd->bd", x) / x.shape[1]


@exercise.also_right
def sentence_by_sentence(x):
    return torch.stack([sum(words) / len(words) for words in x])
