"""test_attention: a test that distinguishes right versions of attention from wrong ones."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import scaled_dot_product_attention as torch_attention

from attnlab.attention import scaled_dot_product_attention
from gradekit.exercise import write_a_test

# Without versions that are wrong only if some sizes happen to be equal.
VERSIONS = [
    "no_scale",
    "scale_multiplied",
    "divided_by_d",
    "scaled_by_d_model",
    "scaled_by_d_v",
    "scaled_by_number_of_keys",
    "scaled_by_number_of_queries",
    "scaled_by_first_axis",
    "scaled_after_softmax",
    "softmax_over_queries",
    "softmax_over_axis_1",
    "softmax_over_axis_0",
    "softmax_over_everything",
    "keys_not_transposed",
    "first_axes_transposed",
    "axes_of_a_batch",
    "einsum_of_a_batch",
    "mask_after_softmax",
    "mask_after_softmax_renormalised",
    "allowed_filled_with_infinity",
    "mask_inverted",
    "fill_with_0",
    "fill_with_minus_10",
    "fill_with_minus_10000",
    "fill_with_minus_a_million",
    "mask_added",
    "large_number_subtracted",
    "infinity_times_0",
    "nan_without_keys",
    "uniform_without_keys",
    "outputs_mended_alone",
    "nan_gradients",
    "softmax_without_maximum",
    "epsilon_in_denominator",
    "values_up_to_query_length",
    "keys_mixed",
    "scores_returned",
    "weights_first",
    "outputs_alone",
    "dropout_by_default",
    "always_causal",
    "first_row_of_the_mask",
    "mask_ignored",
    "mask_unsqueezed",
    "mask_as_index",
    "always_float32",
    "weights_detached",
    "queries_changed",
    "mask_changed",
]

exercise = write_a_test(
    "test_attention",
    of=scaled_dot_product_attention,
    points=8,
    title="Rejects the wrong versions of attention that students write, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=4)
def openly_wrong(lab, draw):
    """Accepts your own attention; rejects it once it is obviously wrong."""
    attention = lab.scaled_dot_product_attention

    def equal_shares(q, k, v, mask=None):
        return attention(0 * q, k, v, mask)

    def no_scale(q, k, v, mask=None):
        return attention(q * math.sqrt(q.shape[-1]), k, v, mask)

    def mask_ignored(q, k, v, mask=None):
        return attention(q, k, v)

    return {
        "accepts your own": draw.accepted(lab.test_attention, attention),
        "rejects equal weights for all keys": draw.rejects(lab.test_attention, equal_shares),
        "rejects scores without a scale": draw.rejects(lab.test_attention, no_scale),
        "rejects a version that ignores the mask": draw.rejects(lab.test_attention, mask_ignored),
    }


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 11))


@exercise.mistake(
    "Your test checks only shapes. A table of equal weights has the right shape, too: which "
    "numbers distinguish it from attention?"
)
def shapes_only(impl):
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 11)
    out, weights = impl(q, k, v)
    assert out.shape == (2, 3, 11)
    assert weights.shape == (2, 3, 5)


@exercise.mistake(
    "Your test asks for rows that sum to one and for outputs between the values. Scores that are "
    "not scaled, or scaled too much, pass both. What do you know about the weights themselves?"
)
def convexity_only(impl):
    q, k = torch.randn(2, 3, 4).double(), torch.randn(2, 5, 4).double()
    out, weights = impl(q, k, torch.ones(2, 5, 11).double())
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3).double())
    assert torch.allclose(out, torch.ones(2, 3, 11).double())


@exercise.mistake(
    "Your test never passes a mask, so every mistake with masks gets through. What does the task "
    "promise for a forbidden key, and for a query without allowed keys?"
)
def no_mask_tried(impl):
    g = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    out, weights = impl(q, k, v)
    right = torch.softmax(q @ k.mT / 2, -1)
    assert (weights - right).abs().max() < 1e-10
    assert (out - right @ v).abs().max() < 1e-10


def by_formula(q, k, mask):
    """The weights by the formula; NaN for a query without allowed keys."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def demand(impl, q, k, v, mask, inverted=False):
    out, weights = impl(q, k, v, mask)
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2]).bool()
    right = by_formula(q, k, ~mask if inverted else mask).nan_to_num(0)
    assert (weights - right).abs().max() < 1e-8
    assert (out - right @ v).abs().max() < 1e-8


SQUARE = (
    "Your test uses as many queries as keys and as many numbers in a value as in a key. Then a "
    "version that confuses two lengths looks right. Which shapes distinguish them?"
)


def compare_square(impl, masks):
    g = torch.Generator().manual_seed(3)
    q, k, v = torch.randn(3, 4, 4, generator=g).double().unbind()
    for mask in masks:
        demand(impl, q, k, v, mask)


@exercise.mistake(SQUARE)
def everything_square(impl):
    compare_square(impl, [None, torch.ones(4, 4).bool().tril()])


@exercise.mistake(SQUARE)
def square_and_causal(impl):
    compare_square(impl, [torch.ones(4, 4).bool().tril()])


@exercise.mistake(
    "Your test rejects every version, the right ones, too. Try it on your own attention: does it "
    "stop in a call or in an assertion, and is that assertion true? Two right ways to multiply "
    "the same numbers differ in the last digit: how large a difference does your test allow?"
)
def exactly_equal(impl):
    g = torch.Generator().manual_seed(4)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.tensor([True, True, False, True, False])
    exp = (q @ k.mT / 2).exp() * mask
    weights = exp * (1 / exp.sum(-1, keepdim=True))
    assert torch.equal(impl(q, k, v, mask)[1], weights)


@exercise.mistake(
    "Your test notices a mask that is ignored, but not wrong weights. Weights that sum to one and "
    "give the output, or that are 0 in the right places, can all be wrong. Where do you get right "
    "ones from?"
)
def consistent_with_itself(impl):
    g = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (None, torch.tensor([True, True, False, True, False])):
        out, weights = impl(q, k, v, mask)
        assert (out - weights @ v).abs().max() < 1e-10
        assert (weights.sum(-1) - 1).abs().max() < 1e-10
        if mask is not None:
            assert (weights[..., ~mask] == 0).all()


@exercise.mistake(
    "Your test accepts versions that look only at the keys that a mask forbids, and rejects right "
    "ones. What does True in a mask mean in the task?"
)
def mask_taken_the_other_way_round(impl):
    g = torch.Generator().manual_seed(6)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.tensor([True, False, True, False, False])
    demand(impl, q, k, v, mask, inverted=True)


@exercise.mistake(
    "Your test asks for NaN where a query may attend to no key, as the formula gives it. What does "
    "the task promise for such a query?"
)
def nan_asked_for(impl):
    g = torch.Generator().manual_seed(7)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    mask = torch.ones(3, 5).bool()
    mask[1] = False
    out, weights = impl(q, k, v, mask)
    right = by_formula(q, k, mask)
    assert torch.allclose(weights, right, atol=1e-8, equal_nan=True)
    assert torch.allclose(out, right @ v, atol=1e-8, equal_nan=True)


@exercise.mistake(
    "Your test accepts a version that returns scores in place of weights: nothing that it asserts "
    "is about the second result. Which promises does the task make about it?"
)
def outputs_only(impl):
    g = torch.Generator().manual_seed(8)
    q, k, v = (torch.randn(2, n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (torch.ones(5).bool(), torch.tensor([True, True, False, True, True])):
        out, _ = impl(q, k, v, mask)
        assert (out - by_formula(q, k, mask) @ v).abs().max() < 1e-8


@exercise.mistake(
    "What gets through your test is wrong only in a batch or with heads, with enormous numbers, "
    "without allowed keys or in its gradients. How many axes do your inputs have?"
)
def one_sentence_only(impl):
    g = torch.Generator().manual_seed(9)
    q, k, v = (torch.randn(n, d, generator=g).double() for n, d in [(3, 4), (5, 4), (5, 7)])
    for mask in (torch.ones(3, 5).bool(), torch.ones(3, 5).bool().tril()):
        demand(impl, q, k, v, mask)


def values_for_each_rank(impl, mask, gradients):
    g = torch.Generator().manual_seed(10)
    for lead in ((), (2,), (2, 3)):
        sizes = (3, 4), (5, 4), (5, 7)
        q, k, v = (torch.randn(*lead, *size, generator=g).double() for size in sizes)
        demand(impl, q, k, v, mask)
        if gradients:
            leaves = [x.requires_grad_() for x in (q, k, v)]
            impl(*leaves, mask)[0].sum().backward()
            assert all(x.grad.isfinite().all() for x in leaves)


@exercise.mistake(
    "What gets through your test is wrong only with enormous numbers, without allowed keys or in "
    "its gradients. Which inputs of your test have them?"
)
def ordinary_rows_only(impl):
    for mask in (torch.ones(5).bool(), torch.ones(3, 5).bool().tril()):
        values_for_each_rank(impl, mask, gradients=False)


@exercise.mistake(
    "What gets through your test is wrong only with enormous numbers. In which of your inputs is a "
    "score in the millions, above or below zero, allowed or forbidden?"
)
def small_numbers_only(impl):
    mask = torch.tensor([[1, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 1, 1, 1, 0]]).bool()
    values_for_each_rank(impl, mask, gradients=True)


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
