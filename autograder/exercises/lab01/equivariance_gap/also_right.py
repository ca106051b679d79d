"""Other right versions of equivariance_gap; the first one is the base of the mistakes."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def by_indexing(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).abs().max()


@exercise.also_right
def put_back(f, X, perm):
    return (f(X[perm])[torch.argsort(perm)] - f(X)).abs().max()


@exercise.also_right
def by_matrix(f, X, perm):
    P = torch.eye(len(perm), dtype=X.dtype)[perm]
    return torch.linalg.vector_norm(f(P @ X) - P @ f(X), ord=float("inf"))


@exercise.also_right
def word_by_word(f, X, perm):
    moved, plain = f(X.index_select(0, perm)), f(X)
    gaps = [(moved[i] - plain[j]).abs().max().item() for i, j in enumerate(perm.tolist())]
    return max(gaps)
