"""Right tests of multi-head attention, in other styles."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.torch_attention import torch_equivalent

from . import exercise
from .parts import (  # noqa: F401 - edits use all of them
    SQUARE,
    alone,
    asserted,
    drops,
    learns,
    nobody,
    nothing_dropped,
    numbers,
)


@exercise.also_right
def every_promise(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.also_right
def with_many_sizes(impl):
    for d_model, heads, d_k, d_v in ((10, 3, 4, 5), (7, 2, 5, 3), (9, 1, 4, 2)):
        given = (d_model, heads, d_k, d_v)
        model = impl(*given, dropout=0.5).double()
        for parameter in model.parameters():
            nn.init.uniform_(parameter, -1, 1)
        changed = torch_equivalent(model, *given)
        total = (d_model + 1) * heads * (2 * d_k + d_v) + (heads * d_v + 1) * d_model
        assert sum(p.numel() for p in model.parameters()) == total
        q, k, v = (torch.randn(3, n, d_model, dtype=torch.float64) for n in (5, 6, 6))
        mask = torch.rand(3, heads, 5, 6) < 0.5
        mask[..., 2] = True
        model.eval()
        for m in (None, mask, mask[:, :1], mask[0], mask[0, 0], mask[:, :1, :1]):
            out, weights = model(q, k, v, m, True)
            torchs = changed(q, k, v, m)
            torch.testing.assert_close(out, torchs[0], atol=1e-9, rtol=0)
            torch.testing.assert_close(weights, torchs[1], atol=1e-9, rtol=0)
            torch.testing.assert_close(model(q, k, v, m), out, atol=1e-9, rtol=0)
        mask[:, :, 3] = False
        out, weights = model(q, k, v, mask, need_weights=True)
        assert not weights[:, :, 3].any()
        assert bool(((out[:, 3] - out[0, 3]).abs() < 1e-9).all())
        leaf = q.clone().requires_grad_()
        model(leaf, k, v)[0, 0, 0].backward()
        assert leaf.grad is not None and float(leaf.grad.abs().sum()) > 1e-9  # noqa: PT018
        model.train()
        noisy = model(q, k, v)
        assert bool(((noisy - model(q, k, v)).abs() > 1e-6).any())
        assert bool((noisy.abs() > 1e-12).all())


@exercise.also_right
def by_properties_and_torch(impl):
    generator = torch.Generator().manual_seed(4)

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    model = impl(6, 4, d_k=3, d_v=2, bias=True).double()
    for parameter in model.parameters():
        parameter.data = random(*parameter.shape)
    changed = torch_equivalent(model, 6, 4, 3, 2)
    q, k, v = random(2, 3, 6), random(2, 5, 6), random(2, 5, 6)
    out = model(q, k, v)
    if not isinstance(out, torch.Tensor):
        raise AssertionError("a pair instead of the output alone")
    allowed = random(2, 4, 3, 5) > -0.3
    allowed[..., 1] = True
    for mask in (torch.ones(3, 5).bool(), allowed, allowed[0], allowed[1:, 0]):
        got, want = model(q, k, v, mask, need_weights=True), changed(q, k, v, mask)
        assert all(torch.allclose(a, b, atol=1e-8) for a, b in zip(got, want, strict=True))
    assert torch.allclose(out, changed(q, k, v)[0], atol=1e-8)
    nobody = torch.zeros(3, 5, dtype=torch.bool)
    assert torch.allclose(model(q, k, v, nobody), model(q, k, 0 * v, nobody), atol=1e-8)
    assert not model(q, k, v, nobody, need_weights=True)[1].any()
    for i, leaf in enumerate((q, k, v)):
        inputs = [q, k, v]
        inputs[i] = leaf.clone().requires_grad_()
        (grad,) = torch.autograd.grad(model(*inputs)[0, 0, 0], inputs[i])
        assert bool(grad.any())
    half = impl(6, 4, d_k=3, d_v=2, dropout=0.5).double()
    assert not torch.equal(half(q, k, v), half(q, k, v))
    assert bool(half(q, k, v).all())
    half.eval()
    assert torch.allclose(half(q, k, v), torch_equivalent(half, 6, 4, 3, 2)(q, k, v)[0], atol=1e-8)
    bare = impl(6, 4, d_k=3, d_v=2, bias=False).double()
    assert torch.allclose(bare(q, k, v), torch_equivalent(bare, 6, 4, 3, 2)(q, k, v)[0], atol=1e-8)
