"""basic_self_attention: every word moves towards the words that it resembles."""

from __future__ import annotations

import torch

from attnlab.attention import basic_self_attention
from attnlab.checking.observation import dtype_of
from attnlab.data.apples import brand_sentence, fruit_sentence
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    basic_self_attention,
    uses=[softmax],
    forbids=["torch.nn.functional.scaled_dot_product_attention"],
    equivalent={
        "basic_self_attention: `if mode not in ('softmax', 'sum'):` → `if False:`": (
            "the task has no third word"
        ),
        "basic_self_attention: `1.0` → `2.0` in "
        "`weights = scores / total.where(total != 0, 1.0)`": "it divides a row of zeros",
    },
)


def lecture_tables(lab, mode):
    """The moved words and the weights (the words' own vectors are the axes) of both sentences."""
    seen = {}
    for name, sentence in (("fruit", fruit_sentence()), ("brand", brand_sentence())):
        table, axes = sentence.similarity, torch.eye(5, dtype=torch.float64)
        seen[f"{name} sentence, weights"] = lab.basic_self_attention(axes, mode, table)
        seen[f"{name} sentence, words"] = lab.basic_self_attention(
            sentence.vectors, mode=mode, similarity=table
        )
    return seen


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """One moved vector for each word, in the dtype of the words."""
    X, table = draw.uniform(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    seen = {}
    for mode in ("softmax", "sum"):
        low = lab.basic_self_attention(X.float(), mode)
        seen[f"shape, {mode}"] = list(lab.basic_self_attention(X, mode=mode).shape)
        seen[f"dtype of float32, {mode}"] = dtype_of(low)
        seen[f"dtype of float32, {mode}, with a table"] = dtype_of(
            lab.basic_self_attention(X.float(), mode, table.float())
        )
    return seen


@exercise.check(points=2)
def apples_by_sum(lab, draw):
    """Reproduces the lecture's apple example with mode="sum": weights and moved words."""
    return lecture_tables(lab, "sum")


@exercise.check(points=1.5)
def apples_by_softmax(lab, draw):
    """Gives the softmax weights of the apple example with mode="softmax"."""
    return lecture_tables(lab, "softmax")


@exercise.check(points=0.5, hidden=True)
def default_mode(lab, draw):
    """Normalises by softmax if no mode is given."""
    return lab.basic_self_attention(draw.normal(5, 3))


@exercise.check(points=1)
def similarity_of_the_vectors(lab, draw):
    """Without a table, the similarities are the dot products of the words' vectors."""
    X = draw.normal(5, 3)
    return {
        "softmax": lab.basic_self_attention(X, mode="softmax"),
        "sum": lab.basic_self_attention(draw.uniform(5, 3), mode="sum"),
        "similar in the thousands": lab.basic_self_attention(30.0 * X, mode="softmax"),
    }


@exercise.check(points=1, hidden=True)
def lopsided_table(lab, draw):
    """Row i of a table belongs to word i, even if the table is not symmetric."""
    X, table = draw.normal(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    return {
        mode: lab.basic_self_attention(X, mode=mode, similarity=table)
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5, hidden=True)
def negative_sums(lab, draw):
    """With mode="sum", a row is divided by its sum even if this is below 0, or very small."""
    X, table = draw.normal(5, 3), draw.normal(5, 5)
    table[:, 0] += torch.tensor([-9.0, 9, -9, 9, -9]) - table.sum(1)
    opposite = torch.tensor([[1.0, 2.0], [-3.0, -1.0], [-2.0, -4.0]], dtype=torch.float64)
    return {
        "a table": lab.basic_self_attention(X, "sum", table),
        "a table of small numbers": lab.basic_self_attention(X, "sum", 1e-12 * table),
        "vectors in opposite directions": lab.basic_self_attention(opposite, mode="sum"),
    }


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one word, for one feature, for equal sizes, and for any number of batch axes."""

    def ask(batch, T, d):
        X, tables = draw.uniform(*batch, T, d), draw.uniform(*batch, T, T, low=0.5, high=2.0)
        return {
            mode: [lab.basic_self_attention(X, mode), lab.basic_self_attention(X, mode, tables)]
            for mode in ("softmax", "sum")
        }

    return draw.each_size(ask, batch=(2,), T=5, d=3)


@exercise.check(points=1, hidden=True)
def batches(lab, draw):
    """Sentences in a batch do not see each other."""
    X = draw.strided(draw.uniform(2, 5, 3))
    tables = draw.uniform(2, 5, 5, low=0.5, high=2.0)
    return {
        mode: {
            "one batch axis": lab.basic_self_attention(X, mode=mode),
            "two batch axes": lab.basic_self_attention(draw.uniform(2, 3, 5, 4), mode=mode),
            "a table for each sentence": lab.basic_self_attention(X, mode, tables),
            "one table for all": lab.basic_self_attention(X, mode=mode, similarity=tables[0]),
        }
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5)
def zero_rows(lab, draw):
    """A word that resembles nothing becomes 0 by sum, and the mean of all words by softmax."""
    X, table = draw.uniform(5, 3, low=1.0, high=2.0), draw.uniform(5, 5, low=0.5, high=2.0)
    padded = X * torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0], dtype=torch.float64)[:, None]
    table[1] = 0.0
    return {
        mode: {
            "zero vectors": lab.basic_self_attention(padded, mode=mode),
            "a zero row in the table": lab.basic_self_attention(X, mode, table),
        }
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients flow back to the words and the table, and both are unchanged."""
    X, table = draw.uniform(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    for mode in ("softmax", "sum"):
        lab.basic_self_attention(X, mode, table)
    return {
        "softmax": draw.gradients(lambda X: lab.basic_self_attention(X, mode="softmax"), X),
        "sum": draw.gradients(lambda X: lab.basic_self_attention(X, mode="sum"), X),
        "table": draw.gradients(lambda X, S: lab.basic_self_attention(X, "softmax", S), X, table),
        "inputs unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "there are no parameters, only means": "similarity_of_the_vectors",
        "Word i becomes Σ_j weight(i, j) · X[j].": "apples_by_sum lopsided_table",
        "Row i of the weights is row i of the similarities, normalised over all words j": (
            "apples_by_sum lopsided_table"
        ),
        "X: (..., T, d), one vector for each of T words.": "batches other_sizes",
        '"softmax": normalise a row of similarities by softmax; "sum": divide it by its sum': (
            "apples_by_sum apples_by_softmax default_mode"
        ),
        "In this mode, a row of zeros gives the zero vector": "zero_rows",
        "but may be negative": "negative_sums",
        "similarity: (T, T) or (..., T, T)": "batches other_sizes",
        "None: the dot products of the words' vectors, X[i] · X[j], unchanged.": (
            "similarity_of_the_vectors"
        ),
        "(..., T, d), the moved vectors, in the dtype of `X`.": "shape_and_dtype other_sizes",
        "Gradients flow back to `X` and to `similarity`, and both stay unchanged.": (
            "gradients_and_input"
        ),
    },
)
