"""Tests of it as students write them: the model test, other right ones, and wrong ones."""

from __future__ import annotations

import torch

from . import case


@case.model_test
def test_padded_attention(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model), reads padding or a neighbour."""
    layer = impl(4).double()
    x = torch.randn(2, 6, 4, dtype=torch.float64)
    together = layer(x, torch.tensor([3, 6]))
    alone = layer(x[:1, :3], torch.tensor([3]))
    assert torch.allclose(together[:1, :3], alone), "a neighbour changes the sentence"
    empty = layer(x, torch.tensor([0, 6]))[0]
    assert torch.allclose(empty, layer.out.bias.expand(6, 4)), "a sentence without words"


@case.find.also_right
def other_padding(impl):
    layer = impl(8)
    x = torch.randn(3, 5, 8)
    lengths = torch.tensor([2, 5, 4])
    changed = x.clone()
    changed[0, 2:], changed[2, 4:] = 7.0, -7.0
    before, after = layer(x, lengths), layer(changed, lengths)
    torch.testing.assert_close(after[0, :2], before[0, :2], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(after[2, :4], before[2, :4], atol=1e-5, rtol=1e-4)


@case.find.also_right
def by_gradients(impl):
    layer = impl(4)
    x = torch.randn(1, 6, 4, requires_grad=True)
    layer(x, torch.tensor([2]))[0, :2].square().sum().backward()
    reads = x.grad[0].abs().sum(-1) > 0
    assert reads.tolist() == [True, True, False, False, False, False]


@case.find.also_right
def empty_sentences(impl):
    layer = impl(4)
    out = layer(torch.randn(2, 3, 4), torch.tensor([0, 0]))
    assert (out - layer.out.bias).abs().max() < 1e-5


PASSES = (
    "Your test passes on the broken version. It has no padding, or it does not look at what "
    "padding does to words. Which two calls should give a word the same output?"
)


@case.find.mistake(PASSES)
def shapes_only(impl):
    out = impl(4)(torch.randn(2, 5, 4), torch.tensor([5, 3]))
    assert out.shape == (2, 5, 4)
    assert out.isfinite().all()


@case.find.mistake(PASSES)
def equal_lengths(impl):
    layer = impl(4)
    x = torch.randn(2, 5, 4)
    together = layer(x, torch.tensor([5, 5]))
    assert torch.allclose(together[:1], layer(x[:1], torch.tensor([5])), atol=1e-5)


@case.find.mistake(
    "Your test fails on right versions. Does it also compare the outputs *at padding*? Which "
    "sentence of the docstring promises what it asks for?"
)
def padding_must_be_zero(impl):
    layer = impl(4)
    out = layer(torch.randn(2, 5, 4), torch.tensor([5, 3]))
    assert (out[1, 3:] == 0).all()
