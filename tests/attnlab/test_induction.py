"""Induction heads: the score, and the shipped model that has one."""

from __future__ import annotations

import torch

from attnlab.induction import induction_scores
from attnlab.models.repeats import (
    FILE,
    PERIOD,
    attention_weights,
    copies_repeats,
    repeated_rows,
)


def test_a_head_that_looks_at_what_came_next_has_one() -> None:
    weights = torch.zeros(2, 2, 7, 7)
    for t in range(3, 7):
        weights[:, 0, t, t - 2] = 1.0
        weights[:, 1, t, t - 3] = 1.0
    assert induction_scores(weights, 3).tolist() == [1.0, 0.0]


def test_the_shipped_model_has_one_induction_head_in_its_second_layer() -> None:
    model, ids = copies_repeats(), repeated_rows(64, torch.Generator().manual_seed(3))
    assert FILE.stat().st_size < 130_000
    first, second = attention_weights(model, ids)
    torch.testing.assert_close(second.sum(-1), torch.ones(second.shape[:3]))
    assert max(induction_scores(first, PERIOD).tolist()) < 0.3
    assert max(induction_scores(second, PERIOD).tolist()) > 0.6
    predicted = model(ids).logits.argmax(-1)
    repeated = predicted[:, PERIOD:-1] == ids[:, PERIOD + 1 :]
    assert float(repeated.double().mean()) > 0.9


def test_the_weights_are_those_that_the_model_uses() -> None:
    model, ids = copies_repeats(), repeated_rows(2, torch.Generator().manual_seed(3))
    used = []
    attention = model.blocks[1].attention
    attention.q_proj.register_forward_hook(lambda part, given, out: used.append(given[0]))
    model(ids)
    kv = attention.keys_values(used[0])
    weights = attention(used[0], kv, is_causal=True, need_weights=True).weights
    torch.testing.assert_close(attention_weights(model, ids)[1], weights)
