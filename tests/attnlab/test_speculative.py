"""Speculative decoding: what is written are draws of the large model."""

from __future__ import annotations

import pytest
import torch

from attnlab.speculative import accept

P = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64)


@pytest.mark.parametrize("draft", [[0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.2, 0.6], [0.0, 0.0, 0.0, 1]])
def test_the_first_token_is_a_draw_of_the_large_model(draft):
    q = torch.tensor([draft], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    drafted = torch.multinomial(q[0], 4000, True, generator=generator)
    found = [accept(x[None], q, P, generator=generator) for x in drafted]
    share = torch.stack([row[0] for row in found]).bincount(minlength=4) / 4000
    assert ((share - P[0]).abs() <= 5 * (P[0] * (1 - P[0]) / 4000).sqrt()).all()
    stayed = sum(len(row) == 2 for row in found) / 4000
    assert stayed == pytest.approx(torch.minimum(q[0], P[0]).sum().item(), abs=0.04)


def test_equal_models_write_one_token_more_than_was_drafted():
    generator = torch.Generator().manual_seed(0)
    assert len(accept(torch.tensor([0]), P[:1], P, generator=generator)) == 2
    assert len(accept(torch.tensor([]).long(), P[:0], P[:1], generator=generator)) == 1
