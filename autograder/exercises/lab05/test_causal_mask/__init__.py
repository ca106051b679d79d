"""test_causal_mask: a test that distinguishes right causal masks from wrong ones."""

from __future__ import annotations

import torch

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
    return {"what loses a failure": draw.lost_failure(lab.test_causal_mask, nothing)}


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


def reads_entries_on_meta(lab, draw, accepted):
    """Whether what stops the test at the student's own mask is that "meta" has no entries."""
    if accepted is True or draw.raises(lab.causal_mask, 3, device="meta") is not None:
        return False
    compares_devices = accepted.message.startswith("The values for attribute 'device'")
    about_entries = accepted.type != "AssertionError" or compares_devices
    return about_entries and "meta" in accepted.message.lower()


def compares_device_with_text(lab, draw, wrong, accepted):
    """Whether the test rejects the student's own mask, and accepts it if its device is text."""
    return (
        accepted is not True
        and draw.rejects(lab.test_causal_mask, wrong.with_device_as_text) is False
    )


def asks_for_square_masks_only(lab, draw):
    """Whether the test asks for masks, and for none with more or fewer keys than queries."""
    square = []

    def notes_lengths(Lq, Lk=None, device=None):
        square.append(Lk is None or Lk == Lq)
        return lab.causal_mask(Lq, Lk, device)

    draw.rejects(lab.test_causal_mask, notes_lengths)
    return bool(square) and all(square)


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
        "the later keys and a token's own place": wrong.later_and_own_place,
    }
    return {
        f"asks for {name}": rejects_right and draw.rejects(lab.test_causal_mask, version) is False
        for name, version in demanded.items()
    }


WITHOUT_THE_CACHE = "rejects a mask that forgets the cache"
OF_NUMBERS = "rejects a mask of numbers, 1.0 and 0.0"


def what_it_rejects(lab, draw, wrong):
    """By sort, whether the test rejects an obviously wrong mask."""
    versions = {
        "rejects a mask that allows everything": wrong.everything,
        "rejects a mask that looks ahead": wrong.looks_ahead,
        "rejects a mask that hides the past": wrong.own_place_only,
        "rejects a mask that allows the last keys": wrong.other_end,
        WITHOUT_THE_CACHE: wrong.no_cache,
        OF_NUMBERS: wrong.of_numbers,
    }
    rejects = {
        name: draw.rejects(lab.test_causal_mask, version) for name, version in versions.items()
    }
    looks_at_entries = any(rejects[name] is True for name in rejects if name != OF_NUMBERS)
    some_are_meant = any(isinstance(answer, str) for answer in rejects.values())
    accepts_own = draw.rejects(lab.test_causal_mask, lab.causal_mask) is False
    if (
        (looks_at_entries and accepts_own and not some_are_meant)
        and rejects[WITHOUT_THE_CACHE] is False
        and asks_for_square_masks_only(lab, draw)
    ):
        # Only the dtype is said as well: what else this test accepts is the matter of the next try.
        return dict.fromkeys(rejects, True) | {
            name: rejects[name] for name in (WITHOUT_THE_CACHE, OF_NUMBERS)
        }
    return rejects


def versions_to_tell_apart(rejects, wrong, rejected):
    """More wrong versions, for a test that accepts some of the usual ones."""
    accepted = [name for name, answer in rejects.items() if answer is False]
    if accepted == [OF_NUMBERS]:
        return {"one axis more": wrong.one_axis_more}
    if len(accepted) == len(rejects):
        # A test of a few entries rejects a random mask by chance.
        if rejected(wrong.opposite):
            return {"the opposite": wrong.opposite}
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

    rejects = what_it_rejects(lab, draw, wrong)
    others = versions_to_tell_apart(rejects, wrong, rejected)
    accepted = draw.accepted(lab.test_causal_mask, lab.causal_mask)
    no_device = accepted is not True and asks_for_no_device(lab, draw)
    on_meta = not no_device and reads_entries_on_meta(lab, draw, accepted)
    as_text = compares_device_with_text(lab, draw, wrong, accepted)
    return {
        "asks only for devices that this machine has": not no_device,
        'looks at no entries of a mask on "meta"': not on_meta,
        "compares no device with text": not as_text,
        **demands(lab, draw, wrong),
        # torch's own errors about devices differ between machines and between calls.
        "accepts your own": False if no_device or on_meta or as_text else accepted,
        **rejects,
        "of other wrong versions, it rejects": [
            name for name, version in others.items() if rejected(version)
        ],
        "what it raises for a mask that allows everything": None
        if on_meta
        else draw.raises(lambda: lab.test_causal_mask(wrong.everything)),
    }


@exercise.check(points=0.5)
def wrong_in_some_calls(lab, draw):
    """Accepts your own mask; rejects one that is wrong for fewer keys or on another device, or has
    an axis too many."""
    wrong = WrongMasks(lab.causal_mask)
    versions = {
        "rejects a mask that is wrong with fewer keys than queries only": wrong.top_left_for_fewer,
        "rejects a mask that is on the CPU, whatever `device` is": wrong.on_the_cpu,
        "rejects a mask with an axis too many": wrong.one_axis_more,
    }
    seen = {"accepts your own": draw.accepted(lab.test_causal_mask, lab.causal_mask)}
    seen |= {
        name: draw.rejects(lab.test_causal_mask, version) for name, version in versions.items()
    }
    # This only tells apart the tests that accept one of these.
    told = any(answer is False for answer in seen.values())
    looks = what_it_rejects(lab, draw, wrong) if told else {}
    if looks:
        looks["rejects the opposite"] = draw.rejects(lab.test_causal_mask, wrong.opposite)
    return seen | {
        "of obviously wrong versions, it accepts": [name for name in looks if not looks[name]],
        "looks at the dtype": told and draw.rejects(lab.test_causal_mask, wrong.of_numbers),
    }
