"""test_softmax: a test that tells right versions of softmax from wrong ones."""

from __future__ import annotations

import torch

from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(answers=["test_softmax"], uses=[softmax])


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
    """Accepts torch's own softmax; rejects three versions that are openly wrong."""
    lab.test_softmax(right_version)
    return {
        "rejects shares that do not sum to one": draw.raises(lab.test_softmax, not_normalised)
        is not None,
        "rejects the same probability for all": draw.raises(lab.test_softmax, all_the_same)
        is not None,
        "rejects a softmax that ignores dim": draw.raises(lab.test_softmax, last_axis_always)
        is not None,
    }


@exercise.check(points=8, hidden=True, suspects_of="softmax")
def wrong_versions(lab, draw):
    """Rejects the wrong versions of softmax that students write, and accepts the right ones."""
    return draw.accepts(lab.test_softmax)


@exercise.mistake("Your test lets everything pass. Is there an `assert` in it, and is it reached?")
def asserts_nothing():
    def test_softmax(impl):
        impl(torch.randn(3, 5))

    return {"test_softmax": test_softmax}


@exercise.mistake(
    "Your test returns its verdict, True or False, and nobody looks at it. A test speaks by "
    "raising: which statement turns a False into an error?"
)
def returns_its_verdict():
    def test_softmax(impl):
        x = torch.randn(3, 5, 7, dtype=torch.float64)
        if impl(x).shape != x.shape:
            raise AssertionError("shape")
        return all(torch.allclose(impl(x, dim), torch.softmax(x, dim)) for dim in range(3))

    return {"test_softmax": test_softmax}


@exercise.mistake(
    "Your test asks for sums of one and nothing else. Which very simple function has them, too, "
    "without looking at the scores?"
)
def sums_only():
    def test_softmax(impl):
        x = torch.randn(3, 5, 7, dtype=torch.float64)
        for dim in range(3):
            assert torch.allclose(impl(x, dim).sum(dim), torch.ones(()).double())

    return {"test_softmax": test_softmax}


@exercise.mistake(
    "Your test tries the last axis only, so a softmax that ignores `dim` gets through. Which "
    "shape and which axes would show it?"
)
def last_axis_only():
    def test_softmax(impl):
        x = torch.randn(3, 5, dtype=torch.float64)
        assert torch.allclose(impl(x), torch.softmax(x, -1), atol=1e-12, rtol=0)

    return {"test_softmax": test_softmax}


@exercise.mistake(
    "Your test asks for bits that agree exactly, so it rejects right versions: two right ways to "
    "add up the same numbers differ in the last digit. How far apart may they be?"
)
def exactly_equal():
    def test_softmax(impl):
        x = torch.randn(31, 57, 7, dtype=torch.float64)
        for dim in range(3):
            exp = (x - x.amax(dim, keepdim=True)).exp()
            assert torch.equal(impl(x, dim), exp * (1 / exp.sum(dim, keepdim=True)))

    return {"test_softmax": test_softmax}


@exercise.mistake(
    "Your test looks at well-behaved scores along every axis and stops there. Read the task of "
    "softmax again: what does it promise for very large scores, -inf, whole numbers, dtypes, "
    "gradients, the input?"
)
def ordinary_scores_only():
    def test_softmax(impl):
        x = torch.randn(3, 5, 7, dtype=torch.float64)
        for dim in range(3):
            assert torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim), atol=1e-6)

    return {"test_softmax": test_softmax}


@exercise.also_right
def by_properties():
    def test_softmax(impl):
        def same(a, b):
            return bool((a - b).abs().max() < 1e-10)

        g = torch.Generator().manual_seed(5)
        x = torch.randn(4, 3, 5, generator=g, dtype=torch.float64)
        wild = torch.randn(3, 4, generator=g, dtype=torch.float64) * 2e3
        wild[1] -= 1e4
        wild[2, 1] = -float("inf")
        for scores in (x, wild):
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
        assert torch.autograd.gradcheck(lambda t: impl(t, 1), x.requires_grad_())

    return {"test_softmax": test_softmax}


@exercise.also_right
def by_torch_testing():
    def test_softmax(impl):
        for seed, shape in enumerate([(7,), (3, 5), (2, 3, 5)]):
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
        whole = torch.arange(6).reshape(2, 3)
        torch.testing.assert_close(
            impl(whole, 0).float(), torch.softmax(whole.float(), 0), atol=1e-5, rtol=0
        )
        assert impl(torch.randn(3).half(), 0).dtype == torch.half
        assert impl(torch.randn(3, dtype=torch.float64), 0).dtype == torch.float64

    return {"test_softmax": test_softmax}
