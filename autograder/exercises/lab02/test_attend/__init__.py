"""test_attend: a test that accepts right versions of attend and rejects wrong ones."""

from __future__ import annotations

import contextlib
import io

import torch

from attnlab.checking.draw import only_raises
from attnlab.checking.observation import Raised
from attnlab.seq2seq import attend
from gradekit.exercise import WHICH_LINE_DECIDES, write_a_test

from .what_stops import (
    COMPARISON,
    ORDINARY,
    OTHER_ORDER,
    changed,
    last_batch,
    own_accepted,
    swapped,
    what_stops,
)

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
    "scores_overwritten",
    "vectors_assigned_to",
    "weights_detached",
    "weights_returned_detached",
    "tokens_counted",
    "context_of_detached_weights",
    "mask_required",
    "always_float32",
    "hard_attention",
    "log_probabilities_returned",
    "30_below_the_lowest_in_the_context",
    "30_below_the_lowest_in_the_weights",
    "logarithm_of_the_mask_added",
    "mask_assigned_to",
    "context_in_float64",
]

exercise = write_a_test(
    "test_attend",
    of=attend,
    points=4,
    title="Rejects the wrong versions of attend that students write, and accepts the right ones.",
    versions=VERSIONS,
)


def accepts_errors(lab, draw):
    """Whether the test accepts a version that stops with an error."""
    return draw.rejects(lab.test_attend, only_raises) is False


def reads_a_missing_value(test, version):
    """Whether the test reads a name of its own before the name has a value."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            test(version)
    except UnboundLocalError:
        return True
    except KeyboardInterrupt:
        raise
    except BaseException:  # pytest.fail() raises one that is not an Exception
        return False
    return False


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error, and so does an error of `impl`."""
    zeros = changed(lab, lambda part: 0 * part)
    loses_errors = False
    with contextlib.suppress(NameError):  # other checks ask about an unknown name
        rejects_zeros = draw.rejects(lab.test_attend, zeros) is True
        loses_errors = accepts_errors(lab, draw) and rejects_zeros
    goes_on = reads_a_missing_value(lab.test_attend, only_raises)
    return {
        "your test, if `impl` stops with an error": (
            "goes on without a result"
            if goes_on and not reads_a_missing_value(lab.test_attend, lab.attend)
            else "stops"
        ),
        "what loses a failure": draw.lost_failure(lab.test_attend, zeros),
        "rejects a version that stops with an error": not loses_errors,
    }


@exercise.check(
    points=0.5,
    question=WHICH_LINE_DECIDES,
)
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

    def all_but_the_first(percent):
        def change(part):
            first = torch.arange(part.numel()).view_as(part) == 0
            return part.where(first, part + part.abs() * percent / 100)

        return changed(lab, change)

    def every_second_doubled(part):
        factors = torch.ones_like(part).flatten()
        factors[::2] = 2
        return part * factors.view_as(part)

    def later_doubled(part):
        return torch.cat([part[:1], 2 * part[1:]])

    accepted, seed = own_accepted(lab, draw)
    stops = what_stops(lab, draw, accepted, seed)
    # Where the right number is 0, it stays.
    numbers = {
        "numbers that are one percent too small": all_but_the_first(-1),
        "numbers that are one percent too large": all_but_the_first(1),
        "numbers of which every second one is wrong": changed(lab, every_second_doubled),
        "numbers that are right in the first sentence alone": changed(lab, later_doubled),
        "right numbers in reversed order": changed(lab, lambda part: part.flip(-1)),
    }
    raised = draw.raises(lab.test_attend, plain_mean) if accepted is True else None
    rejects = {
        "rejects a plain mean": draw.rejects(lab.test_attend, plain_mean),
        "rejects attention to padding": draw.rejects(lab.test_attend, padding_counts),
        "rejects the context of another sentence": draw.rejects(lab.test_attend, other_sentence),
    }
    # Another entry asks for another error, and for none.
    raised = (
        raised if rejects["rejects a plain mean"] is True and raised else Raised("AssertionError")
    )
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
        **{f"rejects {name}": draw.rejects(lab.test_attend, f) for name, f in numbers.items()},
        "what it raises": raised,
        "accepts even an error": accepts_all and accepts_errors(lab, draw),
    }


@exercise.check(
    points=0.5,
    question="Does your test try such a sentence, and can NaN pass what it compares there?",
)
def padding_alone(lab, draw):
    """Rejects an attend whose results are NaN for a sentence that is all padding."""

    def nan_for_padding_alone(scores, hidden, mask=None):
        results = lab.attend(scores, hidden, mask)
        tokens = torch.ones_like(scores) if mask is None else mask
        empty = (tokens == 0).all(-1)[:, None]
        return tuple(torch.where(empty, torch.nan * part, part) for part in results)

    accepted, seed = own_accepted(lab, draw)
    rejects = draw.rejects(lab.test_attend, nan_for_padding_alone)
    return {
        "rejects NaN for a sentence that is all padding": rejects,
        "accepts even an error": rejects is False and accepts_errors(lab, draw),
        # A test that rejects everything asks nothing about padding.
        "accepts your own": accepted,
        "what stops your test at your own": what_stops(lab, draw, accepted, seed),
    }


@exercise.check(points=0.5)
def order_of_the_results(lab, draw):
    """Takes context and weights in the order of the task: rejects the other order alone."""

    accepted, seed = own_accepted(lab, draw)
    rejects = draw.rejects(lab.test_attend, swapped(lab))
    stops = what_stops(lab, draw, accepted, seed)
    explained = stops == COMPARISON and rejects is True
    return {
        "rejects the other order": rejects,
        "accepts even an error": rejects is False and accepts_errors(lab, draw),
        "the last batch before your own is rejected": (
            last_batch(lab, draw, seed) if explained else ORDINARY
        ),
        "what stops your test at your own": stops,
    }
