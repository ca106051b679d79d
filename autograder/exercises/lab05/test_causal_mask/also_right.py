"""Right tests; the mistakes edit the first of them."""

import torch

from . import exercise


def expected(Lq, Lk):
    return torch.tensor([[j <= i + Lk - Lq for j in range(Lk)] for i in range(Lq)])


SQUARE, MORE_KEYS, FEWER_KEYS = ((1, 1), (4, 4)), ((2, 5), (3, 4)), ((5, 2), (7, 3))
LONG = ((40, 40), (7, 64), (64, 7))


def right_for(impl, *lengths):
    """Assert dtype, shape and every entry for these lengths."""
    for Lq, Lk in lengths:
        mask = impl(Lq, Lk)
        assert mask.dtype == torch.bool
        assert torch.equal(mask, expected(Lq, Lk))


@exercise.also_right
def entry_by_entry(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS + LONG:
        mask = impl(Lq, Lk)
        assert mask.dtype == torch.bool
        assert mask.shape == (Lq, Lk)
        assert torch.equal(mask, expected(Lq, Lk))
    assert torch.equal(impl(4), expected(4, 4))
    assert impl(3, device="meta").device.type == "meta"


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
