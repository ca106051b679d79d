"""The retrieval model: two heads learn what one head cannot, with the same number of weights."""

from __future__ import annotations

import pytest
import torch

from attnlab.data.retrieval import questions
from attnlab.models.retriever import D_MODEL, FEATURES, Retriever, share_right, train_retriever
from attnlab.multihead import MultiHeadAttention
from attnlab.retrieval import answer_loss, weight_on


def model_with(num_heads: int) -> Retriever:
    torch.manual_seed(0)
    size = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=size, d_v=size))


def test_models_with_one_and_two_heads_have_the_same_size() -> None:
    sizes = [sum(p.numel() for p in model_with(heads).parameters()) for heads in (1, 2, 4)]
    assert len(set(sizes)) == 1


def test_two_heads_learn_in_a_few_steps_what_one_head_cannot() -> None:
    asked = questions("validation", 1000)
    models = {heads: model_with(heads) for heads in (1, 2)}
    for model in models.values():
        losses = train_retriever(model, answer_loss, steps=250, lr=0.02)
        assert len(losses) == 250
        assert losses[0] == pytest.approx(2.3, abs=0.5)
    assert float(share_right(models[2], asked)[2]) > 0.98
    assert float(share_right(models[1], asked)[2]) < 0.25
    logits, weights = models[2](asked)
    assert (logits.shape, weights.shape) == ((1000, 2, 10), (1000, 2, 8))
    table = weight_on(weights, asked.places)
    assert float(table.detach().amax(1).min()) > 0.8
