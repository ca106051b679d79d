"""test_attend: a test that accepts right versions of attend and rejects wrong ones."""

from __future__ import annotations

import contextlib
import re

import torch
from torch.overrides import TorchFunctionMode

from attnlab.checking.observation import Raised
from attnlab.checking.rough_comparisons import RoughComparisons
from attnlab.seq2seq import attend
from gradekit.exercise import WHICH_LINE_DECIDES, write_a_test

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
TWO_SHAPES = "a comparison of two shapes"
TURNED_ROUND = "a comparison that does not fail"
COMPARISON = "a comparison that fails"
ANOTHER_ERROR = "another error"

exercise = write_a_test(
    "test_attend",
    of=attend,
    points=4,
    title="Rejects the wrong versions of attend that students write, and accepts the right ones.",
    versions=VERSIONS,
)


# Of two tensors, by name.
COMPARES = {"sub", "rsub", "allclose", "isclose", "equal", "eq", "ne", "mse_loss", "dist"}
SEEDS = 3


class ShapesCompared(TorchFunctionMode):
    """In this block, `differ` says whether the last two tensors compared do not fit each other.

    A difference counts as a comparison. Two tensors with as many axes are perhaps a step of a
    softmax, and an axis of length 1 does not matter if no tensor is repeated along it.
    """

    def __init__(self):
        super().__init__()
        self.differ = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name, pair = getattr(function, "__name__", "").strip("_"), args[:2]
        result = function(*args, **(kwargs or {}))
        several = [x for x in pair if isinstance(x, torch.Tensor) and x.numel() > 1]
        if name in COMPARES and len(several) == 2:
            one, other = (x.shape for x in several)
            if name == "equal" or one == other or len(one) == len(other):
                self.differ = name == "equal" and one != other
            else:
                repeated = torch.broadcast_shapes(one, other).numel()
                self.differ = repeated > min(one.numel(), other.numel())
        return result


def own_accepted(lab, draw):
    """Whether the test accepts the student's own attend, and the seed of the run that says so.

    A test may draw other numbers in each run, so it gets several; the first rejection counts.
    """
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        accepted = draw.accepted(lab.test_attend, lab.attend)
        if accepted is not True:
            break
    return accepted, seed


def compares_two_shapes(lab, draw, seed):
    """Whether the last two tensors that the test compares have different shapes."""
    shapes = ShapesCompared()

    def version(scores, hidden, mask=None):
        results = lab.attend(scores, hidden, mask)
        shapes.differ = False
        return results

    torch.manual_seed(seed)
    with shapes:
        draw.raises(lab.test_attend, version)
    return shapes.differ


def swapped(lab):
    """The student's own attend, with its results in the other order."""

    def version(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return weights, context

    return version


def changed(lab, change):
    """The student's own attend, with both results changed."""
    return lambda scores, hidden, mask=None: tuple(
        change(part) for part in lab.attend(scores, hidden, mask)
    )


def accepts_wrong_numbers(lab, draw, seed):
    """Whether the test accepts numbers that are all too large, and others that are too small."""
    for change in (lambda part: 2 * part.abs() + 1, lambda part: -2 * part.abs() - 1):
        torch.manual_seed(seed)
        if draw.rejects(lab.test_attend, changed(lab, change)) is not False:
            return False
    return True


def gives_another_mask(lab, draw, seed):
    """Whether the last mask that the test gives to `attend` is not boolean."""
    last = [None]

    def version(scores, hidden, mask=None):
        last[0] = mask
        return lab.attend(scores, hidden, mask)

    torch.manual_seed(seed)
    draw.accepted(lab.test_attend, version)
    return last[0] is not None and getattr(last[0], "dtype", None) != torch.bool


def what_stops(lab, draw, accepted, seed):
    """Why the test does not accept the student's own attend, in the run with this seed.

    `accepted` is True, or the error. Of dtypes, only torch's message on two of them counts.
    """
    if accepted is True:
        return "nothing"
    if accepts_wrong_numbers(lab, draw, seed):
        return TURNED_ROUND
    torch.manual_seed(seed)
    if draw.rejects(lab.test_attend, swapped(lab)) is False:
        return OTHER_ORDER
    if accepted.type == "AssertionError":  # that of torch.testing
        if "attribute 'dtype' do not match" in accepted.message:
            return TWO_DTYPES
        told = "attribute 'shape' do not match" in accepted.message
        return TWO_SHAPES if told or compares_two_shapes(lab, draw, seed) else COMPARISON
    message = accepted.message.lower().replace("long int", "long")
    if BOOLEAN.search(message):
        # A message on boolean masks or indices names other dtypes, too, but they do not meet.
        return MASK_NOT_BOOLEAN if gives_another_mask(lab, draw, seed) else ANOTHER_ERROR
    dtypes = set(DTYPE.findall(message))
    two = accepted.type == "RuntimeError" and len(dtypes) > 1
    return TWO_DTYPES if two else ANOTHER_ERROR


def last_batch(lab, draw, seed):
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

        torch.manual_seed(seed)
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


def accepts_errors(lab, draw):
    """Whether the test accepts a version that stops with an error."""

    def always_stops(scores, hidden, mask=None):
        raise ValueError("this version always stops")

    return draw.rejects(lab.test_attend, always_stops) is False


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error, and so does an error of `impl`."""
    zeros = changed(lab, lambda part: 0 * part)
    loses_errors = False
    with contextlib.suppress(NameError):  # other checks ask about an unknown name
        rejects_zeros = draw.rejects(lab.test_attend, zeros) is True
        loses_errors = accepts_errors(lab, draw) and rejects_zeros
    return {
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
