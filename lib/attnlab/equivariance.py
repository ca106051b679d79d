"""The effect on a layer's outputs of a new order of its words."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def equivariance_gap(
    f: Callable[[Tensor], Tensor],
    X: Tensor,  # noqa: N803 - the lectures' letter
    perm: Tensor,
) -> Tensor:
    """How far `f` is from treating a sequence as a set: 0 if it ignores the order of the words.

    Put the words in another order and apply `f`; or apply `f` and put its results in that order.
    For a permutation-equivariant `f`, the two results are equal.

    Args:
        f: a function from (T, d) to (T, k): one result for each word.
        X: (T, d), the words.
        perm: (T,), int64: the new order. Word perm[i] moves to position i.

    Returns:
        The largest absolute difference between the two results: a tensor without dimensions, or a
        Python number. `X` and `perm` stay unchanged.

    Source: lecture N (self-attention is permutation equivariant).
    """
    return (f(X[perm]) - f(X)[perm]).abs().max()
