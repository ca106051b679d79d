"""test_attend: a test that accepts right versions of attend and rejects wrong ones."""

from __future__ import annotations

import contextlib
import re

import torch

from attnlab.checking.lost_failures import lost_failure
from attnlab.checking.rough_comparisons import RoughComparisons
from attnlab.seq2seq import attend
from gradekit.exercise import write_a_test

# Without versions that are wrong only for scores or batches that no test needs to try.
VERSIONS = [
    "softmax_over_batch",
    "tokens_filled_with_infinity",
    "masked_after_softmax",
    "scaled_up_afterwards",
    "filled_with_zero",
    "filled_with_some_number",
    "penalty_added",
    "mask_ignored",
    "mask_the_other_way",
    "hidden_masked_only",
    "context_by_scores",
    "scores_returned",
    "context_alone",
    "weights_first",
    "summed_over_features",
    "mean_instead_of_sum",
    "row_axis_kept",
    "nan_for_padding_alone",
    "equal_for_padding_alone",
    "scores_assigned_to",
    "weights_detached",
    "mask_required",
    "always_float32",
    "hard_attention",
    "log_probabilities_returned",
]

ORDINARY = "none, or any other"
LAST_DIGITS = "one whose results are as expected, but for their last digits"
FULL_OF_PADDING = "one with a sentence that is all padding"
NOT_FINITE = "one with a number that is not finite"

DTYPE = re.compile(r"\b(double|float|half|bfloat16|long|int)\b")
BOOLEAN = re.compile(r"\bbool(ean)?\b")
OTHER_ORDER = "the other order of the results"
MASK_NOT_BOOLEAN = "a mask for attend that is not boolean"
TWO_DTYPES = "numbers of two dtypes that meet"
COMPARISON = "a comparison that fails"
ANOTHER_ERROR = "another error"

exercise = write_a_test(
    "test_attend",
    of=attend,
    points=4,
    title="Rejects the wrong versions of attend that students write, and accepts the right ones.",
    versions=VERSIONS,
)


def swapped(lab):
    """The student's own attend, with its results in the other order."""

    def version(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return weights, context

    return version


def gives_another_mask(lab, draw):
    """Whether the last mask that the test gives to `attend` is not boolean."""
    last = [None]

    def version(scores, hidden, mask=None):
        last[0] = mask
        return lab.attend(scores, hidden, mask)

    draw.accepted(lab.test_attend, version)
    return last[0] is not None and getattr(last[0], "dtype", None) != torch.bool


def what_stops(lab, draw, accepted):
    """Why the test does not accept the student's own attend.

    `accepted` is True, or the error. Of dtypes, only torch's message on two of them counts.
    """
    if accepted is True:
        return "nothing"
    if draw.rejects(lab.test_attend, swapped(lab)) is False:
        return OTHER_ORDER
    if accepted.type == "AssertionError":  # that of torch.testing
        two = "attribute 'dtype' do not match" in accepted.message
        return TWO_DTYPES if two else COMPARISON
    message = accepted.message.lower().replace("long int", "long")
    if BOOLEAN.search(message):
        # A message on boolean masks or indices names other dtypes, too, but they do not meet.
        return MASK_NOT_BOOLEAN if gives_another_mask(lab, draw) else ANOTHER_ERROR
    dtypes = set(DTYPE.findall(message))
    two = accepted.type == "RuntimeError" and len(dtypes) > 1
    return TWO_DTYPES if two else ANOTHER_ERROR


def last_batch(lab, draw):
    """What is special about the last batch that a test tries before it rejects the right answer.

    A test gets farther with another answer, or with rough comparisons, if it raises nothing or
    calls its argument more often.
    """

    def tried(change, comparisons):
        """What the test raises, and for each of its calls what is special about its batch."""
        calls = []

        def version(scores, hidden, mask=None):
            context, weights = lab.attend(scores, hidden, mask)
            empty = torch.zeros(len(scores)).bool() if mask is None else (mask == 0).all(-1)
            if not (scores.isfinite().all() and hidden.isfinite().all()):
                calls.append(NOT_FINITE)
            else:
                calls.append(FULL_OF_PADDING if bool(empty.any()) else ORDINARY)
            others = change(scores, hidden)
            return tuple(
                torch.where(empty[:, None], other, own)
                for own, other in zip((context, weights), others, strict=True)
            )

        torch.manual_seed(0)
        with comparisons:
            error = draw.raises(lab.test_attend, version)
        return error, calls

    def zeros(scores, hidden):
        return 0 * hidden[:, 0], 0 * scores

    def equal_weights(scores, hidden):
        return hidden.mean(1), torch.ones_like(scores) / scores.shape[1]

    def nan(scores, hidden):
        return hidden[:, 0] * torch.nan, scores * torch.nan

    def gets_farther(change, comparisons):
        error, more = tried(change, comparisons)
        return error is None or len(more) > len(calls)

    error, calls = tried(zeros, contextlib.nullcontext())
    if error is None or not calls:
        return ORDINARY
    if gets_farther(zeros, RoughComparisons()):
        return LAST_DIGITS
    if calls[-1] != FULL_OF_PADDING:
        return calls[-1]
    others = any(
        gets_farther(one, RoughComparisons(nan_equal=True)) for one in (equal_weights, nan)
    )
    return FULL_OF_PADDING if others else ORDINARY


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error."""

    def zeros(scores, hidden, mask=None):
        return tuple(0 * part for part in lab.attend(scores, hidden, mask))

    rejects_zeros = lambda: draw.rejects(lab.test_attend, zeros) is True  # noqa: E731
    lost = lost_failure(lab.test_attend, rejects_zeros)
    return {"what loses a failure": lost}


@exercise.check(points=0.5)
def openly_wrong(lab, draw):
    """Accepts your own attend, whatever its last digits; rejects it once it is obviously wrong."""

    def last_digits(scores, hidden, mask=None):
        return tuple(part * (1 + 2**-50) for part in lab.attend(scores, hidden, mask))

    def plain_mean(scores, hidden, mask=None):
        return lab.attend(torch.zeros_like(scores), hidden, mask)

    def padding_counts(scores, hidden, mask=None):
        return lab.attend(scores, hidden)

    def other_sentence(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return context.flip(0), weights

    def always_stops(scores, hidden, mask=None):
        raise ValueError("this version always stops")

    accepted = draw.accepted(lab.test_attend, lab.attend)
    stops = what_stops(lab, draw, accepted)
    rejects = {
        "rejects a plain mean": draw.rejects(lab.test_attend, plain_mean),
        "rejects attention to padding": draw.rejects(lab.test_attend, padding_counts),
        "rejects the context of another sentence": draw.rejects(lab.test_attend, other_sentence),
    }
    # This only tells apart the tests that accept all three.
    accepts_all = all(answer is False for answer in rejects.values())
    return {
        "first result of `attend`, as your test takes it": (
            "the weights" if stops == OTHER_ORDER else "the context"
        ),
        "accepts your own": accepted,
        "what stops your test at your own": stops,
        "times that it rejects your own with other last digits": int(
            draw.raises(lab.test_attend, last_digits) is not None
        ),
        **rejects,
        "accepts even an error": (
            accepts_all and draw.rejects(lab.test_attend, always_stops) is False
        ),
    }


@exercise.check(points=0.5)
def padding_alone(lab, draw):
    """Rejects an attend whose results are NaN for a sentence that is all padding."""

    def nan_for_padding_alone(scores, hidden, mask=None):
        results = lab.attend(scores, hidden, mask)
        tokens = torch.ones_like(scores) if mask is None else mask
        empty = (tokens == 0).all(-1)[:, None]
        return tuple(torch.where(empty, torch.nan * part, part) for part in results)

    accepted = draw.accepted(lab.test_attend, lab.attend)
    return {
        "rejects NaN for a sentence that is all padding": draw.rejects(
            lab.test_attend, nan_for_padding_alone
        ),
        # A test that rejects everything asks nothing about padding.
        "accepts your own": accepted,
        "what stops your test at your own": what_stops(lab, draw, accepted),
    }


@exercise.check(points=0.5)
def order_of_the_results(lab, draw):
    """Takes context and weights in the order of the task: rejects the other order alone."""

    accepted = draw.accepted(lab.test_attend, lab.attend)
    rejects = draw.rejects(lab.test_attend, swapped(lab))
    stops = what_stops(lab, draw, accepted)
    explained = stops == COMPARISON and rejects is True
    return {
        "rejects the other order": rejects,
        "the last batch before your own is rejected": (
            last_batch(lab, draw) if explained else ORDINARY
        ),
        "what stops your test at your own": stops,
    }
