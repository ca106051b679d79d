"""Wrong tests of softmax that students write: they ask too little, or too much."""

from __future__ import annotations

import torch

from . import exercise, loses_failures, one_promise_missing  # noqa: F401 - to register them
from .one_promise_missing import EQUAL_SHARES, IN_ANOTHER_ORDER, TOO_LARGE, TOO_SMALL


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
    "in a line that runs (without a `yield`, or a `return` before it), and does this error leave "
    "your test?"
)
def never_calls_it(impl):
    x = torch.randn(3, 5)
    assert torch.allclose(torch.softmax(x, -1).sum(-1), torch.ones(3))


WITH_ITSELF = (
    "Your test accepts versions with wrong numbers everywhere. Perhaps both sides of a comparison "
    "come from `impl` (a wrong version agrees with itself). Or its limit is very large or has no "
    "`abs`, or your scores are a single number. Which comparison with a right answer, computed "
    "without `impl`, is false for a wrong version?"
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


SOME_NUMBERS = (
    "Your test accepts a version in which half of the numbers are wrong. Does it compare every "
    "number, must all of them agree, and how large a difference does it allow?"
)


@exercise.mistake(SOME_NUMBERS)
def any_instead_of_all(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.isclose(impl(x.clone(), dim), torch.softmax(x, dim)).any()


@exercise.mistake(SOME_NUMBERS)
def any_instead_of_all_in_every_dtype(impl):
    for dtype in (torch.float64, torch.float32):
        x = torch.randn(3, 5, 7, dtype=dtype)
        for dim in range(3):
            near = (impl(x.clone(), dim) - torch.softmax(x, dim)).abs() < 1e-3
            assert near.any()


@exercise.mistake(SOME_NUMBERS)
def first_row_only(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x.clone(), dim)[0], torch.softmax(x, dim)[0])


@exercise.mistake(IN_ANOTHER_ORDER)
def sorted_numbers(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        shares, expected = impl(x.clone(), dim), torch.softmax(x, dim)
        assert torch.allclose(shares.sort(dim).values, expected.sort(dim).values)


CONDITION_TURNED_ROUND = (
    "One line of your test rejects right results, and wrong results pass it. Is the condition of "
    "this line (or of the `if` before it) true or false for a right result?"
)


@exercise.mistake(CONDITION_TURNED_ROUND)
def turned_round(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert not torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim))


@exercise.mistake(CONDITION_TURNED_ROUND)
def turned_round_behind_a_right_comparison(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim))
        assert (impl(x.clone(), dim).sum(dim) - 1).abs().max() > 1e-3


@exercise.mistake(CONDITION_TURNED_ROUND)
def turned_round_for_the_input(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    given = x.clone()
    assert torch.allclose(impl(given), torch.softmax(x, -1))
    if torch.equal(given, x):
        raise AssertionError("the input changed")


@exercise.mistake(CONDITION_TURNED_ROUND)
def turned_round_for_the_dtype(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        shares = impl(x.clone(), dim)
        assert shares.shape == x.shape
        assert shares.dtype != x.dtype


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports by "
    "raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    if impl(x).shape != x.shape:
        raise AssertionError("shape")
    return all(torch.allclose(impl(x, dim), torch.softmax(x, dim)) for dim in range(3))


@exercise.mistake(EQUAL_SHARES)
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
    "Your test rejects right versions. Perhaps one of its conditions expects wrong numbers, or "
    "more than the task promises: equal bits from two ways to add up the same numbers, or a result "
    "for scores that the task rules out. Which line rejects them?"
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
    "Your test accepts numbers that are one percent too small, and others that are one percent too "
    "large. How large a difference in each number does it allow, and how large a one does the task?"
)
def wide_limit(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        assert torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim), atol=0.02)


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


NAN_PASSES = (
    "Your test accepts results that are NaN throughout. Is `NaN > 1e-10` true or false, and what "
    "does your comparison do after that answer?"
)


@exercise.mistake(NAN_PASSES)
def raises_above_a_limit(impl):
    for scale in (1, 1000):
        for dim in (0, 1, 2, -1, -2):
            x = scale * torch.randn(2, 3, 4).double()
            if (impl(x, dim) - torch.softmax(x, dim)).abs().max() > 1e-10:
                raise AssertionError("wrong numbers")


@exercise.mistake(NAN_PASSES)
def not_above_a_limit(impl):
    for dim in (0, 1, -1):
        x = torch.randn(5, 3).double()
        assert not ((impl(x, dim) - torch.softmax(x, dim)).abs() > 1e-10).any()
