"""Right tests of softmax, in other styles."""

from __future__ import annotations

import torch

from . import exercise


def compared(impl, x, tolerance=1e-10):
    for dim in range(x.ndim):
        assert (impl(x.clone(), dim) - torch.softmax(x, dim)).abs().max() < tolerance


def shares_compared(impl, x):
    compared(impl, x)


def thousands_compared(impl, x):
    compared(impl, x + 1e4 * torch.arange(7.0))
    compared(impl, x + torch.tensor([0.0, 1e4, -1e4])[:, None, None])


def minus_infinity_asked(impl, x):
    scores = x.masked_fill(x > 1, -float("inf"))
    assert not (impl(scores.clone(), 1)[x > 1] > 0).any()  # other parts ask about NaN


def no_nan_from_minus_infinity(impl, x):
    assert not impl(x.masked_fill(x > 1, -float("inf")), 1).isnan().any()


def shape_asked(impl, x):
    assert impl(x[:1].clone(), 1).shape == (1, 5, 7)


def dtype_asked(impl, x):
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert impl(x.clone().to(dtype), 1).dtype == dtype


def dtypes_of_many_digits_asked(impl, x):
    for dtype in (torch.float32, torch.float64):
        assert impl(x.clone().to(dtype), 1).dtype == dtype


def whole_numbers_tried(impl, x):
    assert abs(float(impl(torch.tensor([1, 2, 3]), 0).sum()) - 1) < 1e-5


def input_compared(impl, x):
    given = x.clone()
    impl(given, 1)
    assert torch.equal(given, x)


def gradient_compared(impl, x):
    few = x[:1, :, :2].clone()  # each number costs a call, and each known mistake asks this
    assert torch.autograd.gradcheck(lambda t: impl(t, 1), few.requires_grad_())


def sums_asked(impl, x):
    for scores in (x, x + 1e4 * torch.arange(7.0), x * 1e4):
        for dim in range(3):
            p = impl(scores.clone(), dim)
            assert p.min() >= 0
            assert (p.sum(dim) - 1).abs().max() < 1e-10


def order_asked(impl, x):
    for dim in range(3):
        assert torch.equal(impl(x.clone(), dim).argmax(dim), x.argmax(dim))


def whole_numbers_give_float32(impl, x):
    assert impl(torch.tensor([1, 2, 3]), 0).dtype == torch.float32


def whole_numbers_give_float64(impl, x):
    assert impl(torch.tensor([1, 2, 3]), 0).dtype == torch.float64


def half_numbers_compared(impl, x):
    assert (impl(x.half(), 1) - torch.softmax(x.half(), 1)).abs().max() < 1e-5


def slices_of_minus_infinity_tried(impl, x):
    assert not impl(torch.full_like(x, -torch.inf), 1).isnan().any()


def half_numbers_compared_with_float64(impl, x):
    half = x.half()
    assert (impl(half, 1).double() - torch.softmax(half.double(), 1)).abs().max() < 1e-4


def bfloat_numbers_compared(impl, x):
    low = x.bfloat16()
    assert (impl(low, 1).double() - torch.softmax(low.double(), 1)).abs().max() < 1e-4


def single_numbers_compared(impl, x):
    single = x.float()
    assert (impl(single, 1) - torch.softmax(single, 1)).abs().max() < 1e-9


def single_numbers_compared_with_float64(impl, x):
    single = x.float()
    assert (impl(single, 1).double() - torch.softmax(single.double(), 1)).abs().max() < 1e-9


def double_numbers_compared(impl, x):
    compared(impl, x, 1e-17)


def gradient_of_squares(impl, x):
    t = x.clone().requires_grad_()
    (impl(t, 1) ** 2).sum().backward()
    p = torch.softmax(x, 1)
    assert (t.grad - 2 * p * (p - (p * p).sum(1, keepdim=True))).abs().max() < 1e-10


def arrival_of_a_gradient(impl, x):
    x = x.clone().requires_grad_()
    impl(x, 1).sum().backward()
    assert x.grad is not None


def gradient_of_the_plain_sum(impl, x):
    x = x.clone().requires_grad_()
    impl(x, 1).sum().backward()
    assert x.grad.abs().max() < 1e-10


def scores_all_higher(impl, x):
    compared(impl, x + 1e4)


def scores_of_a_slice_apart(impl, x):
    scores = x + 1e4 * torch.arange(7.0)
    assert (impl(scores.clone(), 2) - torch.softmax(scores, 2)).abs().max() < 1e-10


def slices_apart(impl, x):
    x = x + torch.tensor([0.0, 1e4, -1e4])[:, None, None]
    for dim in (1, 2):
        assert (impl(x.clone(), dim) - torch.softmax(x, dim)).abs().max() < 1e-10


def compared_loosely(impl, x):
    compared(impl, x, 1e-5)
    scores = x + 1e4 * torch.arange(7.0)
    compared(impl, scores, 1e-5)
    compared(impl, scores + torch.tensor([0.0, 1e4, -1e4])[:, None, None], 1e-5)


def not_too_high(impl, x):
    for scores in (x, x + 1e4 * torch.arange(7.0)):
        for dim in range(3):
            assert (impl(scores.clone(), dim) - torch.softmax(scores, dim)).max() < 1e-10


def not_too_low(impl, x):
    for scores in (x, x + 1e4 * torch.arange(7.0)):
        for dim in range(3):
            assert (torch.softmax(scores, dim) - impl(scores.clone(), dim)).max() < 1e-10


PARTS = (
    shares_compared,
    thousands_compared,
    minus_infinity_asked,
    shape_asked,
    dtype_asked,
    whole_numbers_tried,
    input_compared,
    gradient_compared,
)


def ask_all_but(impl, left_out, *instead):
    """Ask for every promise but some, and for others in their place."""
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    for part in (*instead, *(part for part in PARTS if part not in left_out)):
        part(impl, x)


@exercise.also_right
def every_promise(impl):
    ask_all_but(impl, [])


@exercise.also_right
def by_properties(impl):
    def same(a, b):
        return bool((a - b).abs().max() < 1e-10)

    g = torch.Generator().manual_seed(5)
    x = torch.randn(4, 3, 5, generator=g, dtype=torch.float64)
    wild = torch.randn(3, 4, generator=g, dtype=torch.float64) * 2e3
    wild[1] -= 1e4
    shut = x.masked_fill(x > 1, -float("inf"))
    for scores in (x, wild, shut, x[:, :1]):
        for dim in range(scores.dim()):
            given = scores.clone()
            p = impl(given, dim)
            assert torch.equal(given, scores)
            assert p.dtype == scores.dtype
            assert p.shape == scores.shape
            top = scores.max(dim, keepdim=True)[0]
            weight = (scores - top).exp()
            assert same(p * weight.sum(dim, keepdim=True), weight)
            assert same(p.sum(dim), torch.ones_like(p.sum(dim)))
    for dtype in (torch.float16, torch.float32):
        assert impl(x.to(dtype), 1).dtype == dtype
    assert abs(float(impl(torch.tensor([[1, 2, 3]]), -1).sum()) - 1) < 1e-5
    assert abs(float(impl(torch.tensor([1, 255, 3], dtype=torch.uint8), 0)[1]) - 1) < 1e-5
    assert torch.autograd.gradcheck(lambda t: impl(t, 1), x.requires_grad_())


@exercise.also_right
def by_torch_testing(impl):
    for seed, shape in enumerate([(7,), (3, 5), (2, 3, 5), (4, 1)]):
        g = torch.Generator().manual_seed(seed)
        for offset in (0.0, 1e3, -1e3):
            x = torch.randn(shape, generator=g, dtype=torch.float64)
            x[..., 0] += offset
            if len(shape) > 1:
                x[0] += 5 * offset
            for dim in range(-x.ndim, x.ndim):
                leaf = x.clone().requires_grad_()
                mine = x.clone().requires_grad_()
                p, q = impl(leaf, dim=dim), torch.softmax(mine, dim=dim)
                torch.testing.assert_close(p, q, atol=1e-11, rtol=0)
                torch.testing.assert_close(leaf.detach(), x, atol=0, rtol=0)
                weights = torch.randn(shape, generator=g, dtype=torch.float64)
                (p * weights).sum().backward()
                (q * weights).sum().backward()
                torch.testing.assert_close(leaf.grad, mine.grad, atol=1e-11, rtol=0)
                plain = x.clone()
                impl(plain, dim)
                torch.testing.assert_close(plain, x, atol=0, rtol=0)
    shut = torch.tensor([[0.5, -torch.inf, 3.0], [-torch.inf, 2.0, -1.0]])
    torch.testing.assert_close(impl(shut, 1), torch.softmax(shut, 1), atol=1e-5, rtol=0)
    for whole in (torch.arange(6).reshape(2, 3), torch.tensor([[9, 2], [3, 200]]).byte()):
        torch.testing.assert_close(
            impl(whole, 0).float(), torch.softmax(whole.float(), 0), atol=1e-5, rtol=0
        )
    assert impl(torch.randn(3).half(), 0).dtype == torch.half
    assert impl(torch.randn(3, dtype=torch.float64), 0).dtype == torch.float64
