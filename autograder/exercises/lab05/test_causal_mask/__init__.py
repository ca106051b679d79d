"""test_causal_mask: a test that distinguishes right causal masks from wrong ones."""

from __future__ import annotations

import torch

from attnlab.checking.lost_failures import lost_failure
from attnlab.masks import causal_mask
from gradekit.exercise import write_a_test

from .wrong_masks import WrongMasks

# Without the version that is wrong only if there are no keys at all.
VERSIONS = [
    "transposed",
    "true_means_hidden",
    "diagonal_excluded",
    "one_ahead",
    "numbers",
    "top_left",
    "keys_ignored",
    "queries_ignored",
    "one_short_with_a_cache",
    "always_on_the_cpu",
    "with_more_axes",
    "first_key_for_all",
    "additive",
    "fixed_size",
    "first_key_always",
    "keys_demanded",
    "small_fixed_size",
]

exercise = write_a_test(
    "test_causal_mask",
    of=causal_mask,
    points=4,
    title="Rejects the wrong causal masks that students write, and accepts the right ones.",
    versions=VERSIONS,
)


@exercise.check(points=0.5)
def failures_leave_it(lab, draw):
    """A failed comparison leaves your test as an error."""
    nothing = WrongMasks(lab.causal_mask).nothing
    rejects_zeros = lambda: draw.rejects(lab.test_causal_mask, nothing) is True  # noqa: E731
    lost = lost_failure(lab.test_causal_mask, rejects_zeros)
    return {"what loses a failure": lost}


class NoSuchDeviceError(RuntimeError):
    """The test asks for a device that this machine does not have."""


def asks_for_no_device(lab, draw):
    """Whether what stops the test at the student's own mask is a device that is not there."""

    def notes_devices(Lq, Lk=None, device=None):
        if draw.raises(torch.empty, 0, device=device) is not None:
            raise NoSuchDeviceError
        return lab.causal_mask(Lq, Lk, device)

    stopped = draw.raises(lab.test_causal_mask, notes_devices)
    return stopped is not None and stopped.type == "NoSuchDeviceError"


def right_for_two_lengths(impl):
    assert impl(2, 3).tolist() == [[True, True, False], [True, True, True]]
    assert impl(3, 2).tolist() == [[False, False], [True, False], [True, True]]


def demands(lab, draw, wrong):
    """By sort, whether a test that rejects a right mask accepts wrong ones of this sort."""
    # If a student's own mask is wrong, a test that rejects it may be right.
    own_is_right = draw.raises(right_for_two_lengths, lab.causal_mask) is None
    rejects_right = own_is_right and draw.raises(lab.test_causal_mask, lab.causal_mask) is not None
    demanded = {
        "the opposite mask": wrong.opposite,
        "a mask without a token's own place": wrong.own_place_hidden,
        "the triangle in the top left corner": wrong.no_cache,
        "the triangle in the top left corner, with fewer keys": wrong.top_left_for_fewer,
        "a triangle that is moved the other way": wrong.other_way,
        "last queries that see nothing, with fewer keys": wrong.blocked_last,
        "a key for every query": wrong.a_key_for_all,
    }
    return {
        f"asks for {name}": rejects_right and draw.rejects(lab.test_causal_mask, version) is False
        for name, version in demanded.items()
    }


OF_NUMBERS = "rejects a mask of numbers, 1.0 and 0.0"


def versions_to_tell_apart(rejects, wrong):
    """More wrong versions, for a test that accepts some of the usual ones."""
    accepted = [name for name, answer in rejects.items() if answer is False]
    if accepted == [OF_NUMBERS]:
        return {"one axis more": wrong.one_axis_more}
    if len(accepted) == len(rejects):
        return {
            "an error": wrong.stops,
            "one axis more": wrong.one_axis_more,
            "another mask in each call": wrong.other_each_time,
        }
    return (
        {"the opposite": wrong.opposite, "always square": wrong.always_square} if accepted else {}
    )


@exercise.check(points=1)
def openly_wrong(lab, draw):
    """Accepts your own causal mask; rejects it once it is obviously wrong."""
    wrong = WrongMasks(lab.causal_mask)

    def rejected(version):
        return draw.rejects(lab.test_causal_mask, version)

    rejects = {
        "rejects a mask that allows everything": rejected(wrong.everything),
        "rejects a mask that looks ahead": rejected(wrong.looks_ahead),
        "rejects a mask that hides the past": rejected(wrong.own_place_only),
        "rejects a mask that allows the last keys": rejected(wrong.other_end),
        "rejects a mask that forgets the cache": rejected(wrong.no_cache),
        OF_NUMBERS: rejected(wrong.of_numbers),
    }
    others = versions_to_tell_apart(rejects, wrong)
    accepted = draw.accepted(lab.test_causal_mask, lab.causal_mask)
    no_device = accepted is not True and asks_for_no_device(lab, draw)
    return {
        "asks only for devices that this machine has": not no_device,
        **demands(lab, draw, wrong),
        # torch's own error about a device differs between machines.
        "accepts your own": False if no_device else accepted,
        **rejects,
        "of other wrong versions, it rejects": [
            name for name, version in others.items() if rejected(version)
        ],
        "what it raises for a mask that allows everything": draw.raises(
            lambda: lab.test_causal_mask(wrong.everything)
        ),
    }


@exercise.check(points=0.5)
def wrong_in_some_calls(lab, draw):
    """Accepts your own mask; rejects one that is wrong for fewer keys, or on another device."""
    wrong = WrongMasks(lab.causal_mask)
    versions = {
        "rejects a mask that is wrong with fewer keys than queries only": wrong.top_left_for_fewer,
        "rejects a mask that is on the CPU, whatever `device` is": wrong.on_the_cpu,
    }
    seen = {"accepts your own": draw.accepted(lab.test_causal_mask, lab.causal_mask)}
    seen |= {
        name: draw.rejects(lab.test_causal_mask, version) for name, version in versions.items()
    }
    # This only tells apart the tests that accept one of the two.
    told = any(answer is False for answer in seen.values())
    looks = {"number of axes": wrong.one_axis_more, "dtype": wrong.of_numbers}
    return seen | {
        f"looks at the {what}": told and draw.rejects(lab.test_causal_mask, version)
        for what, version in looks.items()
    }
