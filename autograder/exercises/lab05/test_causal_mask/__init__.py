"""test_causal_mask: a test that distinguishes right causal masks from wrong ones."""

from __future__ import annotations

import torch

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


@exercise.check(points=2)
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

    def own_place_only(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        last = mask.long().cumsum(-1) == mask.long().sum(-1, keepdim=True)
        return mask & last

    def of_numbers(Lq, Lk=None, device=None):
        return lab.causal_mask(Lq, Lk, device).float()

    return {
        "accepts your own": draw.accepted(lab.test_causal_mask, lab.causal_mask),
        "rejects a mask that allows everything": draw.rejects(lab.test_causal_mask, everything),
        "rejects a mask that looks ahead": draw.rejects(lab.test_causal_mask, looks_ahead),
        "rejects a mask that hides the past": draw.rejects(lab.test_causal_mask, own_place_only),
        "rejects a mask that allows the last keys": draw.rejects(lab.test_causal_mask, other_end),
        "rejects a mask that forgets the cache": draw.rejects(lab.test_causal_mask, no_cache),
        "rejects a mask of numbers, 1.0 and 0.0": draw.rejects(lab.test_causal_mask, of_numbers),
        "what it raises for a mask that allows everything": draw.raises(
            lambda: lab.test_causal_mask(everything)
        ),
    }
