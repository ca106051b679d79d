"""Tests of it as students write them: the model test, other right ones, and wrong ones."""

from __future__ import annotations

import torch

from . import case


@case.model_test
def test_all_heads(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model, num_heads), mixes sequences."""
    layer = impl(10, 2).double()
    x = torch.randn(3, 7, 10, dtype=torch.float64)
    out, weights = layer(x)
    for b in range(3):
        assert torch.allclose(out[b], layer(x[b : b + 1])[0][0]), "a sequence reads another"
    assert torch.allclose(weights.sum(-1), torch.ones(3, 2, 7, dtype=torch.float64)), "sums"


@case.find.also_right
def by_sums(impl):
    _, weights = impl(6, 3)(torch.randn(2, 5, 6))
    torch.testing.assert_close(weights.sum(dim=3), torch.ones(2, 3, 5))


@case.find.also_right
def by_order(impl):
    layer = impl(6, 3)
    x = torch.randn(4, 5, 6)
    order = torch.tensor([2, 0, 3, 1])
    changed = x.clone()
    changed[0] *= 3
    torch.testing.assert_close(layer(x[order])[0], layer(x)[0][order], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(layer(changed)[0][1:], layer(x)[0][1:], atol=1e-5, rtol=1e-4)


@case.find.also_right
def by_gradient(impl):
    x = torch.randn(3, 4, 6, requires_grad=True)
    impl(6, 2)(x)[0][1].square().sum().backward()
    assert x.grad[0].abs().max() == 0
    assert x.grad[2].abs().max() == 0
    assert x.grad[1].abs().max() > 0


PASSES = (
    "Your test passes on the broken version. Changing the order of a batch changes only the order "
    "of its outputs, there too, and every weight is a number from 0 to 1. What should happen to a "
    "sequence if another one *changes*, or is missing?"
)


@case.find.mistake(PASSES)
def shapes_only(impl):
    out, weights = impl(6, 2)(torch.randn(3, 4, 6))
    assert out.shape == (3, 4, 6)
    assert weights.shape == (3, 2, 4, 4)
    assert ((weights >= 0) & (weights <= 1)).all()


@case.find.mistake(PASSES)
def order_only(impl):
    layer = impl(6, 2)
    x = torch.randn(3, 4, 6)
    assert torch.allclose(layer(x.flip(0))[0], layer(x)[0].flip(0), atol=1e-5)


@case.find.mistake(
    "Your test fails on right versions: it reads an attribute of the module that the docstring "
    "does not promise. Where else do you know the number of heads from?"
)
def reads_an_attribute(impl):
    layer = impl(6, 2)
    _, weights = layer(torch.randn(3, 4, 6))
    assert torch.allclose(weights.sum(-1), torch.ones(3, layer.num_heads, 4), atol=1e-5)
