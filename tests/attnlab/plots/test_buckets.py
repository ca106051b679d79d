"""Batches are drawn as rectangles, before and after they are sorted."""

from __future__ import annotations

import pytest

from attnlab.buckets import bucket_batches
from attnlab.plots import buckets
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_padding_before_and_after() -> None:
    drawn = buckets.before_and_after(bucket_batches, count=500, max_tokens=256, shown=5)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert drawn.data["random order"] > 0.3
    assert drawn.data["your buckets"] < 0.05
    assert len(drawn.axes[0].images) == 10
    missing = buckets.before_and_after(unwritten).missing
    assert missing == "No picture yet: `unwritten` is not written."


def test_batches_in_random_order_keep_the_limit() -> None:
    lengths = [3, 9, 1, 4, 8, 2]
    batches = buckets.in_random_order(lengths, 16)
    assert sorted(index for batch in batches for index in batch) == list(range(6))
    assert all(len(batch) * max(lengths[index] for index in batch) <= 16 for batch in batches)
