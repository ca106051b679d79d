"""Wrong tests of attend that look at results, but accept wrong numbers in them."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import batches, right_version


def pairs(impl, given):
    """What is found and what is expected: context and weights of each batch."""
    for scores, hidden, mask in given:
        yield from zip(impl(scores, hidden, mask), right_version(scores, hidden, mask), strict=True)


@exercise.mistake("Numbers that are too small pass your test: which sign has the difference then?")
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
    "Your test accepts the right weights with the context of another sentence: perhaps it never "
    "looks at the context's numbers, or only at their sum, or each of its batches has a single "
    "sentence. What do you know about the context of each sentence?"
)


@exercise.mistake(OTHER_CONTEXT)
def sums_of_all_numbers_compared(impl):
    for found, expected in pairs(impl, batches(1.0, 0.0)):
        assert (found.sum() - expected.sum()).abs() < 1e-9


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
    "Your test rejects a wrong version with another error than AssertionError. Which error does "
    "the task ask for?"
)
def another_error(impl):
    for found, expected in pairs(impl, batches()):
        if not torch.allclose(found, expected):
            raise ValueError("wrong numbers")
