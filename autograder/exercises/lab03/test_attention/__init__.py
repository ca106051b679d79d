"""test_attention: a test that distinguishes right versions of attention from wrong ones."""

from __future__ import annotations

import math

import torch

from attnlab.attention import scaled_dot_product_attention
from attnlab.checking.observation import Raised
from gradekit.exercise import write_a_test

from .every_run import ONLY_LAST_DIGITS, WITHOUT_KEYS, later_runs, without_keys

# Without versions that are wrong only if some sizes happen to be equal.
VERSIONS = [
    "no_scale",
    "scale_multiplied",
    "divided_by_d",
    "scaled_by_d_model",
    "scaled_by_d_v",
    "scaled_by_number_of_keys",
    "scaled_by_number_of_queries",
    "scaled_by_first_axis",
    "scaled_after_softmax",
    "softmax_over_queries",
    "softmax_over_axis_1",
    "softmax_over_axis_0",
    "softmax_over_everything",
    "keys_not_transposed",
    "first_axes_transposed",
    "axes_of_a_batch",
    "axes_of_a_batch_or_a_sentence",
    "einsum_of_a_batch",
    "mask_after_softmax",
    "mask_after_softmax_renormalised",
    "allowed_filled_with_infinity",
    "mask_inverted",
    "fill_with_0",
    "fill_with_minus_10",
    "fill_with_minus_10000",
    "fill_with_minus_a_million",
    "mask_added",
    "large_number_subtracted",
    "infinity_times_0",
    "nan_without_keys",
    "uniform_without_keys",
    "outputs_mended_alone",
    "nan_gradients",
    "softmax_without_maximum",
    "epsilon_in_denominator",
    "values_up_to_query_length",
    "keys_mixed",
    "scores_returned",
    "weights_first",
    "outputs_alone",
    "dropout_by_default",
    "always_causal",
    "first_row_of_the_mask",
    "mask_ignored",
    "mask_unsqueezed",
    "mask_as_index",
    "mask_read_one_query_at_a_time",
    "always_float32",
    "weights_always_float64",
    "half_in_float32",
    "weights_detached",
    "queries_changed",
    "mask_changed",
    "values_emptied_in_place",
]

exercise = write_a_test(
    "test_attention",
    of=scaled_dot_product_attention,
    points=8,
    title="Rejects the wrong versions of attention that students write, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error."""
    attention = lab.scaled_dot_product_attention

    def zeros(q, k, v, mask=None):
        return tuple(0 * part for part in attention(q, k, v, mask))

    return {"what loses a failure": draw.lost_failure(lab.test_attention, zeros)}


@exercise.check(points=2.5)
def openly_wrong(lab, draw):
    """Accepts your own attention; rejects it once it is obviously wrong."""
    attention = lab.scaled_dot_product_attention

    def equal_shares(q, k, v, mask=None):
        return attention(0 * q, k, v, mask)

    def no_scale(q, k, v, mask=None):
        return attention(q * math.sqrt(q.shape[-1]), k, v, mask)

    def mask_ignored(q, k, v, mask=None):
        return attention(q, k, v)

    def weights_first(q, k, v, mask=None):
        return attention(q, k, v, mask)[::-1]

    def forbidden_keys(q, k, v, mask=None):
        return attention(q, k, v, None if mask is None else ~mask)

    def on_the_same_numbers(version):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            return draw.rejects(lab.test_attention, version)

    def asks_for(version):
        if on_the_same_numbers(version) is not False:
            return False
        return on_the_same_numbers(attention) is True

    def asks_for_a_difference():
        return all(asks_for(version) for version in (equal_shares, no_scale, mask_ignored))

    def changed(change):
        return lambda q, k, v, mask=None: [change(part) for part in attention(q, k, v, mask)]

    def rejected(version):
        return draw.rejects(lab.test_attention, version)

    def notes_mask(q, k, v, mask=None):
        masks.append(mask)
        return attention(q, k, v, mask)

    def stops(q, k, v, mask=None):
        raise ValueError("this version always stops")

    rejects = {
        "rejects equal weights for all keys": rejected(equal_shares),
        "rejects scores without a scale": rejected(no_scale),
        "rejects a version that ignores the mask": rejected(mask_ignored),
    }
    masks, answers = [], list(rejects.values())
    if answers == [True, True, False]:
        rejected(notes_mask)
    # These only tell apart the tests that accept all three.
    others = {
        "an error": stops,
        "one axis more": changed(lambda part: part[None]),
        "NaN everywhere": changed(lambda part: part * math.nan),
        "numbers that are twice as large": changed(lambda part: 2 * part),
    }
    if any(answer is not False for answer in answers):
        others = {}
    return {
        "asks for results that are not the right ones": asks_for_a_difference(),
        "asks for equal weights if no key is allowed": asks_for(without_keys(attention, 1.0)),
        "asks for NaN if no key is allowed": asks_for(without_keys(attention, math.nan)),
        "asks for the forbidden keys": asks_for(forbidden_keys),
        "asks for weights before outputs": asks_for(weights_first),
        "asks for scores without a scale": asks_for(no_scale),
        "accepts your own": draw.accepted(lab.test_attention, attention),
        **rejects,
        "passes a mask, if that is all it lacks": not masks or any(m is not None for m in masks),
        "rejects nothing but": [name for name, version in others.items() if rejected(version)],
    }


# How much the last digits differ. In half precision, a test should look at the dtype alone.
LAST_DIGITS = {torch.float64: 2**-50, torch.float32: 2**-23}


def with_other_last_digits(part):
    """The same numbers, but for their last digits; a weight that must be 1 is still 1."""
    return torch.where(part == 1, part, part * (1 + LAST_DIGITS.get(part.dtype, 0)))


@exercise.check(points=0.5)
def looks_closely(lab, draw):
    """Accepts your own each time; rejects too low, too high, NaN, or right for equal lengths."""
    attention = lab.scaled_dot_product_attention

    def changed(output=lambda part: part, weights=lambda part: part):
        def version(q, k, v, mask=None):
            first, second = attention(q, k, v, mask)
            return output(first), weights(second)

        return version

    def zeros_unless(right):
        def version(q, k, v, mask=None):
            output, weights = attention(q, k, v, mask)
            return (output, weights) if right(q, k, v) else (0 * output, 0 * weights)

        return version

    wrong = {
        "outputs that are all too small": changed(output=lambda part: part - 1),
        "outputs that are all too large": changed(output=lambda part: part + 1),
        "weights that are all too small": changed(weights=lambda part: part / 2),
        "weights that are all too large": changed(weights=lambda part: part * 2),
        "outputs that are all NaN": changed(output=lambda part: part * math.nan),
        "weights that are all NaN": changed(weights=lambda part: part * math.nan),
        "a version that is right only for as many queries as keys": zeros_unless(
            lambda q, k, v: q.shape[-2] == k.shape[-2]
        ),
        "a version that is right only for keys as long as values": zeros_unless(
            lambda q, k, v: k.shape[-1] == v.shape[-1]
        ),
    }
    stopped = draw.raises(lambda: lab.test_attention(zeros_unless(lambda q, k, v: False)))
    another_error = stopped is not None and stopped.type != "AssertionError"
    own = draw.accepted(lab.test_attention, attention)
    every_run, cause = True, "none"
    if own is True:
        every_run, cause = later_runs(draw, lab.test_attention, attention)
    return {
        "accepts your own": own,
        "accepts your own if a mask leaves a query without keys": cause != WITHOUT_KEYS,
        # What another check asks for.
        "rejects zeros with an AssertionError": not (another_error and own is True),
        "accepts your own in every run": cause == ONLY_LAST_DIGITS or every_run,
        **{f"rejects {name}": draw.rejects(lab.test_attention, f) for name, f in wrong.items()},
    }


@exercise.check(
    points=0.5,
    question="In which dtype do you compare, and how large a difference do you allow?",
)
def last_digits(lab, draw):
    """Accepts right numbers that differ from your own only in their last digits."""
    attention = lab.scaled_dot_product_attention

    def changed(change):
        return lambda q, k, v, mask=None: tuple(change(part) for part in attention(q, k, v, mask))

    digits = changed(with_other_last_digits)
    own = draw.accepted(lab.test_attention, attention)
    only = later_runs(draw, lab.test_attention, attention)[1] == ONLY_LAST_DIGITS
    return {
        # Another cause is told by the checks above, with its error.
        "accepts your own": own is True or only or Raised("AssertionError"),
        "rejects your own in a run in which its numbers differ from the expected ones only in "
        "their last digits": only,
        "rejects numbers that are twice as large": draw.rejects(
            lab.test_attention, changed(lambda part: 2 * part)
        ),
        "accepts other last digits": (
            only or own is not True or draw.accepted(lab.test_attention, digits) is True
        ),
    }
