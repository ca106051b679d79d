"""Wrong tests of attend that reject right answers, or whose failures are lost."""

from __future__ import annotations

import torch

from gradekit.exercise import FAILURES_CAUGHT, RESULTS_UNREAD, TUPLES_ASSERTED

from . import exercise
from .also_right import batches, hold, right_version, same_values

OTHER_ORDER = (
    "Your test accepts context and weights in the other order, but not in the task's. Which of "
    "them does `attend` return first, and into which of your names does it go?"
)


@exercise.mistake(OTHER_ORDER)
def results_in_the_other_order(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, shares = right_version(scores, hidden)
    weights, found = impl(scores, hidden)
    assert torch.allclose(weights, shares)
    assert torch.allclose(found, context)


@exercise.mistake(OTHER_ORDER)
def shapes_in_the_other_order(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    weights, found = impl(scores, hidden)
    torch.testing.assert_close((found, weights), right_version(scores, hidden))


@exercise.mistake(
    "The last batch that your test tries before it rejects your own `attend` has a sentence that "
    "is all padding. What does your test expect for it: zeros, NaN, or equal weights?"
)
def nan_expected_for_padding_alone(impl):
    mask = torch.arange(5) < torch.tensor([[3], [0]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    shares = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    context, weights = impl(scores, hidden, mask)
    assert torch.allclose(weights, shares)
    assert torch.allclose(context, torch.einsum("bt,bth->bh", shares, hidden))


TWO_DTYPES = (
    "Numbers of two dtypes meet in your test, and torch stops there. Which dtype do "
    "`torch.ones(…)` and `torch.randn(…)` make, and which one have the inputs and the results of "
    "your own `attend`?"
)


@exercise.mistake(TWO_DTYPES)
def ones_of_float32(impl):
    _, weights = impl(torch.randn(2, 5).double(), torch.randn(2, 5, 3).double())
    assert torch.allclose(weights.sum(-1), torch.ones(2))


@exercise.mistake(TWO_DTYPES)
def ones_of_float32_first(impl):
    _, weights = impl(torch.randn(2, 5).double(), torch.randn(2, 5, 3).double())
    assert torch.allclose(torch.ones(2), weights.sum(-1))


@exercise.mistake(TWO_DTYPES)
def ones_of_float32_in_torch_testing(impl):
    _, weights = impl(torch.randn(2, 5).double(), torch.randn(2, 5, 3).double())
    torch.testing.assert_close(weights.sum(-1), torch.ones(2))


MASK_NOT_BOOLEAN = (
    "The third argument that your test gives to `attend` is not boolean. In which order does the "
    "docstring of 2.3 name the arguments, and which dtype has the third one?"
)


def results_with_a_mask(impl, mask):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    torch.testing.assert_close(impl(scores, hidden, mask), right_version(scores, hidden, mask == 1))


@exercise.mistake(MASK_NOT_BOOLEAN)
def mask_of_whole_numbers(impl):
    results_with_a_mask(impl, torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]))


@exercise.mistake(MASK_NOT_BOOLEAN)
def mask_of_floating_numbers(impl):
    results_with_a_mask(impl, torch.tensor([[1.0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]))


WRONG_EXPECTATION = (
    "Your test rejects your own `attend`. Which of its comparisons fails, if any, and which side "
    "of it is wrong? Compute both sides by hand, for two sentences of three places."
)
TWO_SHAPES = (
    "The last two tensors that your test compares before it rejects your own `attend` have "
    "different shapes. Print both shapes: what does each of their axes count?"
)


@exercise.mistake(TWO_SHAPES)
def row_of_weights_missing(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    assert torch.allclose(context, weights @ hidden)


@exercise.mistake(TWO_SHAPES)
def axis_of_one_kept(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    assert (context - weights[:, None] @ hidden).abs().max() < 1e-9


@exercise.mistake(TWO_SHAPES)
def axis_of_one_in_torch_testing(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    torch.testing.assert_close(context, weights[:, None] @ hidden)


@exercise.mistake(WRONG_EXPECTATION)
def wrong_expectation(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    _, weights = impl(scores, hidden)
    assert torch.allclose(weights, scores.sigmoid())


@exercise.mistake(WRONG_EXPECTATION)
def rounded_constants(impl):
    scores, hidden = torch.tensor([[1.0, 2.0]]).double(), torch.eye(2).double()[None]
    _, weights = impl(scores, hidden)
    assert (weights - torch.tensor([[0.269, 0.731]]).double()).abs().max() < 1e-9


@exercise.mistake(WRONG_EXPECTATION)
def rounded_constants_as_numbers(impl):
    scores, hidden = torch.tensor([[1.0, 2.0]]).double(), torch.eye(2).double()[None]
    _, weights = impl(scores, hidden)
    assert abs(weights[0, 0].item() - 0.2689) < 1e-9


@exercise.mistake(
    "At your own `attend`, your test stops with another error than AssertionError. Which shapes, "
    "kinds and dtypes have the values in the line where it stops?"
)
def error_of_its_own(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    assert torch.allclose(context, (weights * hidden).sum(1))


NOT_FINITE = (
    "The last batch that your test tries before it rejects your own `attend` holds a number that "
    "is not finite. Which scores and vectors does the task of `attend` speak of, at padding, too?"
)


@exercise.mistake(NOT_FINITE)
def nan_in_vectors_of_padding(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = right_version(scores, hidden, mask)
    found = impl(scores, hidden.masked_fill(~mask[..., None], torch.nan), mask)
    torch.testing.assert_close(found, (context, weights))


@exercise.mistake(NOT_FINITE)
def nan_in_scores_of_padding(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    found = impl(scores.masked_fill(~mask, torch.nan), hidden, mask)
    torch.testing.assert_close(found, right_version(scores, hidden, mask))


@exercise.mistake(
    "Your test rejects your own `attend`, but accepts openly wrong numbers. Is the condition of "
    "its `assert`, or of the `if` before its `raise`, true or false for a right result?"
)
def turned_round(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    for found, expected in zip(impl(scores, hidden), right_version(scores, hidden), strict=True):
        assert not torch.allclose(found, expected)


TURNED_IN_ONE_BATCH = (
    "Your test stops at your own `attend`, but goes on if the {} there are openly wrong. Is the "
    "condition of the line where it stops (or of the `if` before it) true or false for right ones?"
)


@exercise.mistake(TURNED_IN_ONE_BATCH.format("numbers of the context"))
def turned_round_for_the_context(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    expected, shares = right_version(scores, hidden)
    assert torch.allclose(weights, shares)
    assert not torch.allclose(context, expected)


@exercise.mistake(TURNED_IN_ONE_BATCH.format("weights"))
def turned_round_for_the_weights(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    expected, shares = right_version(scores, hidden)
    assert (weights - shares).abs().max() > 1e-9
    assert torch.allclose(context, expected)


@exercise.mistake(TURNED_IN_ONE_BATCH.format("results"))
def turned_round_without_padding(impl):
    for scores, hidden, mask in batches():
        for found, expected in zip(
            impl(scores, hidden, mask), right_version(scores, hidden, mask), strict=True
        ):
            if torch.allclose(found, expected) == (mask is None):
                raise AssertionError("wrong numbers")


LAST_DIGITS = (
    "The last results that your test sees before it rejects your own `attend` differ from the "
    "expected ones only in their last digits. How large a difference does the dtype of your "
    "numbers need, and how large a one does your comparison allow?"
)


@exercise.mistake(LAST_DIGITS)
def exactly_equal(impl):
    for size in (41, 57):
        scores = torch.randn(31, size, dtype=torch.float64)
        hidden = torch.randn(31, size, 7, dtype=torch.float64)
        context, _ = impl(scores, hidden)
        assert torch.equal(context, (scores.softmax(1)[..., None] * hidden).sum(1))


@exercise.mistake(LAST_DIGITS)
def exact_numbers(impl):
    mask = torch.arange(41) < torch.tensor([[33], [0], [41]])
    for _ in range(9):
        scores, hidden = torch.randn(3, 41).double(), torch.randn(3, 41, 7).double()
        context, weights = impl(scores, hidden, mask)
        exp = scores.exp() * mask
        shares = exp / exp.sum(1, keepdim=True).clamp(min=1e-30)
        assert torch.equal(weights, shares)
        assert torch.equal(context, torch.einsum("bt,bth->bh", shares, hidden))


@exercise.mistake(LAST_DIGITS)
def single_precision_held_to_double(impl):
    mask = torch.arange(41) < torch.tensor([[33], [0], [41]])
    for _ in range(9):
        scores, hidden = torch.randn(3, 41), torch.randn(3, 41, 7)
        context, weights = right_version(scores.double(), hidden.double(), mask)
        found = impl(scores, hidden, mask)
        assert torch.allclose(found[0].double(), context, atol=1e-12, rtol=0)
        assert torch.allclose(found[1].double(), weights, atol=1e-12, rtol=0)


@exercise.mistake(TUPLES_ASSERTED)
def tuple_asserted(impl):
    for scores, hidden, mask in batches():
        context, weights = impl(scores, hidden, mask)
        right, shares = right_version(scores, hidden, mask)
        # A list is as true as a tuple, but Python does not warn of it here.
        assert [torch.allclose(context, right), "context"]
        assert [torch.allclose(weights, shares), "weights"]


def result_overwritten(impl, given):
    """Only the result for the last batch is asserted."""
    for scores, hidden, mask in given:
        context, weights = impl(scores, hidden, mask)
        expected, shares = right_version(scores, hidden, mask)
        right = torch.allclose(context, expected) and torch.allclose(weights, shares)
    assert right


@exercise.mistake(RESULTS_UNREAD)
def only_the_last_result_read(impl):
    result_overwritten(impl, [*batches(empty=3)][:2])


@exercise.mistake(RESULTS_UNREAD)
def only_the_last_result_read_of_padding_alone(impl):
    result_overwritten(impl, [*batches()][1::-1])


@exercise.mistake(RESULTS_UNREAD)
def result_unread(impl):
    for scores, hidden, mask in batches():
        context, weights = impl(scores, hidden, mask)
        right, shares = right_version(scores, hidden, mask)
        torch.allclose(context, right)
        torch.allclose(weights, shares)


@exercise.mistake(
    "Your test accepts a version that stops with an error, although it rejects wrong numbers: "
    "perhaps an `except` around the call of `impl` lets the test go on or end without an error. "
    "What should your test do if `impl` has no result?"
)
def errors_of_impl_caught(impl):
    for scores, hidden, mask in batches():
        try:
            found = impl(scores, hidden, mask)
        except Exception:
            return
        torch.testing.assert_close(found, right_version(scores, hidden, mask))


WITHOUT_A_RESULT = (
    "If `impl` stops with an error, your test goes on without its result. What should it do then?"
)


@exercise.mistake(WITHOUT_A_RESULT)
def error_of_impl_printed(impl):
    for scores, hidden, mask in batches():
        try:
            context, weights = impl(scores, hidden, mask)
        except Exception as error:
            print(error)
        expected, shares = right_version(scores, hidden, mask)
        assert torch.allclose(context, expected)
        assert torch.allclose(weights, shares)


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        hold(impl, batches(), same_values)
    except AssertionError:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        hold(impl, batches(), same_values)
    except Exception:
        pass
