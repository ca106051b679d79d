"""The probes on models with known faults."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.causality import leaks, pad_invariant
from attnlab.masks import causal_mask, combine, padding_mask
from attnlab.models.leaky import PAD, VOCAB, models

T = 8


def all_pairs(T: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(T) for j in range(i + 1, T)]


def next_to_each_other(T: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(T - 1)]


class Layer(nn.Module):
    """torch's own attention layer over embeddings, with a mask from the library."""

    def __init__(self, mask: Callable[[Tensor], Tensor | None], dropout: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.embedding = nn.Embedding(VOCAB, 6, dtype=torch.float64)
        self.mask, self.dropout = mask, dropout

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        mask = self.mask(ids)
        mixed = F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], attn_mask=mask)[
            :, 0
        ]
        return F.dropout(x + mixed, self.dropout, self.training)


def causal(ids: Tensor) -> Tensor:
    return causal_mask(ids.shape[1])


def causal_and_padding(ids: Tensor) -> Tensor | None:
    """Padding in front may attend to itself alone, so no row of torch's is NaN."""
    mask = combine(causal_mask(ids.shape[1]), padding_mask(ids, PAD))
    assert mask is not None
    return mask | torch.eye(ids.shape[1], dtype=torch.bool)


@pytest.mark.parametrize("T", [1, 2, 5])
def test_the_librarys_masks_do_not_leak(T: int) -> None:
    assert leaks(Layer(causal), T, VOCAB) == []
    assert leaks(Layer(causal_and_padding), T, VOCAB) == []
    assert leaks(Layer(lambda ids: None), T, VOCAB) == all_pairs(T)


def test_a_mask_off_by_one_leaks() -> None:
    late = Layer(lambda ids: torch.ones(ids.shape[1], ids.shape[1]).tril(1).bool())
    assert leaks(late, 5, VOCAB) == next_to_each_other(5)


def test_a_recurrent_layer_leaks_only_if_it_is_bidirectional() -> None:
    torch.manual_seed(2)
    table = torch.randn(VOCAB, 4, dtype=torch.float64)
    for both_ways, expected in ((False, []), (True, all_pairs(4))):
        layer = nn.GRU(4, 3, batch_first=True, bidirectional=both_ways, dtype=torch.float64)
        assert leaks(lambda ids, layer=layer: layer(table[ids])[0].detach(), 4, VOCAB) == expected


def test_dropout_is_not_a_leak() -> None:
    assert leaks(Layer(causal, dropout=0.5).train(), 5, VOCAB) == []
    later = Layer(lambda ids: None, dropout=0.1).train()
    assert leaks(later, 4, VOCAB) == all_pairs(4)


def test_batch_norm_leaks_in_training_and_not_after() -> None:
    model = models()["D"]
    assert leaks(model, 5, VOCAB) == all_pairs(5)
    assert leaks(model.eval(), 5, VOCAB) == []
    assert not model.training


def test_a_faint_leak_and_rounding() -> None:
    table = torch.randn(VOCAB, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    for size, expected in ((1e-6, next_to_each_other(5)), (1e-12, [])):
        found = leaks(lambda ids, s=size: 1e3 + s * table[ids].roll(-1, 1), 5, VOCAB)
        assert [pair for pair in found if pair[1] > 0] == expected


@pytest.mark.parametrize("token", range(VOCAB))
def test_a_model_that_reacts_to_one_token_leaks(token: int) -> None:
    def spy(ids: Tensor) -> Tensor:
        found = (ids[:, 2] == token).double()
        return found[:, None, None].expand(*ids.shape, 1)

    assert leaks(spy, 4, VOCAB) == [(0, 2), (1, 2)]


def test_padding_on_either_side() -> None:
    assert pad_invariant(Layer(causal_and_padding), 5, VOCAB, PAD)
    assert pad_invariant(Layer(lambda ids: padding_mask(ids, PAD)), 5, VOCAB, PAD)
    assert not pad_invariant(Layer(lambda ids: padding_mask(ids, PAD + 1)), 5, VOCAB, PAD)
    assert not pad_invariant(Layer(lambda ids: None), 5, VOCAB, PAD)
    assert not pad_invariant(Layer(causal), 5, VOCAB, PAD)  # in front of the tokens


def test_a_model_that_answers_nan_keeps_no_promise() -> None:
    def nowhere(ids: Tensor) -> Tensor:
        return torch.full((*ids.shape, 2), torch.nan, dtype=torch.float64)

    assert not pad_invariant(nowhere, 4, VOCAB, PAD)
    assert leaks(nowhere, 3, VOCAB) == all_pairs(3)


def test_no_care_for_empty_rows_is_seen_under_padding_in_front() -> None:
    """Masks of -inf make rows without a key NaN, and a second layer spreads it."""
    layer = Layer(lambda ids: combine(causal_mask(ids.shape[1]), padding_mask(ids, PAD)))

    def two_layers(ids: Tensor) -> Tensor:
        x, mask = layer.embedding(ids), layer.mask(ids)
        assert mask is not None
        for _ in range(2):
            x = x + (x @ x.mT).masked_fill(~mask[:, 0], -torch.inf).softmax(-1) @ x
        return x

    assert not pad_invariant(two_layers, T, VOCAB, PAD)


def test_a_leak_that_needs_certain_words() -> None:
    """It looks one token ahead only if the sequence starts with two tokens of its choice."""
    table = torch.arange(VOCAB).double()

    def picky(ids: Tensor) -> Tensor:
        chosen = (ids[:, 0] == 6) & (ids[:, 1] == 0)
        return (table[ids] + chosen[:, None] * table[ids].roll(-1, 1))[..., None]

    assert set(leaks(picky, 5, VOCAB)) >= {(2, 3), (3, 4)}


def test_the_probes_leave_no_trace() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    recorded = []

    def weigh(ids: Tensor) -> Tensor:
        recorded.append(torch.is_grad_enabled())
        return torch.rand(*ids.shape, 1, dtype=torch.float64)

    leaks(weigh, 3, VOCAB)
    assert torch.equal(torch.get_rng_state(), before)
    assert recorded
    assert not any(recorded)
