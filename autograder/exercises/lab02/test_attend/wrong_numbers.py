"""Wrong tests of attend that look at results, but accept wrong numbers in them."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import batches, right_version


def pairs(impl, given):
    """What is found and what is expected: context and weights of each batch.

    The numbers are the same in each run, because some signs decide what a wrong test accepts.
    """
    torch.manual_seed(0)
    for scores, hidden, mask in given:
        yield from zip(impl(scores, hidden, mask), right_version(scores, hidden, mask), strict=True)


@exercise.mistake(
    "Your test accepts numbers that are one percent too small, and others that are one percent too "
    "large. How large a difference in each number does it allow, and how large a one does the task?"
)
def wide_limit(impl):
    for found, expected in pairs(impl, batches()):
        assert torch.allclose(found, expected, atol=0.05)


TOO_SMALL = "Numbers that are too small pass your test: which sign has the difference then?"


@exercise.mistake(TOO_SMALL)
def size_of_the_largest_difference(impl):
    for found, expected in pairs(impl, batches()):
        assert abs((found - expected).max()) < 1e-9


@exercise.mistake(TOO_SMALL)
def size_of_the_difference_missing(impl):
    for found, expected in pairs(impl, batches()):
        assert found.shape == expected.shape
        assert not found.isnan().any()
        assert (found - expected).max() < 1e-9


@exercise.mistake("Numbers that are too large pass your test: which sign has the difference then?")
def size_of_the_opposite_difference_missing(impl):
    for found, expected in pairs(impl, batches()):
        assert found.shape == expected.shape
        assert not found.isnan().any()
        assert (expected - found).max() < 1e-9


OTHER_CONTEXT = (
    "Your test accepts the right weights with the context of another sentence: perhaps right "
    "weights are enough for it, or right sums, or each of its batches has a single sentence. What "
    "do you know about the context of each sentence?"
)


@exercise.mistake(OTHER_CONTEXT)
def sums_of_all_numbers_compared(impl):
    for found, expected in pairs(impl, batches(1.0, 0.0)):
        assert (found.sum() - expected.sum()).abs() < 1e-9


@exercise.mistake(OTHER_CONTEXT)
def weights_or_context(impl):
    for scores, hidden, mask in batches():
        context, weights = impl(scores, hidden, mask)
        expected, shares = right_version(scores, hidden, mask)
        assert torch.allclose(context, expected) or torch.allclose(weights, shares)


@exercise.mistake(OTHER_CONTEXT)
def one_sentence(impl):
    scores, hidden = torch.randn(1, 5).double(), torch.randn(1, 5, 3).double()
    given = [(scores, hidden, torch.arange(5)[None] < 3)]
    for found, expected in pairs(impl, given):
        assert torch.allclose(found, expected)


SOME_NUMBERS = (
    "A version in which every second number is wrong passes your test. Does the test look at every "
    "number, and must each of its comparisons be true?"
)


@exercise.mistake(SOME_NUMBERS)
def any_instead_of_all(impl):
    for found, expected in pairs(impl, batches()):
        assert torch.isclose(found, expected).any()


@exercise.mistake(SOME_NUMBERS)
def any_instead_of_all_without_padding_alone(impl):
    for found, expected in pairs(impl, batches(empty=3)):
        assert torch.isclose(found, expected).any()


@exercise.mistake(
    "A version whose results are right in the first sentence alone passes your test. Which of its "
    "lines looks at the other sentences?"
)
def first_sentence_only(impl):
    for scores, hidden, mask in batches(empty=3):
        found, expected = impl(scores, hidden, mask), right_version(scores, hidden, mask)
        assert torch.allclose(found[0][0], expected[0][0])
        assert torch.allclose(found[1][0], expected[1][0])


IN_ANOTHER_ORDER = (
    "Your test accepts the right numbers in reversed order within each sentence. Perhaps it "
    "compares only their sums, or only the largest of them. With what could you compare each "
    "number at its own index?"
)


@exercise.mistake(IN_ANOTHER_ORDER)
def sums_of_each_sentence(impl):
    for found, expected in pairs(impl, batches()):
        assert torch.allclose(found.sum(1), expected.sum(1))


@exercise.mistake(IN_ANOTHER_ORDER)
def sums_of_each_sentence_without_padding_alone(impl):
    for found, expected in pairs(impl, batches(empty=3)):
        assert torch.allclose(found.sum(1), expected.sum(1))


@exercise.mistake(
    "Your test rejects a wrong version with another error than AssertionError. Which error does "
    "the task ask for?"
)
def another_error(impl):
    for found, expected in pairs(impl, batches()):
        if not torch.allclose(found, expected):
            raise ValueError("wrong numbers")
