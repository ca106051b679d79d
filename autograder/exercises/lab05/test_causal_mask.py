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

    def no_cache(Lq, Lk=None, device=None):
        longer = max(Lq, Lk or Lq)
        return lab.causal_mask(longer, longer, device)[:Lq, : Lk or Lq]

    def own_place_only(Lq, Lk=None, device=None):
        mask = lab.causal_mask(Lq, Lk, device)
        last = mask.long().cumsum(-1) == mask.long().sum(-1, keepdim=True)
        return mask & last

    return {
        "accepts your own": draw.accepted(lab.test_causal_mask, lab.causal_mask),
        "rejects a mask that allows everything": draw.rejects(lab.test_causal_mask, everything),
        "rejects a mask that looks ahead": draw.rejects(lab.test_causal_mask, looks_ahead),
        "rejects a mask that hides the past": draw.rejects(lab.test_causal_mask, own_place_only),
        "rejects a mask that forgets the cache": draw.rejects(lab.test_causal_mask, no_cache),
    }


def expected(Lq, Lk):
    return torch.tensor([[j <= i + Lk - Lq for j in range(Lk)] for i in range(Lq)])


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(4)


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports by "
    "raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    if impl(4).shape != (4, 4):
        raise AssertionError("shape")
    return torch.equal(impl(4), expected(4, 4)) and torch.equal(impl(2, 5), expected(2, 5))


@exercise.mistake(
    "Your test tries only square masks. Which lengths show where the triangle of a mask with a "
    "cache begins?"
)
def square_only(impl):
    mask = impl(5)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, expected(5, 5))


@exercise.mistake(
    "Your test looks at shapes and dtypes, but at no entry. Which entries must be True, and which "
    "False?"
)
def shape_only(impl):
    for Lq, Lk in ((5, None), (2, 7), (4, 2)):
        mask = impl(Lq, Lk)
        assert mask.shape == (Lq, Lk or Lq)
        assert mask.dtype == torch.bool


@exercise.mistake(
    "Your test only asserts that no query sees ahead, so a mask that also hides earlier keys would "
    "pass. What must every place be able to see?"
)
def future_only(impl):
    for Lq, Lk in ((5, 5), (2, 7)):
        mask = impl(Lq, Lk)
        assert mask.shape == (Lq, Lk)
        assert not (mask & ~expected(Lq, Lk)).any()
        assert mask.any()


@exercise.mistake(
    "Your test rejects right masks: it expects True for the keys that are hidden. What does True "
    "mean in the task of 5.1?"
)
def inverted_demanded(impl):
    assert torch.equal(impl(4), ~expected(4, 4))


@exercise.mistake(
    "Your test rejects right masks: it expects the triangle in the top left corner when there are "
    "more keys than queries. According to the task of 5.1, at which key does the last query stand?"
)
def top_left_demanded(impl):
    assert torch.equal(impl(4), expected(4, 4))
    assert torch.equal(impl(2, 5), torch.ones(2, 5).tril().bool())


@exercise.mistake(
    "Your test compares numbers, but neither their dtype nor their device: 1.0 equals True. What "
    "does the task promise about these two?"
)
def entries_only(impl):
    for Lq, Lk in ((4, 4), (8, 8), (2, 7), (5, 3)):
        assert (impl(Lq, Lk) == expected(Lq, Lk)).all()


@exercise.also_right
def by_properties(impl):
    for Lq, Lk in ((1, 1), (7, 7), (9, 9), (3, 8), (1, 12), (6, 2)):
        mask = impl(Lq, Lk)
        assert mask.dtype is torch.bool
        assert tuple(mask.shape) == (Lq, Lk)
        for i in range(Lq):
            own_place = i + Lk - Lq
            for j in range(Lk):
                assert bool(mask[i, j]) == (j <= own_place)
    assert torch.equal(impl(6), impl(6, 6))
    assert impl(2, 3, device="meta").is_meta


@exercise.also_right
def by_tril(impl):
    def same(mask, Lq, Lk):
        torch.testing.assert_close(mask, torch.ones(Lq, Lk, dtype=bool).tril(Lk - Lq))

    for Lq in range(1, 10):
        same(impl(Lq), Lq, Lq)
        for Lk in range(1, 10):
            same(impl(Lq, Lk), Lq, Lk)
    assert impl(4, device=torch.device("meta")).device.type == "meta"
