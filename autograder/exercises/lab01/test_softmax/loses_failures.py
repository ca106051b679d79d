"""Wrong tests of softmax whose comparisons fail without an error."""

from __future__ import annotations

import torch

from gradekit.exercise import FAILURES_CAUGHT, RESULTS_UNREAD, TUPLES_ASSERTED

from . import exercise


def compared(impl):
    """For each axis, whether the shares are right."""
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    return [torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim)) for dim in range(3)]


@exercise.mistake(TUPLES_ASSERTED)
def tuple_asserted(impl):
    for dim, right in enumerate(compared(impl)):
        # A list is as true as a tuple, but Python does not warn of it here.
        assert [right, f"axis {dim}"]


@exercise.mistake(RESULTS_UNREAD)
def result_unread(impl):
    for dim, right in enumerate(compared(impl)):
        right == True  # noqa: B015, E712 - the mistake
        assert dim < 3


@exercise.mistake(RESULTS_UNREAD)
def only_the_last_result_read(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        right = torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim))
    assert right


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        assert all(compared(impl))
    except AssertionError:
        pass


@exercise.mistake(
    "Your test accepts a version that stops with an error, although it rejects wrong numbers: "
    "perhaps an `except` around the call of `impl` lets the test go on or end without an error. "
    "What should your test do if `impl` has no result?"
)
def errors_of_impl_caught(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        try:
            shares = impl(x.clone(), dim)
        except Exception:
            return
        assert torch.allclose(shares, torch.softmax(x, dim))


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        assert all(compared(impl))
    except Exception:
        pass


SOME_ERRORS_CAUGHT = (
    "Your test accepts a version that stops with an error for some scores: an `except` there lets "
    "the test go on, and may lose failed comparisons, too. Which error do you expect there, and "
    "what should your test do then?"
)


def compared_and_caught(impl, scores):
    assert all(compared(impl))
    expected = torch.softmax(scores.double(), 0)
    try:
        if not torch.allclose(impl(scores, 0).double(), expected, atol=1e-3, rtol=0):
            raise ValueError("differs")
    except Exception:
        pass


@exercise.mistake(SOME_ERRORS_CAUGHT)
def errors_for_whole_numbers_caught(impl):
    compared_and_caught(impl, torch.tensor([1, 2, 3]))


@exercise.mistake(SOME_ERRORS_CAUGHT)
def errors_for_16_bits_caught(impl):
    compared_and_caught(impl, torch.tensor([1.0, 2.0, 3.0]).half())


@exercise.mistake(SOME_ERRORS_CAUGHT)
def errors_for_minus_infinity_caught(impl):
    compared_and_caught(impl, torch.tensor([1.0, -torch.inf, 3.0]))


@exercise.mistake(SOME_ERRORS_CAUGHT)
def errors_for_large_scores_caught(impl):
    compared_and_caught(impl, torch.tensor([1000.0, 2000.0, 3.0]))


@exercise.mistake(SOME_ERRORS_CAUGHT)
def errors_for_gradients_caught(impl):
    compared_and_caught(impl, torch.tensor([1.0, 2.0, 3.0], requires_grad=True))


@exercise.mistake(FAILURES_CAUGHT)
def some_failures_caught(impl):
    assert all(compared(impl))
    try:  # noqa: SIM105
        assert impl(torch.tensor([1, 2, 3]), 0).is_floating_point()
    except Exception:
        pass
