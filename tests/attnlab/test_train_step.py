"""Gradients of several micro-batches, and updates in mixed precision."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from attnlab.devices import PretendGPU
from attnlab.train_step import Sums, accumulate, autocast, mixed_step, scaler_for, update

CPU = torch.device("cpu")


def made() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()


def loss(model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> Sums:
    x, y = batch
    total = nn.functional.cross_entropy(model(x), y, reduction="sum")
    return Sums(total, torch.tensor(len(y)))


def tokens(count: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 5, generator=draw, dtype=torch.float64)
    return x, torch.randint(0, 3, (count,), generator=draw)


def grads(model: nn.Module) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in model.parameters()]


def test_unequal_micro_batches_equal_the_large_batch() -> None:
    model, (x, y) = made(), tokens(10)
    nn.functional.cross_entropy(model(x), y).backward()
    expected = grads(model)
    for cuts in ([10], [7, 3], [7, 0, 3], [1, 2, 3, 4]):
        parts = zip(x.split(cuts), y.split(cuts), strict=True)
        found = accumulate(model, loss, parts)  # the gradients of before do not count
        torch.testing.assert_close(grads(model), expected, rtol=1e-12, atol=1e-14)
        assert found.count == 10
        assert not found.loss.requires_grad
        torch.testing.assert_close(found.loss, nn.functional.cross_entropy(model(x), y) * 10)


def test_the_mean_of_means_would_be_another_gradient() -> None:
    model, (x, y) = made(), tokens(10)
    nn.functional.cross_entropy(model(x), y).backward()
    expected = grads(model)
    model.zero_grad()
    for part in (slice(0, 7), slice(7, 10)):
        (nn.functional.cross_entropy(model(x[part]), y[part]) / 2).backward()
    assert max((a - b).abs().max() for a, b in zip(grads(model), expected, strict=True)) > 1e-3


def test_a_batch_without_tokens_has_gradients_of_zero() -> None:
    model = made()
    found = accumulate(model, loss, [tokens(0), tokens(0)])
    assert found.count == 0
    assert all(grad.abs().max() == 0 for grad in grads(model))


def test_one_micro_batch_at_a_time_needs_memory_for_its_backward_pass() -> None:
    model, events = made(), []

    def watched(model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> Sums:
        events.append("forward")
        found = loss(model, batch)
        found.loss.register_hook(lambda grad: events.append("backward"))
        return found

    accumulate(model, watched, [tokens(4), tokens(3)])
    assert events == ["forward", "backward"] * 2


def test_a_scaled_loss_gives_scaled_gradients() -> None:
    model = made()
    accumulate(model, loss, [tokens(4), tokens(3)])
    expected = [256 * grad for grad in grads(model)]

    def scaled(model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> Sums:
        found = loss(model, batch)
        return Sums(256 * found.loss, found.count)

    accumulate(model, scaled, [tokens(4), tokens(3)])
    torch.testing.assert_close(grads(model), expected)


def weights(model: nn.Module) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("where", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("fused", [True, False])
def test_an_update_with_an_infinite_gradient_is_skipped_and_halves_the_scale(where, fused) -> None:
    model = made().float()
    optimizer = torch.optim.AdamW(model.parameters(), 0.1, fused=fused)
    scaler = scaler_for("fp16", CPU)
    before = weights(model)
    for spoiled in (True, False):
        scaler.scale(model(tokens(4)[0].float()).sum()).backward()
        if spoiled:
            model[0].weight.grad[0, 0] = where
        norm, done = update(optimizer, scaler, model.parameters(), 1.0)
        same = all(map(torch.equal, weights(model), before))
        assert (done, same) == (not spoiled, spoiled)
        assert scaler.get_scale() == 32768
        optimizer.zero_grad()
    assert norm.isfinite()
    state = optimizer.state[model[0].weight]
    assert state["step"] == 1


def test_gradients_are_clipped_at_their_true_size() -> None:
    model = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    scaler = scaler_for("fp16", CPU)
    start = model.weight.item()
    scaler.scale(3 * model.weight.sum()).backward()
    assert model.weight.grad.item() == 3 * 65536
    norm, done = update(optimizer, scaler, model.parameters(), 2.0)
    assert (norm.item(), done) == (3, True)
    assert model.weight.item() == pytest.approx(start - 2)


def test_without_a_limit_nothing_is_clipped_and_other_precisions_are_not_scaled() -> None:
    for precision in ("fp32", "bf16"):
        model = nn.Linear(1, 1, bias=False)
        optimizer, scaler = torch.optim.SGD(model.parameters(), 1.0), scaler_for(precision, CPU)
        start = model.weight.item()
        scaler.scale(3 * model.weight.sum()).backward()
        norm, done = update(optimizer, scaler, model.parameters())
        assert (norm.item(), done, scaler.is_enabled()) == (3, True, False)
        assert model.weight.item() == pytest.approx(start - 3)


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)],
)
def test_products_are_in_16_bits_and_weights_gradients_and_loss_in_32(precision, dtype) -> None:
    model = made().float()
    x, y = tokens(4)
    with autocast(precision, CPU):
        out = model(x.float())
        found = nn.functional.cross_entropy(out, y)
    found.backward()
    assert (out.dtype, found.dtype) == (dtype, torch.float32)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert {p.grad.dtype for p in model.parameters()} == {torch.float32}


def squared(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    return model(batch).float().square().mean()


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_a_step_trains_and_advances_the_schedule_unless_it_is_skipped(precision) -> None:
    torch.manual_seed(0)
    model, batch = nn.Linear(4, 3), torch.randn(5, 4)
    with PretendGPU():
        device = torch.device("cuda")
        model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        scaler = scaler_for(precision, device)
        arguments = (optimizer, scaler, schedule, precision)
        first, updated = mixed_step(model, squared, batch.to(device), *arguments)
        assert updated
        assert schedule.get_last_lr() == [0.05]
        second, _ = mixed_step(model, squared, batch.to(device), *arguments)
        assert second < first
        assert (first.dtype, first.requires_grad) == (torch.float32, False)
        before = model.weight.detach().clone()
        _, updated = mixed_step(
            model, lambda *both: squared(*both) * 1e38, batch.to(device), *arguments
        )
        assert updated == (precision != "fp16")
        if not updated:
            assert torch.equal(model.weight, before)
            assert schedule.get_last_lr() == [0.025]
