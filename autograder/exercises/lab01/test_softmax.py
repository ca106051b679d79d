"""test_softmax: a test that distinguishes right versions of softmax from wrong ones."""

from __future__ import annotations

import torch

from attnlab.softmax import softmax
from gradekit.exercise import write_a_test

# Not among them: a wrong default and integers of 8 bits, which few right tests try.
VERSIONS = [
    "always_first_axis",
    "dim_ignored",
    "over_everything",
    "no_max_subtraction",
    "global_max",
    "max_over_wrong_dim",
    "mean_subtracted",
    "keepdim_missing",
    "squeezed",
    "epsilon_in_denominator",
    "detached",
    "detached_denominator",
    "in_place",
    "in_place_behind_autograd",
    "integers_not_cast",
    "always_float32",
    "sign_turned",
    "powers_of_two",
    "no_exponential",
    "not_normalised",
    "through_numpy",
    "returns_log_probabilities",
]

exercise = write_a_test(
    "test_softmax",
    of=softmax,
    points=8,
    versions=VERSIONS,
    title="Rejects the wrong versions of softmax that students write, and accepts the right ones.",
)


def right_version(x, dim=-1):
    return torch.softmax(x if x.is_floating_point() else x.double(), dim)


def not_normalised(x, dim=-1):
    return torch.sigmoid(x)


def all_the_same(x, dim=-1):
    return torch.full_like(x, 1 / x.shape[dim], dtype=torch.promote_types(x.dtype, torch.half))


def last_axis_always(x, dim=-1):
    return right_version(x, -1)


@exercise.check(points=4)
def openly_wrong(lab, draw):
    """Accepts torch's own softmax; rejects three versions that are obviously wrong."""
    return {
        "accepts torch's own": draw.accepted(lab.test_softmax, right_version),
        "rejects shares that do not sum to one": draw.rejects(lab.test_softmax, not_normalised),
        "rejects the same probability for all": draw.rejects(lab.test_softmax, all_the_same),
        "rejects a softmax that ignores dim": draw.rejects(lab.test_softmax, last_axis_always),
        "what it raises": draw.raises(lab.test_softmax, not_normalised),
    }


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(torch.randn(3, 5))


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports by "
    "raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    if impl(x).shape != x.shape:
        raise AssertionError("shape")
    return all(torch.allclose(impl(x, dim), torch.softmax(x, dim)) for dim in range(3))


@exercise.mistake(
    "Your test only asks for sums of one. Which very simple function has these sums, too, without "
    "using the scores?"
)
def sums_only(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x, dim).sum(dim), torch.ones(()).double())


@exercise.mistake(
    "Your test tries only the last axis, so it accepts a softmax that ignores `dim`. Which shape "
    "and which axes would show the mistake?"
)
def last_axis_only(impl):
    x = torch.randn(3, 5, dtype=torch.float64)
    assert torch.allclose(impl(x), torch.softmax(x, -1), atol=1e-12, rtol=0)


@exercise.mistake(
    "Your test rejects right versions, so one of its conditions asks for more than the task "
    "promises: equal bits from two ways to add up the same numbers, for example, or a result for "
    "scores that the task rules out. Which condition is it?"
)
def exactly_equal(impl):
    x = torch.randn(31, 57, 7, dtype=torch.float64)
    for dim in range(3):
        exp = (x - x.amax(dim, keepdim=True)).exp()
        assert torch.equal(impl(x, dim), exp * (1 / exp.sum(dim, keepdim=True)))


@exercise.mistake(
    "Your test only looks at ordinary scores along every axis. What does the task of softmax "
    "promise for very large scores, -inf, whole numbers, dtypes, gradients and the input?"
)
def ordinary_scores_only(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim), atol=1e-6)


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        if not torch.allclose(impl(x, dim), torch.softmax(x, dim)):
            raise ValueError(f"wrong along axis {dim}")


def compared(impl, x, tolerance=1e-10):
    for dim in range(x.ndim):
        assert (impl(x.clone(), dim) - torch.softmax(x, dim)).abs().max() < tolerance


def shares_compared(impl, x):
    compared(impl, x)


def thousands_compared(impl, x):
    compared(impl, x + 1e4 * torch.arange(7.0))
    compared(impl, x + torch.tensor([0.0, 1e4, -1e4])[:, None, None])


def shape_asked(impl, x):
    assert impl(x[:1].clone(), 1).shape == (1, 5, 7)


def dtype_asked(impl, x):
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert impl(x.clone().to(dtype), 1).dtype == dtype


def whole_numbers_tried(impl, x):
    assert abs(float(impl(torch.tensor([1, 2, 3]), 0).sum()) - 1) < 1e-5


def input_compared(impl, x):
    given = x.clone()
    impl(given, 1)
    assert torch.equal(given, x)


def gradient_compared(impl, x):
    assert torch.autograd.gradcheck(lambda t: impl(t, 1), x[:1].clone().requires_grad_())


def sums_asked(impl, x):
    for scores in (x, x + 1e4 * torch.arange(7.0), x * 1e4):
        for dim in range(3):
            p = impl(scores.clone(), dim)
            assert p.min() >= 0
            assert (p.sum(dim) - 1).abs().max() < 1e-10


def arrival_of_a_gradient(impl, x):
    x = x.clone().requires_grad_()
    impl(x, 1).sum().backward()
    assert x.grad is not None


def scores_all_higher(impl, x):
    compared(impl, x + 1e4)


def slices_apart(impl, x):
    x = x + torch.tensor([0.0, 1e4, -1e4])[:, None, None]
    for dim in (1, 2):
        assert (impl(x.clone(), dim) - torch.softmax(x, dim)).abs().max() < 1e-10


def compared_loosely(impl, x):
    compared(impl, x, 1e-5)
    scores = x + 1e4 * torch.arange(7.0)
    compared(impl, scores, 1e-5)
    compared(impl, scores + torch.tensor([0.0, 1e4, -1e4])[:, None, None], 1e-5)


PARTS = (
    shares_compared,
    thousands_compared,
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


@exercise.mistake(
    "Your test accepts a version that drops the axes of length 1. What does the task promise about "
    "the shape, and which of your inputs would show this?"
)
def no_axis_of_one(impl):
    ask_all_but(impl, [shape_asked])


@exercise.mistake(
    "Your test accepts a version that returns whole numbers for whole numbers. What does the task "
    "promise for an integer `x`?"
)
def no_whole_numbers(impl):
    ask_all_but(impl, [whole_numbers_tried])


INPUT = (
    "Your test accepts a version that changes the tensor it is given. With what does your test "
    "compare the input after the call, and is that another tensor?"
)


@exercise.mistake(INPUT)
def input_not_compared(impl):
    def gradient_of_squares(impl, x):
        t = x.clone().requires_grad_()
        (impl(t, 1) ** 2).sum().backward()
        p = torch.softmax(x, 1)
        assert (t.grad - 2 * p * (p - (p * p).sum(1, keepdim=True))).abs().max() < 1e-10

    ask_all_but(impl, [input_compared, gradient_compared], gradient_of_squares)


@exercise.mistake(
    "Your test accepts versions with the right numbers whose gradient is missing or wrong. Which "
    "line of your test asks for a gradient?"
)
def gradient_not_asked(impl):
    ask_all_but(impl, [gradient_compared])


@exercise.mistake(
    "Your test notices a gradient that is missing, but accepts one that is wrong. With what do you "
    "compare it, and can the gradient of a sum of probabilities be anything but 0?"
)
def arrival_of_gradient_only(impl):
    ask_all_but(impl, [gradient_compared], arrival_of_a_gradient)


@exercise.mistake(
    "Your test accepts versions that give NaN for scores in the thousands: it has no such scores, "
    "or a comparison that NaN passes. Is `NaN > 1e-10` true or false?"
)
def thousands_not_tried(impl):
    ask_all_but(impl, [thousands_compared])


ANOTHER_SHIFT = (
    "Your test rejects the plain formula for large scores, but accepts a version that subtracts "
    "another number than each slice's own maximum. Which slices of your input, and which scores in "
    "one slice, are thousands apart?"
)


@exercise.mistake(ANOTHER_SHIFT)
def all_scores_equally_high(impl):
    ask_all_but(impl, [thousands_compared], scores_all_higher)


@exercise.mistake(ANOTHER_SHIFT)
def only_slices_apart(impl):
    ask_all_but(impl, [thousands_compared], slices_apart)


@exercise.mistake(
    "Your test accepts shares that are off by 1e-8. Which difference does the task allow in "
    "float64?"
)
def loose_comparison(impl):
    ask_all_but(impl, [shares_compared, thousands_compared], compared_loosely)


SHARES_NOT_COMPARED = (
    "Your test asks for shares that sum to one, but accepts a version in which the largest score "
    "gets the smallest share. With what could you compare the shares themselves?"
)


@exercise.mistake(SHARES_NOT_COMPARED)
def a_distribution_is_enough(impl):
    ask_all_but(
        impl,
        [shares_compared, thousands_compared, gradient_compared],
        sums_asked,
        arrival_of_a_gradient,
    )


@exercise.mistake(SHARES_NOT_COMPARED)
def a_distribution_without_gradients(impl):
    ask_all_but(impl, [shares_compared, thousands_compared, gradient_compared], sums_asked)


@exercise.also_right
def by_properties(impl):
    def same(a, b):
        return bool((a - b).abs().max() < 1e-10)

    g = torch.Generator().manual_seed(5)
    x = torch.randn(4, 3, 5, generator=g, dtype=torch.float64)
    wild = torch.randn(3, 4, generator=g, dtype=torch.float64) * 2e3
    wild[1] -= 1e4
    wild[2, 1] = -float("inf")
    for scores in (x, wild, x[:, :1]):
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
    for whole in (torch.arange(6).reshape(2, 3), torch.tensor([[9, 2], [3, 200]]).byte()):
        torch.testing.assert_close(
            impl(whole, 0).float(), torch.softmax(whole.float(), 0), atol=1e-5, rtol=0
        )
    assert impl(torch.randn(3).half(), 0).dtype == torch.half
    assert impl(torch.randn(3, dtype=torch.float64), 0).dtype == torch.float64
