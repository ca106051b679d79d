"""Tests of it as students write them: the model test, other right ones, and wrong ones."""

from __future__ import annotations

import torch

from . import case


@case.model_test
def test_cached_attention(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model, num_heads), is wrong in pieces."""
    layer = impl(6, 2).double()
    x = torch.randn(2, 7, 6, dtype=torch.float64)
    whole, _ = layer(x)
    for lengths in ([3, 1, 1, 1, 1], [2, 3, 2]):
        cache, outs = None, []
        for piece in x.split(lengths, dim=1):
            out, cache = layer(piece, cache)
            outs.append(out)
        assert torch.allclose(torch.cat(outs, dim=1), whole), f"pieces of {lengths}"


@case.find.also_right
def second_symbol(impl):
    layer = impl(8, 4)
    x = torch.randn(1, 4, 8)
    _, cache = layer(x[:, :3])
    out, _ = layer(x[:, 3:], cache)
    torch.testing.assert_close(out, layer(x)[0][:, 3:], atol=1e-5, rtol=1e-4)


@case.find.also_right
def by_gradients(impl):
    layer = impl(8, 4)
    x = torch.randn(1, 5, 8, requires_grad=True)
    _, cache = layer(x[:, :3])
    out, _ = layer(x[:, 3:], cache)
    (grad,) = torch.autograd.grad(out[0, 0].square().sum(), x)
    assert (grad[0].abs().sum(-1) > 0).tolist() == [True] * 4 + [False]


PASSES = (
    "Your test passes on the broken version. Either it gives no piece with a cache, or what it "
    "asks of the output is true of the broken version, too, perhaps within a large tolerance. What "
    "should be equal if a sequence is given in two pieces?"
)


@case.find.mistake(PASSES)
def no_cache(impl):
    layer = impl(6, 2)
    x = torch.randn(2, 5, 6)
    changed = x.clone()
    changed[:, 3] += 1
    assert torch.allclose(layer(x)[0][:, :3], layer(changed)[0][:, :3], atol=1e-5)


@case.find.mistake(PASSES)
def shape_of_the_cache(impl):
    layer = impl(6, 2)
    out, cache = layer(torch.randn(2, 5, 6))
    out, (k, v) = layer(torch.randn(2, 1, 6), cache)
    assert out.shape == (2, 1, 6)
    assert k.shape == v.shape == (2, 2, 6, 3)
    assert torch.equal(k[:, :, :5], cache[0])


@case.find.mistake(
    "Your test fails on right versions: it reads an attribute of the module that the docstring "
    "does not promise. Where else do you know the number of heads from?"
)
def reads_an_attribute(impl):
    layer = impl(8, 2)
    x = torch.randn(2, 5, 8)
    out, (k, _) = layer(x[:, :4])
    assert k.shape == (2, layer.num_heads, 4, 4)
    again, _ = layer(x[:, 4:], (k, _))
    assert torch.allclose(torch.cat([out, again], 1), layer(x)[0], atol=1e-5)
