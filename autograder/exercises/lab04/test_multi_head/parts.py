"""The parts of which wrong tests of multi-head attention are made."""

from __future__ import annotations

import torch

from attnlab.checking.torch_attention import torch_equivalent

SIZES = {"d_model": 10, "num_heads": 3, "d_k": 4, "d_v": 5}
SQUARE = {"d_model": 12, "num_heads": 3, "d_k": 4, "d_v": 4}
MASKS = ((4, 7), (3, 4, 7), (2, 1, 1, 7), (2, 3, 4, 7))


def filled(impl, sizes=SIZES, biases=True, **options):
    """A layer of a version with random weights, and random biases or biases of 0."""
    model = impl(**sizes, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_() if biases or parameter.ndim > 1 else parameter.zero_()
    return model


def texts(q=4, k=7, d_model=10):
    """Three different inputs."""
    return [torch.randn(2, length, d_model, dtype=torch.float64) for length in (q, k, k)]


def close(a, b, digits=1e-9):
    assert a.shape == b.shape
    assert (a - b).abs().max() < digits


def numbers(
    impl, masks=MASKS, weights=True, sizes=SIZES, opposite=False, one_text=False, **options
):
    """Outputs, and if asked for weights, are torch's: without a mask and with masks."""
    model, (q, k, v) = filled(impl, sizes, **options).eval(), texts(d_model=sizes["d_model"])
    v = k if one_text else v
    for shape in (None, *masks):
        mask = None if shape is None else torch.rand(shape) < 0.6
        if mask is not None:
            mask[..., 0] = True
        out, seen = torch_equivalent(model, **sizes)(q, k, v, mask)
        mask = ~mask if opposite and mask is not None else mask
        if weights:
            close(model(q, k, v, mask, need_weights=True)[1], seen)
        answer = model(q, k, v, mask, need_weights=weights)
        close(answer[0] if weights else answer, out)


def blocked(impl):
    """Output and weights of queries with no allowed key."""
    nothing = torch.zeros(4, 7, dtype=torch.bool)
    return filled(impl).eval()(*texts(), nothing, need_weights=True)


def nobody(impl):
    """A query with no allowed key gets zeros from its heads."""
    out, weights = blocked(impl)
    assert not weights.any()
    close(out, out[:1, :1].expand_as(out))


def learns(impl):
    """A gradient reaches the queries."""
    q, k, v = texts()
    filled(impl).eval()(q.requires_grad_(), k, v, need_weights=True)[0].sum().backward()
    assert float(q.grad.abs().sum()) > 0


def drops(impl, where=True):
    """While training, two runs differ, and no number of the output is dropped."""
    model, inputs = filled(impl, dropout=0.5), texts()
    out, other = (model(*inputs, need_weights=True)[0] for _ in range(2))
    assert not torch.equal(out, other)
    assert out.all() or not where


def nothing_dropped(impl):
    """While training, no number of the output is dropped."""
    assert filled(impl, dropout=0.5)(*texts(), need_weights=True)[0].all()


def alone(impl):
    assert isinstance(filled(impl)(*texts()), torch.Tensor)


def asserted(*tests, impl):
    for test in tests:
        test(impl)
