"""test_causal_mask: a test that distinguishes right causal masks from wrong ones."""

from __future__ import annotations

import torch

from attnlab.checking.lost_failures import lost_failure
from attnlab.masks import causal_mask
from gradekit.exercise import write_a_test

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

    def nothing(Lq, Lk=None, device=None):
        return torch.zeros_like(lab.causal_mask(Lq, Lk, device))

    rejects_zeros = lambda: draw.rejects(lab.test_causal_mask, nothing) is True  # noqa: E731
    lost = lost_failure(lab.test_causal_mask, rejects_zeros)
    return {"what loses a failure": lost}


@exercise.check(points=1)
def openly_wrong(lab, draw):
    """Accepts your own causal mask; rejects it once it is obviously wrong."""

    def everything(Lq, Lk=None, device=None):
        return torch.ones_like(lab.causal_mask(Lq, Lk, device))

    def looks_ahead(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device).flip(0, 1)

    def other_end(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device).flip(1)

    def no_cache(Lq, Lk=None, device=None):
        longer = max(Lq, Lk or Lq)
        return lab.causal_mask(longer, longer, device)[:Lq, : Lk or Lq]

    def other_way(Lq, Lk=None, device=None):
        longer, keys = 2 * max(Lq, Lk or Lq), Lk or Lq
        return lab.causal_mask(longer, longer, device)[Lq : 2 * Lq, keys : 2 * keys]

    def own_place_only(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        last = mask.long().cumsum(-1) == mask.long().sum(-1, keepdim=True)
        return mask & last

    def of_numbers(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device).float()

    def opposite(Lq, Lk=None, device=None):
        return ~lab.causal_mask(Lq, Lk, device)

    def own_place_hidden(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device) & ~own_place_only(Lq, Lk, device)

    def top_left_for_fewer(Lq, Lk=None, device=None):
        fewer = Lk is not None and Lk < Lq
        return (no_cache if fewer else lab.causal_mask)(Lq, Lk, device)

    def blocked_last(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        return mask.roll(min(0, mask.shape[1] - Lq), 0)

    def a_key_for_all(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        first = torch.arange(mask.shape[1], device=mask.device) == 0
        return mask | first & ~mask.any(-1, keepdim=True)

    def always_square(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lq, device)

    def rejected(version):
        return draw.rejects(lab.test_causal_mask, version)

    def stops(Lq, Lk=None, device=None):
        raise ValueError("this version always stops")

    def one_axis_more(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device)[None]

    def other_each_time(Lq, Lk=None, device=None):
        return torch.rand(lab.causal_mask(Lq, Lk).shape, device=device) < 0.5

    rejects = {
        "rejects a mask that allows everything": rejected(everything),
        "rejects a mask that looks ahead": rejected(looks_ahead),
        "rejects a mask that hides the past": rejected(own_place_only),
        "rejects a mask that allows the last keys": rejected(other_end),
        "rejects a mask that forgets the cache": rejected(no_cache),
        "rejects a mask of numbers, 1.0 and 0.0": rejected(of_numbers),
    }
    # These only tell apart the tests that accept some of them.
    accepted_ones = [name for name, answer in rejects.items() if answer is False]
    others = {}
    if accepted_ones == ["rejects a mask of numbers, 1.0 and 0.0"]:
        others = {"one axis more": one_axis_more}
    elif len(accepted_ones) == len(rejects):
        others = {
            "an error": stops,
            "one axis more": one_axis_more,
            "another mask in each call": other_each_time,
        }
    elif accepted_ones:
        others = {"the opposite": opposite, "always square": always_square}

    def right(impl):
        assert impl(2, 3).tolist() == [[True, True, False], [True, True, True]]
        assert impl(3, 2).tolist() == [[False, False], [True, False], [True, True]]

    class NoSuchDeviceError(RuntimeError):
        """The test asks for a device that this machine does not have."""

    def notes_devices(Lq, Lk=None, device=None):
        if draw.raises(torch.empty, 0, device=device) is not None:
            raise NoSuchDeviceError
        return lab.causal_mask(Lq, Lk, device)

    accepted = draw.accepted(lab.test_causal_mask, lab.causal_mask)
    stopped = None if accepted is True else draw.raises(lab.test_causal_mask, notes_devices)
    no_device = stopped is not None and stopped.type == "NoSuchDeviceError"
    if no_device:
        accepted = False  # torch's own error differs between machines
    # If a student's own mask is wrong, a test that rejects it may be right.
    rejects_right = accepted is not True and draw.raises(right, lab.causal_mask) is None
    demanded = {
        "asks for the opposite mask": opposite,
        "asks for a mask without a token's own place": own_place_hidden,
        "asks for the triangle in the top left corner": no_cache,
        "asks for the triangle in the top left corner, with fewer keys": top_left_for_fewer,
        "asks for a triangle that is moved the other way": other_way,
        "asks for last queries that see nothing, with fewer keys": blocked_last,
        "asks for a key for every query": a_key_for_all,
    }
    asks = {
        name: rejects_right and rejected(version) is False for name, version in demanded.items()
    }
    return {
        "asks only for devices that this machine has": not no_device,
        **asks,
        "accepts your own": accepted,
        **rejects,
        "of other wrong versions, it rejects": [
            name for name, version in others.items() if rejected(version)
        ],
        "what it raises for a mask that allows everything": draw.raises(
            lambda: lab.test_causal_mask(everything)
        ),
    }


@exercise.check(points=0.5)
def wrong_in_some_calls(lab, draw):
    """Accepts your own mask; rejects one that is wrong for fewer keys, or on another device."""

    def top_left_for_fewer(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        keys = mask.shape[1]
        return mask if keys >= Lq else lab.causal_mask(Lq, Lq, device)[:, :keys]

    def on_the_cpu(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk)

    def one_axis_more(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device)[None]

    versions = {
        "rejects a mask that is wrong with fewer keys than queries only": top_left_for_fewer,
        "rejects a mask that is on the CPU, whatever `device` is": on_the_cpu,
    }
    seen = {"accepts your own": draw.accepted(lab.test_causal_mask, lab.causal_mask)}
    seen |= {name: draw.rejects(lab.test_causal_mask, wrong) for name, wrong in versions.items()}
    # This only tells apart the tests that accept one of the two.
    told = any(answer is False for answer in seen.values())
    looks = told and draw.rejects(lab.test_causal_mask, one_axis_more)
    return {**seen, "looks at the number of axes": looks}
