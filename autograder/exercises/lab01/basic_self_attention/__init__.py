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


def lopsided(draw, *shape):
    """Similarities that are not symmetric, whose rows have no sum near 0."""
    return draw.uniform(*shape, low=0.5, high=2.0)


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


@exercise.check(points=1.5)
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


@exercise.check(points=0.5)
def similarity_by_softmax(lab, draw):
    """With mode="softmax" and no table, it compares the words by their dot products."""
    X = draw.normal(5, 3)
    kept = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0], dtype=torch.float64)[:, None]
    return {
        "usual words": lab.basic_self_attention(X, mode="softmax"),
        "similar in the thousands": lab.basic_self_attention(30.0 * X, mode="softmax"),
        "zero vectors": lab.basic_self_attention(X * kept, mode="softmax"),
    }


@exercise.check(points=0.5, hidden=True)
def similarity_by_sum(lab, draw):
    """With mode="sum" and no table, it compares the words by their dot products."""
    return {
        "usual words": lab.basic_self_attention(draw.uniform(5, 3), mode="sum"),
        "short vectors": lab.basic_self_attention(0.01 * draw.uniform(5, 3), mode="sum"),
    }


@exercise.check(points=0.5, hidden=True)
def lopsided_by_softmax(lab, draw):
    """Row i of a table belongs to word i, with mode="softmax", even if it is not symmetric."""
    return lab.basic_self_attention(draw.normal(5, 3), "softmax", lopsided(draw, 5, 5))


@exercise.check(points=0.5, hidden=True)
def lopsided_by_sum(lab, draw):
    """Row i of a table belongs to word i, with mode="sum", even if it is not symmetric."""
    return lab.basic_self_attention(draw.normal(5, 3), "sum", lopsided(draw, 5, 5))


@exercise.check(points=0.5)
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


def both_ways(lab, draw, mode, T, d):
    """Without a table and with one."""
    X = draw.uniform(T, d)
    return [
        lab.basic_self_attention(X, mode),
        lab.basic_self_attention(X, mode, lopsided(draw, T, T)),
    ]


@exercise.check(points=0.25, hidden=True)
def other_sizes_by_softmax(lab, draw):
    """With mode="softmax", it is right for one word, for one feature, and for equal sizes."""
    return draw.each_size(lambda T, d: both_ways(lab, draw, "softmax", T, d), T=5, d=3)


@exercise.check(points=0.25, hidden=True)
def other_sizes_by_sum(lab, draw):
    """With mode="sum", it is right for one word, for one feature, and for equal sizes."""
    return draw.each_size(lambda T, d: both_ways(lab, draw, "sum", T, d), T=5, d=3)


def batches(lab, draw, mode):
    """Batches without tables, with one table, and with a table for each sentence."""
    X = draw.strided(draw.uniform(2, 5, 3))
    tables = lopsided(draw, 2, 5, 5)
    return {
        "one batch axis": lab.basic_self_attention(X, mode=mode),
        "two batch axes": lab.basic_self_attention(draw.uniform(2, 3, 5, 4), mode=mode),
        "a table for each sentence": lab.basic_self_attention(X, mode, tables),
        "one table for all": lab.basic_self_attention(X, mode=mode, similarity=tables[0]),
    }


@exercise.check(points=0.5)
def batches_by_softmax(lab, draw):
    """With mode="softmax", it takes a batch of sentences, which do not see each other."""
    return batches(lab, draw, "softmax")


@exercise.check(points=0.5)
def batches_by_sum(lab, draw):
    """With mode="sum", it takes a batch of sentences, which do not see each other."""
    return batches(lab, draw, "sum")


@exercise.check(points=0.5)
def zero_rows(lab, draw):
    """With mode="sum", a word that resembles nothing becomes 0."""
    X, table = draw.uniform(5, 3, low=1.0, high=2.0), lopsided(draw, 5, 5)
    padded = X * torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0], dtype=torch.float64)[:, None]
    table[1] = 0.0
    return {
        "zero vectors": lab.basic_self_attention(padded, mode="sum"),
        "a zero row in the table": lab.basic_self_attention(X, "sum", table),
    }


def gradients(lab, draw, mode):
    X, table = draw.uniform(5, 3), lopsided(draw, 5, 5)
    return {
        "words": draw.gradients(lambda X: lab.basic_self_attention(X, mode), X),
        "words and table": draw.gradients(
            lambda X, table: lab.basic_self_attention(X, mode, table), X, table
        ),
    }


def not_finite(lab, draw, *inputs):
    """How many gradients by sum are NaN or infinite; a result of NaN costs another check."""

    def by_sum(X, table=None):
        return lab.basic_self_attention(X, "sum", table)

    if not by_sum(*inputs).isfinite().all():
        return 0
    found = [one for one in draw.gradients(by_sum, *inputs) if isinstance(one, torch.Tensor)]
    return sum((~one.isfinite()).sum() for one in found)


@exercise.check(points=0.25)
def gradients_by_softmax(lab, draw):
    """With mode="softmax", gradients flow back to the words and the table."""
    return gradients(lab, draw, "softmax")


@exercise.check(points=0.25)
def gradients_by_sum(lab, draw):
    """With mode="sum", gradients flow back to words and table; a row of zeros has finite ones."""
    seen = gradients(lab, draw, "sum")
    X, table = draw.uniform(5, 3), lopsided(draw, 5, 5)
    X[3] = table[1] = 0.0
    others = torch.tensor([0, 2, 3, 4])
    # At a row of zeros itself, right versions pass back different gradients.
    seen["a table with a row of zeros, the other rows"] = draw.gradients(
        lambda rows: lab.basic_self_attention(X, "sum", table.index_put((others,), rows))[others],
        table[others],
    )
    seen["number of gradients that are NaN or infinite"] = {
        "words, one of them zeros": not_finite(lab, draw, X),
        "words and table, one of its rows zeros": not_finite(lab, draw, X, table),
    }
    return seen


@exercise.check(points=0.5, hidden=True)
def inputs_kept(lab, draw):
    """Leaves the words and the table unchanged."""
    X, table = draw.uniform(5, 3), lopsided(draw, 5, 5)
    empty_row = draw.strided(table * (torch.arange(5) != 1)[:, None])
    moved = [
        lab.basic_self_attention(X, "softmax", table),
        lab.basic_self_attention(X, "sum", table),
        lab.basic_self_attention(X, "sum", empty_row),
    ]
    # A function that returns nothing of use leaves its inputs unchanged, too.
    return {"inputs unchanged": draw.untouched(), "shapes": [list(one.shape) for one in moved]}


exercise.promises(
    {
        "there are no parameters, only means": "similarity_by_softmax similarity_by_sum",
        "Word i becomes Σ_j weight(i, j) · X[j].": "apples_by_sum lopsided_by_sum",
        "Row i of the weights is row i of the similarities, normalised over all words j": (
            "apples_by_sum lopsided_by_softmax"
        ),
        "X: (..., T, d), one vector for each of T words.": (
            "batches_by_softmax other_sizes_by_softmax other_sizes_by_sum"
        ),
        '"softmax": normalise a row of similarities by softmax; "sum": divide it by its sum': (
            "apples_by_sum apples_by_softmax default_mode"
        ),
        "In this mode, a row of zeros gives the zero vector": "zero_rows",
        "but may be negative": "negative_sums",
        "similarity: (T, T) or (..., T, T)": "batches_by_softmax batches_by_sum",
        "None: the dot products of the words' vectors, X[i] · X[j], unchanged.": (
            "similarity_by_softmax similarity_by_sum"
        ),
        "(..., T, d), the moved vectors, in the dtype of `X`.": "shape_and_dtype batches_by_sum",
        "Gradients flow back to `X` and to `similarity`, even from a row of zeros without NaN": (
            "gradients_by_softmax gradients_by_sum"
        ),
        "and both stay unchanged.": "inputs_kept",
    },
)
