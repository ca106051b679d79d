"""The figures of the cache: their data."""

from __future__ import annotations

import pytest

from attnlab import plots
from attnlab.kv_cache import cached_attention, generate, positions_and_mask
from attnlab.plots import caching


def test_masks_and_products_come_from_the_students_functions() -> None:
    drawn = plots.caching.masks_and_products(positions_and_mask, cached_attention)
    reads = list(range(16, 257, 16))
    assert drawn.data["with a cache"].tolist() == reads
    assert drawn.data["without a cache"].tolist() == [n * n for n in reads]
    assert drawn.data["masks"].sum((1, 2)).tolist() == [36, 21]
    assert drawn.data["positions"].tolist() == [[*range(8)], [0, 0, *range(6)]]


def test_time_is_measured_with_a_cache_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "_LONG", 33)
    drawn = plots.caching.time_per_token(generate)
    assert [len(line) for line in drawn.data.values()] == [2, 2]
    assert all(bool((line > 0).all()) for line in drawn.data.values())
