"""Wrong tests of softmax that students write: they ask too little, or too much."""

from __future__ import annotations

import torch

from . import exercise, loses_failures, one_promise_missing  # noqa: F401 - to register them
from .one_promise_missing import TOO_LARGE, TOO_SMALL


@exercise.mistake(
    "Your test calls `impl`, its argument, but accepts even a result full of NaN. Does it compare "
    "the numbers of this result, and does it reach an `assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(torch.randn(3, 5))


NUMBERS_NOT_COMPARED = (
    "Your test rejects some wrong results, but three versions with wrong numbers pass. With what "
    "could you compare the numbers themselves?"
)


@exercise.mistake(NUMBERS_NOT_COMPARED)
def shapes_only(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    assert impl(x, 1).shape == x.shape


@exercise.mistake(NUMBERS_NOT_COMPARED)
def shapes_without_nan(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    shares = impl(x, 1)
    assert shares.shape == x.shape
    assert not shares.isnan().any()


@exercise.mistake(
    "Your test accepts even a version that stops with an error. Does it call `impl`, its argument, "
    "or always your own function?"
)
def never_calls_it(impl):
    x = torch.randn(3, 5)
    assert torch.allclose(torch.softmax(x, -1).sum(-1), torch.ones(3))


WITH_ITSELF = (
    "Your test accepts versions with wrong numbers everywhere. Perhaps both sides of a comparison "
    "come from `impl` (a wrong version agrees with itself), or its limit is very large or has no "
    "`abs`. What is a right answer, computed without `impl`?"
)


@exercise.mistake(WITH_ITSELF)
def compared_with_itself(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x, dim), impl(x, dim))


@exercise.mistake(WITH_ITSELF)
def compared_with_itself_shifted(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x + 10, dim), impl(x, dim))


@exercise.mistake(
    "Your test accepts a version that is right in a single number and wrong in all others. Must "
    "one number agree, or all of them?"
)
def any_instead_of_all(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.isclose(impl(x.clone(), dim), torch.softmax(x, dim)).any()


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
    "Your test accepts a softmax that ignores `dim` and always takes the last axis. Which axes "
    "does it try, and must the result be right along each of them?"
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


@exercise.mistake(TOO_SMALL)
def size_of_the_difference_missing(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert (impl(x.clone(), dim) - torch.softmax(x, dim)).max() < 1e-10


@exercise.mistake(TOO_LARGE)
def size_of_the_opposite_difference_missing(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert (torch.softmax(x, dim) - impl(x.clone(), dim)).max() < 1e-10


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        if not torch.allclose(impl(x, dim), torch.softmax(x, dim)):
            raise ValueError(f"wrong along axis {dim}")


@exercise.mistake(
    "Your test compares float16 numbers with a limit that float16 rounds to 0, and no size is less "
    "than 0, so it rejects numbers that are equal. What should a test look at in float16, "
    "according to the task?"
)
def one_limit_for_every_dtype(impl):
    for dtype in (torch.float16, torch.float32, torch.float64):
        x = torch.randn(3, 5, 7, dtype=dtype)
        for dim in range(3):
            assert (impl(x, dim) - torch.softmax(x, dim)).abs().max() < 1e-10
