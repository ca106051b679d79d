"""Wrong tests of attend that students write: they ask too little, or too much."""

from __future__ import annotations

import torch

from attnlab.seq2seq import attend

from . import context_alone, exercise, stops_too_early, wrong_numbers  # noqa: F401 - to register them
from .also_right import (
    batches,
    every_promise,
    hold,
    right_version,
    same_gradients,
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


@exercise.mistake(
    "A version whose weights are cut from torch's graph passes your test, because its numbers are "
    "right. What would show that nothing can be learned about the scores with it?"
)
def numbers_alone(impl):
    hold(impl, batches(), same_numbers)


@exercise.mistake(
    "No score at padding in your test is very far above the tokens' scores. The task of `attend` "
    "says that padding never gets weight, `whatever its score`: which scores have you not tried?"
)
def ordinary_scores_at_padding(impl):
    hold(impl, batches(high=1.0), same_numbers, same_gradients)


@exercise.mistake(
    "A version that puts a low number at padding, but not a very low one, passes your test. The "
    "task of `attend` allows any finite score at a token: which scores have you not tried?"
)
def ordinary_scores_at_tokens(impl):
    hold(impl, batches(low=0.0), same_numbers, same_gradients)


@exercise.mistake(
    "Versions that are wrong for very high scores at padding, or for very low ones at tokens, pass "
    "your test. The task of `attend` allows any finite score: which have you not tried?"
)
def ordinary_scores(impl):
    hold(impl, batches(1.0, 0.0), same_numbers, same_gradients)


wrong = exercise.edits(every_promise)
for name, given in (
    ("", ""),
    ("_nor_high_scores_tried", "high=1.0"),
    ("_nor_low_scores_tried", "low=0.0"),
):
    wrong.several(
        f"inputs_not_compared{name}",
        {
            "batches()": f"batches({given})",
            "same_numbers, same_gradients": "same_values, same_gradients_of_copies",
        },
        "Your test accepts a version that writes into the scores that it is given. With what does "
        "your test compare them after the call, and is that another tensor?",
    )


@exercise.mistake(
    "Your test looks at results alone: a version that writes into its inputs passes, and so does "
    "one whose weights are cut from torch's graph. What is left to look at after a call?"
)
def results_alone(impl):
    hold(impl, batches(), same_values)


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
    "Your test has no sentence that is all padding, although the task of `attend` makes a promise "
    "about it. Which lengths does a batch need?"
)
def no_empty_sentence(impl):
    hold(impl, batches(empty=3), same_numbers, same_gradients)


ORDINARY_AND_NO_EMPTY_SENTENCE = (
    "Your test compares ordinary results well, but several versions that fail elsewhere pass. "
    "What does the task of `attend` promise for a sentence that is all padding, and for very high "
    "and very low scores?"
)
MASKED = "(one for one in batches({}) if one[2] is not None)"
for name, given in (("", "high=1.0, low=0.0, empty=3"), ("_low", "high=1.0, empty=3")):
    for end, held, made in (
        ("", "same_numbers, same_gradients", "batches({})"),
        ("_nor_gradients", "same_numbers", "batches({})"),
        ("_nor_inputs", "same_values", "batches({})"),
        ("_always_with_a_mask", "same_numbers, same_gradients", MASKED),
        ("_nor_gradients_always_with_a_mask", "same_numbers", MASKED),
    ):
        wrong.several(
            f"no_empty_sentence_nor_high{name}_scores{end}",
            {"batches()": made.format(given), "same_numbers, same_gradients": held},
            ORDINARY_AND_NO_EMPTY_SENTENCE,
        )


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


@exercise.mistake(
    "Your test passes a mask each time, so it accepts a version that cannot do without one. What "
    "does the task of `attend` say about a mask that is None?"
)
def always_masks(impl):
    with_a_mask = [batch for batch in batches() if batch[2] is not None]
    hold(impl, with_a_mask, same_numbers, same_gradients)
