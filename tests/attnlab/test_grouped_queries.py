"""Grouped queries agree with torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from attnlab.grouped_queries import grouped_query_attention


def test_it_agrees_with_torchs_kernel() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, 5, 4, dtype=torch.float64) for heads in (6, 2, 2))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(
        grouped_query_attention(q, k, v, causal),
        F.scaled_dot_product_attention(q, k, v, causal, enable_gqa=True),
    )


def test_unequal_groups_are_refused() -> None:
    q, k = torch.zeros(1, 4, 2, 3), torch.zeros(1, 3, 2, 3)
    with pytest.raises(ValueError, match="3 heads of keys"):
        grouped_query_attention(q, k, k)
