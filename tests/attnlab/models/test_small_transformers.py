"""The small Transformers of lab 7 and how they are trained.

What they can do after their training was measured over ten seeds:
autograder/exercises/lab07/train_transformer/bands.json.
"""

from __future__ import annotations

from itertools import islice

import pytest
import torch
from torch import nn

from attnlab.batching import make_batch
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models.small_transformers import (
    LONGEST,
    TASKS,
    WARMUP,
    rate,
    shuffled,
    small_transformer,
    train_on,
    without_a_mask,
    without_positions,
)
from attnlab.seq2seq_training import train_transformer


@pytest.mark.parametrize("task", TASKS)
def test_a_few_steps_on_each_task_lower_the_loss(task: str) -> None:
    model = small_transformer(task, Transformer, init_weights)
    losses = train_on(task, model, train_transformer, make_batch, steps=6)
    assert len(losses) == 6
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("task", TASKS)
def test_pairs_fit_the_model_and_no_source_is_in_two_splits(task: str) -> None:
    cfg = TASKS[task].cfg
    train = TASKS[task].pairs()
    for source, target in train:
        assert len(target) < cfg.max_len == LONGEST
        assert 3 <= min(source) <= max(source) < cfg.source_vocab
        assert 3 <= min(target) <= max(target) < cfg.target_vocab
    unseen = TASKS[task].unseen(300, 5, "test")
    assert not {tuple(target) for _, target in train} & {tuple(target) for _, target in unseen}


def test_equal_seeds_train_equal_models_and_leave_the_global_state() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    runs = []
    for seed in (0, 0, 1):
        model = small_transformer("copy", Transformer, init_weights, seed)
        runs.append(train_on("copy", model, train_transformer, make_batch, seed, steps=2))
    assert runs[0] == runs[1] != runs[2]
    assert torch.equal(torch.get_rng_state(), before)


def test_the_rate_rises_and_falls() -> None:
    rates = [rate(done, 800) for done in range(801)]
    assert rates[0] == pytest.approx(1 / WARMUP, rel=1e-3)
    assert max(rates) == rates[WARMUP - 1]
    assert rates[800] == pytest.approx(0, abs=1e-9)


def test_every_pair_comes_once_before_any_comes_again() -> None:
    pairs = [([n], [n]) for n in range(10)]
    rows = list(islice(shuffled(pairs, 100, seed=4, size=5), 4))
    first, second = rows[0] + rows[1], rows[2] + rows[3]
    assert sorted(first) == sorted(second) == pairs
    assert first != second


def test_without_a_mask_the_future_reaches_the_past() -> None:
    model = small_transformer("copy", Transformer, init_weights).eval()
    names = list(model.state_dict())
    batch = make_batch([([3, 4, 5], [3, 4, 5])])
    changed = batch.inputs.clone()
    changed[0, 3] = 9

    def moves(model: nn.Module) -> bool:
        logits = [
            model(batch.source, batch.source_valid, inputs)[0, 0]
            for inputs in (batch.inputs, changed)
        ]
        return not torch.equal(*logits)

    assert not moves(model)
    assert moves(without_a_mask(model))
    assert list(model.state_dict()) == names


def test_without_positions_the_order_of_the_source_is_lost() -> None:
    model = small_transformer("copy", Transformer, init_weights).eval()
    forwards, backwards = make_batch([([3, 4, 5], [3])]), make_batch([([5, 4, 3], [3])])

    def gap(model: nn.Module) -> float:
        return (model(*forwards[:3]) - model(*backwards[:3])).abs().max().item()

    assert gap(model) > 1e-3
    assert gap(without_positions(model)) < 1e-4
