"""Other right tests of attention."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import scaled_dot_product_attention as torch_attention

# Known mistakes name it: a test that compares with the student's own attention.
from attnlab.attention import scaled_dot_product_attention as own_attention  # noqa: F401

from . import exercise


def one_query(query, keys, values, allowed):
    """The output and the weights of one query, computed number by number."""
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    scores = [float(s) / len(query) ** 0.5 for s in scores]
    live = [s for s, may in zip(scores, allowed, strict=True) if may]
    if not live:
        return torch.zeros(values.shape[-1]).double(), torch.zeros(len(keys)).double()
    exp = [math.exp(s - max(live)) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    weights = torch.tensor(exp, dtype=torch.float64) / sum(exp)
    shares = zip(weights, values, strict=True)
    return sum(w * value for w, value in shares if w > 0), weights


def compare(impl, q, k, v, mask):
    kept = [x.clone() for x in (q, k, v)]
    given = None if mask is None else mask.clone()
    out, weights = impl(q, k, v) if mask is None else impl(q, k, v, given)
    assert all(torch.equal(x, old) for x, old in zip((q, k, v), kept, strict=True))
    assert mask is None or torch.equal(mask, given)
    lead, (n, m) = q.shape[:-2], (q.shape[-2], k.shape[-2])
    assert out.shape == (*lead, n, v.shape[-1])
    assert weights.shape == (*lead, n, m)
    assert out.dtype == weights.dtype == q.dtype
    full = torch.ones(*lead, n, m).bool() if mask is None else mask.expand(*lead, n, m)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in (q, k, v, full, out, weights)]
    for queries, keys, values, may, o, w in zip(*flat, strict=True):
        for row in range(n):
            right_o, right_w = one_query(queries[row], keys, values, may[row].tolist())
            assert torch.allclose(w[row], right_w, rtol=0, atol=1e-8)
            assert torch.allclose(o[row], right_o, rtol=0, atol=1e-8 * float(v.abs().max()))
            assert (w[row][~may[row]] == 0).all()


def on_copies(impl):
    """The same version, which never meets the test's own tensors."""
    return lambda *inputs: impl(*[x.clone() for x in inputs])


def on_copied_values(impl):
    """The same version, which never meets the test's own values."""
    return lambda q, k, v, *mask: impl(q, k, v.clone(), *mask)


def weights_mended(impl):
    """The same version, but with weights of 0 where no key is allowed."""

    def version(q, k, v, mask=None):
        out, weights = impl(q, k, v) if mask is None else impl(q, k, v, mask)
        return out, weights if mask is None else weights * mask.any(-1, keepdim=True)

    return version


def with_weights_in_the_dtype(impl):
    """The same version, but with weights in the dtype of the queries."""

    def version(q, k, v, mask=None):
        out, weights = impl(q, k, v) if mask is None else impl(q, k, v, mask)
        return out, weights.to(q.dtype)

    return version


@exercise.also_right
def by_loops(impl):
    torch.manual_seed(0)
    for lead in ((), (2,), (2, 3)):
        q = torch.randn(*lead, 3, 4).double()
        k, v = torch.randn(*lead, 5, 4).double(), torch.randn(*lead, 5, 6).double()
        mask = torch.rand(*lead, 3, 5) < 0.6
        mask[..., 0, :] = False
        mask[..., 1, :] = True
        compare(impl, q, k, v, None)
        compare(impl, q, k, v, mask)
        compare(impl, q, k, v, mask.reshape(-1, 3, 5)[0])
        compare(impl, q, k, v, torch.tensor([True, False, True, True, False]))
        loud_k, loud_v = k.clone(), v.clone()
        loud_k[..., 1, :] *= 1e6
        loud_v[..., 1, :] = 1e6
        compare(impl, q, loud_k, loud_v, torch.tensor([True, False, True, True, False]))
        low = torch.full_like(k, -1e6)
        compare(impl, torch.ones_like(q), low, v, torch.tensor([False, True, True, True, True]))
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        impl(*leaves, mask)[0].sum().backward()
        assert all(x.grad.isfinite().all() for x in leaves)
    for dtype in (torch.float16, torch.float32, torch.bfloat16):
        x = torch.randn(2, 3, 4).to(dtype)
        out, weights = impl(x, x, x)
        assert out.dtype == weights.dtype == dtype
        assert out.isfinite().all()
    small = [torch.randn(2, *size).double() for size in ((2, 4), (5, 4), (5, 3))]
    small = [x.requires_grad_() for x in small]
    mask = torch.tensor([[True, True, False, True, False], [False] * 5])
    assert torch.autograd.gradcheck(lambda *x: impl(*x, mask), small)


@exercise.also_right
def against_torch(impl):
    g = torch.Generator().manual_seed(11)
    for lead in ((2,), (3, 2)):
        q = torch.randn(*lead, 4, 16, generator=g, dtype=torch.float64)
        k = torch.randn(*lead, 6, 16, generator=g, dtype=torch.float64)
        v = torch.randn(*lead, 6, 5, generator=g, dtype=torch.float64)
        some = torch.rand(*lead, 4, 6, generator=g) < 0.5
        some[..., 2] = True
        for mask in (None, some, torch.ones(4, 6).tril(1).bool(), some[..., :1, :]):
            for loud in (1.0, 300.0):
                given = [(loud * q).requires_grad_(), k.clone().requires_grad_(), v.clone()]
                out, weights = impl(*given, mask)
                torch.testing.assert_close(given[2], v, atol=0, rtol=0)
                torch_out = torch_attention(loud * q, k, v, attn_mask=mask)
                eye = torch.eye(6, dtype=torch.float64).expand(*lead, 6, 6)
                torch_weights = torch_attention(loud * q, k, eye, attn_mask=mask)
                torch.testing.assert_close(out, torch_out, atol=1e-10, rtol=1e-9)
                torch.testing.assert_close(weights, torch_weights, atol=1e-10, rtol=0)
                if mask is not None:
                    assert bool((weights.masked_fill(mask, 0) == 0).all())
                probe = torch.randn(out.shape, generator=g, dtype=torch.float64)
                grads = torch.autograd.grad((out * probe).sum(), given[:2])
                again = [(loud * q).requires_grad_(), k.clone().requires_grad_()]
                theirs = torch_attention(*again, v, attn_mask=mask)
                rights = torch.autograd.grad((theirs * probe).sum(), again)
                for grad, right in zip(grads, rights, strict=True):
                    torch.testing.assert_close(grad, right, atol=1e-8, rtol=1e-8)
                torch.testing.assert_close(given[1].detach(), k, atol=0, rtol=0)
        without_first, very_low = torch.arange(6) > 0, torch.full_like(k, -1e6)
        torch.testing.assert_close(
            impl(torch.ones_like(q), very_low, v, without_first)[0],
            torch_attention(torch.ones_like(q), very_low, v, attn_mask=without_first.expand(4, 6)),
            atol=1e-7,
            rtol=0,
        )
    q, k, v = torch.randn(3, 2, 4, generator=g).double().requires_grad_().unbind()
    nobody = torch.tensor([[False, False], [True, False]])
    out, weights = impl(q, k, v, nobody)
    assert (out[0] == 0).all()
    assert weights.tolist() == [[0, 0], [1, 0]]
    (grad,) = torch.autograd.grad(out.sum(), q)
    assert grad.isfinite().all()
    for dtype in (torch.half, torch.float32):
        x = torch.randn(2, 3, 4, generator=g).to(dtype)
        out, weights = impl(x, x, x)
        assert weights.dtype == out.dtype == dtype


def some():
    """Masks that forbid some keys and leave some for each query."""
    return [torch.tensor([True, True, False, True, False]), torch.ones(3, 5).bool().tril(1)]


def holes():
    """Such masks, and one that leaves no key for the second query."""
    return [*some(), torch.tensor([[True, False, True, False, True], [False] * 5, [True] * 5])]


def drawn(lead, sizes=((3, 4), (5, 4), (5, 7))):
    """q, k and v with these leading axes."""
    g = torch.Generator().manual_seed(12)
    return [torch.randn(*lead, *size, generator=g).double() for size in sizes]


def formula(q, k, mask, low=-math.inf):
    """The weights by the formula, and 0 in place of NaN."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, low)
    return torch.softmax(scores, -1).nan_to_num(0)


def near(seen, right):
    assert seen.shape == right.shape
    assert (seen - right).abs().max() < 1e-8


def loosely(seen, right):
    assert torch.allclose(seen, right, atol=1e-8)


def not_far(seen, right):
    assert seen.shape == right.shape
    assert not (seen - right).abs().max() > 1e-8


def below(seen, right):
    assert ((seen - right) < 1e-8).all()


def above(seen, right):
    assert ((right - seen) < 1e-8).all()


def bit_by_bit(seen, right):
    assert torch.equal(seen, right)


def finite_gradients(impl, q, k, v, mask):
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    impl(*leaves, mask)[0].sum().backward()
    assert all(x.grad.isfinite().all() for x in leaves)


def enormous(impl, looked_at=(0, 1), compare_by=near):
    """Compare what is looked at for a huge forbidden score, and for very low allowed ones."""
    q, k, v = drawn((2,))
    loud, low = k.clone(), torch.full_like(k, -1e6)
    loud[:, 1] *= 1e6
    for queries, keys, forbidden in ((q, loud, 1), (torch.ones_like(q), low, 0)):
        mask = torch.arange(5) != forbidden
        results, weights = impl(queries, keys, v, mask), formula(queries, keys, mask)
        for number in looked_at:
            compare_by(results[number], (weights @ v, weights)[number])


@exercise.also_right
def ordinary_first(impl):
    for lead in [(), (2,), (2, 3)]:
        q, k, v = drawn(lead)
        for mask in [None, *holes()]:
            out, weights = impl(q, k, v, mask)
            right = formula(q, k, mask)
            near(weights, right)
            near(out, right @ v)
            finite_gradients(impl, q, k, v, mask)
    enormous(impl)
    by_loops(impl)
