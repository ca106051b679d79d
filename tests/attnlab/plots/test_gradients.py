"""Figures of limited gradients and of micro-batches: their data."""

from __future__ import annotations

import torch

from attnlab import plots
from attnlab.optimizers import clip_global_norm
from attnlab.train_step import accumulate


def test_a_limit_prevents_what_one_odd_batch_does() -> None:
    drawn = plots.gradients.one_odd_batch(clip_global_norm)
    free, limited = drawn.data.values()
    before = free[:60].min()
    assert free[60] > 1000 * before
    assert limited[59:].max() < 2 * before
    assert limited[5] > free[5]  # it is slower at the start
    assert len(drawn.axes[0].lines) == 3


def test_accumulated_gradients_are_on_the_diagonal() -> None:
    drawn = plots.gradients.against_the_whole_batch(accumulate)
    whole, ours, means = drawn.data.values()
    torch.testing.assert_close(ours, whole)
    assert (means - whole).abs().max() > 0.1
    assert len(whole) == 4 * 5 + 5


def test_no_picture_without_the_steps() -> None:
    def blank(*args: object) -> None:
        raise NotImplementedError

    assert plots.gradients.one_odd_batch(blank).missing
    assert plots.gradients.against_the_whole_batch(blank).missing
