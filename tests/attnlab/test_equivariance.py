"""The equivariance gap: 0 for layers that treat words as a set."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attnlab.attention import basic_self_attention
from attnlab.equivariance import equivariance_gap

X = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
PERM = torch.tensor([2, 0, 4, 1, 3])


@pytest.mark.parametrize(
    "layer", [basic_self_attention, torch.relu, lambda X: X - X.mean(0), lambda X: X[:, :1] * 2]
)
def test_a_layer_that_ignores_the_order_has_no_gap(layer: Callable[[Tensor], Tensor]) -> None:
    assert float(equivariance_gap(layer, X, PERM)) < 1e-12


def test_the_order_is_a_permutation_and_not_its_inverse() -> None:
    def first_word(X: Tensor) -> Tensor:
        return X[:1].expand_as(X)

    expected = (X[PERM[0]] - X[0]).abs().max()
    assert float(equivariance_gap(first_word, X, PERM)) == float(expected)


def test_attention_has_no_gap_without_positions() -> None:
    X, perm = torch.randn(6, 4, dtype=torch.float64), torch.tensor([2, 0, 1, 5, 3, 4])
    positions = torch.arange(6.0)[:, None]
    assert float(equivariance_gap(basic_self_attention, X, perm)) < 1e-12
    assert float(equivariance_gap(lambda X: basic_self_attention(X + positions), X, perm)) > 0.1


def test_the_gap_is_the_largest_difference() -> None:
    X = torch.zeros(3, 2)
    positions = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, -7.0]])
    gap = equivariance_gap(lambda X: X + positions, X, torch.tensor([2, 0, 1]))
    assert gap == 7
    assert gap.shape == ()
