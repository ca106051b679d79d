"""relevance_matrix: Korea matters to Korean more than Korean to Korea."""

from __future__ import annotations

import torch

from attnlab.attention import qkv, relevance_matrix
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    relevance_matrix,
    uses=[qkv],
    forbids=["torch.nn.functional.scaled_dot_product_attention"],
)


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Returns one number for each pair of words, in the dtype of the words."""
    X, W_q, W_k = draw.normal(2, 5, 7), draw.normal(7, 3), draw.normal(7, 3)
    out = lab.relevance_matrix(X.float(), W_q.float(), W_k.float())
    return {
        "shape of a sentence": list(lab.relevance_matrix(X[0], W_q, W_k).shape),
        "shape of a batch": list(lab.relevance_matrix(X, W_q, W_k).shape),
        "dtype of float32": dtype_of(out),
    }


@exercise.check(points=1.5)
def values(lab, draw):
    """Entry (i, j) is query i · key j."""
    X = draw.normal(5, 7)
    return lab.relevance_matrix(X, draw.normal(7, 4), draw.normal(7, 4))


@exercise.check(points=1.5)
def symmetry(lab, draw):
    """Is symmetric if queries and keys share one matrix, and not if they have two."""
    X, W_q, W_k = draw.normal(5, 7), draw.normal(7, 4), draw.normal(7, 4)
    one, two = lab.relevance_matrix(X, W_q, W_q), lab.relevance_matrix(X, W_q, W_k)
    return {
        "one matrix: distance from symmetry": (one - one.mT).abs().max(),
        "two matrices: i to j less j to i": two - two.mT,
        "the two matrices swapped": lab.relevance_matrix(X, W_k, W_q),
    }


@exercise.check(points=2, hidden=True)
def batches_and_sizes(lab, draw):
    """Sentences of a batch do not see each other; any sizes (one word, too), any memory layout."""

    def ask(batch, T, d_model, d_k):
        X = draw.normal(*batch, T, d_model)
        return lab.relevance_matrix(X, draw.normal(d_model, d_k), draw.normal(d_model, d_k))

    X = draw.strided(draw.normal(2, 5, 7))
    return {
        "not contiguous": lab.relevance_matrix(X, draw.normal(7, 4), draw.normal(7, 4)),
        "sizes": draw.each_size(ask, batch=(2,), T=5, d_model=7, d_k=4),
    }


@exercise.check(points=1, hidden=True)
def in_proportion(lab, draw):
    """A word vector three times as long is three times as relevant; zeros have no relevance."""
    X, W_q, W_k = draw.normal(5, 7), draw.normal(7, 4), draw.normal(7, 4)
    longer = X * torch.tensor([1.0, 3.0, 0.0, 1.0, -2.0], dtype=torch.float64)[:, None]
    return lab.relevance_matrix(longer, W_q, W_k)


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach the words and both matrices."""
    given = draw.normal(5, 7), draw.normal(7, 4), draw.normal(7, 4)
    found = draw.gradients(lambda *args: lab.relevance_matrix(*args), *given)
    if not isinstance(found, list):
        return found
    names = ("X", "W_q", "W_k")
    return {f"gradient of {name}": grad for name, grad in zip(names, found, strict=True)}


@exercise.check(points=0.5, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to the words and both matrices, and leaves them unchanged."""
    X, W_q, W_k = draw.normal(2, 5, 7), draw.normal(7, 4), draw.normal(7, 4)
    lab.relevance_matrix(X, W_q, W_k)
    return {
        "gradients": draw.gradients(lambda *args: lab.relevance_matrix(*args), X, W_q, W_k),
        "inputs unchanged": draw.untouched(),
    }
