"""Why a test does not accept the student's own attend."""

from __future__ import annotations

import contextlib
import math
import re

import torch
from torch.overrides import TorchFunctionMode

from attnlab.checking.rough_comparisons import RoughComparisons

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
TURNED_IN_ONE_BATCH = "a comparison that fails if its {} are right"
COMPARISON = "a comparison that fails"
ANOTHER_ERROR = "another error"

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


def too_large(part):
    """Numbers that are all too large."""
    return 2 * part.abs() + 1


def too_small(part):
    """Numbers that are all too small."""
    return -2 * part.abs() - 1


def accepts_wrong_numbers(lab, draw, seed):
    """Whether the test accepts numbers that are all too large, and others that are too small."""
    for change in (too_large, too_small):
        torch.manual_seed(seed)
        if draw.rejects(lab.test_attend, changed(lab, change)) is not False:
            return False
    return True


def turned_round_in_one_batch(lab, draw, seed):
    """Of which results a wrong number gets the test past the line where it rejects the own attend.

    Both too large and too small ones must do so, in one of the last two calls before that line.
    """

    def calls_until_stopped(change, of, number):
        """How many calls the test makes before it raises an error, without end if it raises none.

        `change` is applied to the results with these indices, in one call.
        """
        calls = 0

        def version(scores, hidden, mask=None):
            nonlocal calls
            calls += 1
            both = enumerate(lab.attend(scores, hidden, mask))
            return tuple(
                change(part) if calls == number and index in of else part for index, part in both
            )

        torch.manual_seed(seed)
        return math.inf if draw.raises(lab.test_attend, version) is None else calls

    last = calls_until_stopped(too_large, (), 0)
    for name, of in (("contexts", [0]), ("weights", [1]), ("results", [0, 1])):
        for number in range(last, max(last - 2, 0), -1):
            if all(calls_until_stopped(one, of, number) > last for one in (too_large, too_small)):
                return name
    return None


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
    if accepted.type == "NotImplementedError":
        return "nothing is written yet"
    if accepts_wrong_numbers(lab, draw, seed):
        return TURNED_ROUND
    if wrong := turned_round_in_one_batch(lab, draw, seed):
        return TURNED_IN_ONE_BATCH.format(wrong)
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
