"""Wrong tests of attend that students write: they ask too little, or too much."""

from __future__ import annotations

import torch

from attnlab.seq2seq import attend

from . import (  # noqa: F401 - to register them
    context_alone,
    exercise,
    missing_promises,
    stops_too_early,
    wrong_numbers,
)
from .also_right import (
    batches,
    hold,
    right_version,
    same_numbers,
    same_values,
)
from .wrong_numbers import OTHER_CONTEXT


@exercise.mistake(
    "Your test lets several openly wrong versions pass. Does it reach an `assert` that compares a "
    "result of `impl`, its argument, with a right answer, computed without `impl`?"
)
def asserts_nothing(impl):
    impl(torch.randn(2, 5), torch.randn(2, 5, 3))


@exercise.mistake(
    "Your test accepts even a version that stops with an error. Does it call `impl`, its argument, "
    "in a line that runs (without a `yield`, or a `return` before it), and does this error leave "
    "your test?"
)
def never_calls_it(impl):
    context, _ = right_version(torch.randn(2, 5), torch.randn(2, 5, 3))
    assert context.shape == (2, 3)


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports "
    "by raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    scores, hidden = torch.randn(2, 5), torch.randn(2, 5, 3)
    context, weights = impl(scores, hidden)
    if context.shape != (2, 3):
        raise AssertionError("shape")
    return torch.allclose(weights, scores.softmax(-1), atol=1e-6)


SUMS = (
    "Your test accepts a plain mean, which never looks at a score: its shapes are right, and its "
    "sums. For which scores are its numbers wrong, and which `assert` of your test is false then?"
)


@exercise.mistake(SUMS)
def shapes_only(impl):
    context, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3))
    assert context.shape == (2, 3)
    assert weights.shape == (2, 5)


@exercise.mistake(SUMS)
def sums_without_padding(impl):
    _, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3))
    assert torch.allclose(weights.sum(1), torch.ones(2))


@exercise.mistake(SUMS)
def one_place(impl):
    scores, hidden = torch.randn(1, 1).double(), torch.randn(1, 1, 1).double()
    context, weights = impl(scores, hidden)
    assert torch.allclose(context, hidden[:, 0])
    assert torch.allclose(weights, torch.ones(1, 1).double())


@exercise.mistake(SUMS)
def sums_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    context, weights = impl(torch.randn(2, 5), torch.randn(2, 5, 3), mask)
    assert context.shape == (2, 3)
    assert torch.allclose(weights.sum(1), torch.ones(2))
    assert (weights[~mask] == 0).all()


@exercise.mistake(
    "Your test accepts a version that ignores its mask. Most wrong versions fail at this third "
    "argument of `attend`: which masks does your test try, and must the results be right with each?"
)
def never_masks(impl):
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden)
    expected, shares = right_version(scores, hidden)
    assert torch.allclose(context, expected)
    assert torch.allclose(weights, shares)


@exercise.mistake(OTHER_CONTEXT)
def weights_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    for given in (mask, None):
        _, weights = impl(scores, hidden, given)
        assert torch.allclose(weights, right_version(scores, hidden, given)[1])


WEIGHTS_WITHOUT_SCORES = (
    "Your test accepts a plain mean, whose weights ignore the scores: perhaps it takes the weights "
    "from `impl` itself, or all its scores are equal. From what can you compute the right ones?"
)


@exercise.mistake(WEIGHTS_WITHOUT_SCORES)
def equal_scores(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.zeros(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden, mask)
    expected, shares = right_version(scores, hidden, mask)
    assert torch.allclose(context, expected)
    assert torch.allclose(weights, shares)


@exercise.mistake(WEIGHTS_WITHOUT_SCORES)
def context_of_its_own_weights(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden, mask)
    assert torch.allclose(context, torch.einsum("bt,bth->bh", weights, hidden))
    assert (weights[~mask] == 0).all()


@exercise.mistake(
    "A plain mean passes your test, and so does attention to padding: perhaps `impl` is compared "
    "only with its own results. What is a right answer, computed without `impl`?"
)
def impl_against_itself(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    scores, hidden = torch.randn(2, 5).double(), torch.randn(2, 5, 3).double()
    context, weights = impl(scores, hidden, mask)
    assert torch.allclose(context, torch.einsum("bt,bth->bh", weights, hidden))
    assert torch.allclose(context, impl(scores, hidden, mask)[0])


ORDINARY_RESULTS = (
    "Your test compares ordinary results well, with and without padding, but several versions that "
    "fail elsewhere pass. Read the task again: what does it promise for very high and very low "
    "scores, for gradients, and for the inputs?"
)


@exercise.mistake(ORDINARY_RESULTS)
def ordinary_results(impl):
    hold(impl, batches(1.0, 0.0), same_values)


@exercise.mistake(ORDINARY_RESULTS)
def ordinary_results_and_inputs(impl):
    hold(impl, batches(1.0, 0.0), same_numbers)


@exercise.mistake(
    "Your test rejects your own `attend` as soon as its numbers change in their last digits. How "
    "far apart may two right results be, according to the task?"
)
def equal_to_the_last_digit(impl):
    for batch in batches():
        torch.testing.assert_close(impl(*batch), attend(*batch), atol=0, rtol=0)


@exercise.mistake(
    "Your test tries only ordinary numbers with a mask. Read the task of `attend` again: what does "
    "it promise for huge numbers at padding, for a sentence that is all padding, for gradients, "
    "the dtype and the inputs?"
)
def ordinary_padding_only(impl):
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    same_values(impl, torch.randn(2, 5).double(), torch.randn(2, 5, 3).double(), mask)
