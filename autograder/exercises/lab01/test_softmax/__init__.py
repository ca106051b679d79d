"""test_softmax: a test that distinguishes right versions of softmax from wrong ones."""

from __future__ import annotations

import contextlib

import torch
from torch.overrides import TorchFunctionMode

from attnlab.checking.draw import only_raises
from attnlab.checking.observation import NO_REASON, dtype_of
from attnlab.softmax import softmax
from gradekit.exercise import WHICH_LINE_DECIDES, write_a_test

from .conditions import (
    accepted_although_it_stops,
    condition_turned_round,
    dtypes_for_whole_numbers,
    right_version,
)

# Not among them: mistakes in what the task says needs no test.
VERSIONS = [
    "always_first_axis",
    "dim_ignored",
    "over_everything",
    "no_max_subtraction",
    "global_max",
    "max_over_wrong_dim",
    "mean_subtracted",
    "keepdim_missing",
    "squeezed",
    "epsilon_in_denominator",
    "detached",
    "detached_denominator",
    "backward_by_hand_without_the_probability",
    "in_place",
    "in_place_behind_autograd",
    "integers_not_cast",
    "always_float32",
    "half_precision_becomes_float32",
    "sign_turned",
    "powers_of_two",
    "no_exponential",
    "not_normalised",
    "through_numpy",
    "returns_rounded_log_probabilities",
    "minus_infinity_set_to_zero",
]

exercise = write_a_test(
    "test_softmax",
    of=softmax,
    points=8,
    versions=VERSIONS,
    title="Rejects the wrong versions of softmax that students write, and accepts the right ones.",
)


def not_normalised(x, dim=-1):
    return torch.sigmoid(x)


def all_the_same(x, dim=-1):
    return torch.full_like(x, 1 / x.shape[dim], dtype=torch.promote_types(x.dtype, torch.half))


def half_right(x, dim=-1):
    shares = right_version(x, dim)
    index = torch.arange(shares.numel(), device=shares.device).view(shares.shape)
    return torch.where(index < max(1, shares.numel() // 2), shares, 2 * shares)


def reversed_order(x, dim=-1):
    # A test may look at whole numbers in another way, so these are right.
    shares = right_version(x, dim)
    return shares.flip(dim) if x.is_floating_point() else shares


def last_axis_always(x, dim=-1):
    return right_version(x, -1)


def changed(change):
    return lambda x, dim=-1: change(right_version(x, dim))


OTHERS = {
    "an error": only_raises,
    "one axis more": changed(lambda shares: shares[None]),
    "NaN everywhere": changed(lambda shares: shares * torch.nan),
    "numbers that are twice as large": changed(lambda shares: shares * 2),
}


def rejects_nothing_but(draw, test, rejects):
    """Names of `OTHERS` that a test rejects; they only tell apart the tests that reject nothing."""
    if any(answer is not False for answer in rejects.values()):
        return []
    return [name for name, version in OTHERS.items() if draw.rejects(test, version)]


# Of any other dtype, scores are whole numbers.
DTYPES = ("float16", "bfloat16", "float32", "float64")
ACCEPTS = "accepts a right version"
EXCLUDED = " at scores that 1.1 excludes"


def is_excluded(x, dim):
    """Whether 1.1 promises nothing for these scores: NaN, +inf, or a slice of -inf alone."""
    return bool(x.isnan().any() or x.isposinf().any() or x.isneginf().all(dim).any())


def accepted_at_each_dtype(draw, test):
    """Whether `test` accepts a right version; if not, the entry of the last scores that it got.

    Only an AssertionError is about these scores. Any other error has an entry of its own.
    """
    last = [""]

    def watched(x, dim=-1):
        dtype = dtype_of(x) if x.is_floating_point() else "whole-number"
        last[0] = EXCLUDED if is_excluded(x, dim) else f" at {dtype} scores"
        scores = x if x.is_floating_point() else x.double()
        return scores.log_softmax(dim).exp()  # other last digits than torch's own softmax

    names = ["", EXCLUDED, *(f" at {dtype} scores" for dtype in (*DTYPES, "whole-number"))]
    seen = dict.fromkeys((ACCEPTS + name for name in names), True)
    answer = draw.accepted(test, watched)
    if answer is not True:
        seen[ACCEPTS + (last[0] if answer.type == "AssertionError" else "")] = answer
    return seen


class LimitsInDouble(TorchFunctionMode):
    """Compares float16 numbers in float64 if float16 rounds the limit to 0."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name, kwargs = getattr(function, "__name__", "").strip("_"), kwargs or {}
        if name not in ("lt", "le", "gt", "ge") or len(args) < 2 or type(args[1]) is not float:
            return function(*args, **kwargs)
        number, limit = args[:2]
        half = isinstance(number, torch.Tensor) and number.dtype == torch.float16
        if half and 0 < abs(limit) < torch.finfo(torch.float16).smallest_normal / 2**11:
            return function(number.double(), limit)
        return function(*args, **kwargs)


def rejected_by_a_limit_of_zero(draw, test):
    """Whether `test` rejects torch's own softmax, but gets farther with `LimitsInDouble`."""

    def tried(comparisons):
        calls = []

        def counted(x, dim=-1):
            calls.append(None)
            return right_version(x, dim)

        torch.manual_seed(0)
        with comparisons:
            return draw.raises(test, counted), len(calls)

    error, calls = tried(contextlib.nullcontext())
    if error is None:
        return False
    later, more = tried(LimitsInDouble())
    return later is None or more > calls


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error, and so does an error of `impl`."""

    zeros = lambda x, dim=-1: 0 * right_version(x, dim)  # noqa: E731

    def accepts_errors():
        """Other checks ask about a test that rejects nothing, or that has an unknown name."""
        with contextlib.suppress(NameError):
            stops = draw.rejects(lab.test_softmax, only_raises) is not False
            return not stops and draw.rejects(lab.test_softmax, zeros) is True
        return False

    def where_errors_are_lost():
        with contextlib.suppress(NameError):
            if draw.rejects(lab.test_softmax, only_raises) is True:
                return accepted_although_it_stops(draw, lab.test_softmax)
        return "none"

    lost = draw.lost_failure(lab.test_softmax, zeros)
    return {
        "what loses a failure": lost,
        "rejects a version that stops with an error": not accepts_errors(),
        "scores for which a version may stop with an error": (
            where_errors_are_lost() if lost == NO_REASON else "none"
        ),
    }


@exercise.check(
    points=3,
    question=WHICH_LINE_DECIDES,
)
def openly_wrong(lab, draw):
    """Accepts torch's own softmax; rejects three versions that are obviously wrong."""
    limit_of_zero = rejected_by_a_limit_of_zero(draw, lab.test_softmax)
    accepted = draw.accepted(lab.test_softmax, right_version)

    def rejected(version):
        return draw.rejects(lab.test_softmax, version)

    rejects = {
        "rejects shares that do not sum to one": rejected(not_normalised),
        "rejects the same probability for all": rejected(all_the_same),
        "rejects a softmax that ignores dim": rejected(last_axis_always),
    }
    turned_round = accepted is not True and condition_turned_round(draw, lab.test_softmax)
    return {
        "the last comparison before torch's own is rejected": (
            "numbers of float16 and a limit that float16 rounds to 0"
            if limit_of_zero
            else "none, or another one"
        ),
        "the line that rejects right results and accepts wrong ones": (
            (accepted.source_line or "one of them") if turned_round else "none"
        ),
        # The error is that of this comparison.
        "accepts torch's own": True if limit_of_zero else accepted,
        **rejects,
        "rejects nothing but": rejects_nothing_but(draw, lab.test_softmax, rejects),
        "what it raises": draw.raises(lab.test_softmax, not_normalised),
    }


@exercise.check(
    points=0.5,
    question=WHICH_LINE_DECIDES,
)
def right_in_every_dtype(lab, draw):
    """Accepts right results in every dtype; rejects those too low, too high, half wrong or NaN."""

    def scaled(factor):
        """All shares but the first of all, scaled."""

        def version(x, dim=-1):
            shares = right_version(x, dim)
            first = torch.arange(shares.numel(), device=shares.device).view(shares.shape) == 0
            # A test may look at whole numbers in another way, so these are right.
            right = first if x.is_floating_point() else torch.ones_like(first)
            return torch.where(right, shares, factor * shares)

        return version

    found = accepted_at_each_dtype(draw, lab.test_softmax)
    turned_round = False
    if not all(answer is True for answer in found.values()):
        turned_round = condition_turned_round(draw, lab.test_softmax)
    whole = "float32 and float64"
    if not turned_round:
        whole = dtypes_for_whole_numbers(draw, lab.test_softmax)
    if turned_round or whole == "float32 only":  # the version above returns float64
        found = dict.fromkeys(found, True)
    wrong = {
        "the same probability for all": all_the_same,
        "numbers of which the second half is wrong": half_right,
        "numbers that are one percent too small": scaled(0.99),
        "numbers that are one percent too large": scaled(1.01),
        "right numbers in reversed order": reversed_order,
        "results that are NaN throughout": OTHERS["NaN everywhere"],
    }
    rejects = {
        f"rejects {name}": turned_round or draw.rejects(lab.test_softmax, version)
        for name, version in wrong.items()
    }
    return {
        "conditions that right results fail and wrong ones meet": (
            "one of them" if turned_round else "none"
        ),
        "dtypes in which it accepts right results for whole numbers": whole,
        **found,
        **rejects,
        "rejects nothing but": rejects_nothing_but(draw, lab.test_softmax, rejects),
    }
