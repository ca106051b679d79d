"""A module and a loop on a pretended GPU: where things are, and what is copied."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.device_agnostic import PositionalAttention, train_on
from attnlab.devices import PretendGPU
from attnlab.masks import causal_mask
from attnlab.positions import sinusoidal_pe

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return (model(batch[0]) - batch[1]).square().mean()


def adam(parameters) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=0.1)


def made(count: int) -> tuple[nn.Module, list[tuple[Tensor, Tensor]]]:
    torch.manual_seed(0)
    return PositionalAttention(4), [(torch.randn(2, 3, 4), torch.randn(2, 3, 4))] * count


def test_attention_adds_positions_and_looks_back() -> None:
    model, [(x, _)] = made(1)
    words = x + sinusoidal_pe(3, 4)
    heads = (part(words) for part in (model.query, model.key, model.value))
    expected, _ = scaled_dot_product_attention(*heads, causal_mask(3))
    torch.testing.assert_close(model(x), expected)
    assert len(list(model.parameters())) == 3


@pytest.mark.parametrize("device", [CPU, GPU])
def test_the_loop_trains_on_its_device_alone(device) -> None:
    expected = made(4)
    optimizer = adam(expected[0].parameters())
    right = []
    for batch in expected[1]:
        found = loss(expected[0], batch)
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        right.append(found.item())
    model, batches = made(4)
    with PretendGPU() as gpu:
        losses = train_on(device, model, loss, iter(batches), adam)
        assert {parameter.device.type for parameter in model.parameters()} == {device.type}
    assert losses == pytest.approx(right)
    torch.testing.assert_close(model.state_dict(), expected[0].state_dict())
    assert gpu.counts.to_gpu == (0 if device == CPU else 4 + 2 * 4)
    assert gpu.counts.waits == (0 if device == CPU else 1)


def test_the_loop_goes_on_with_a_state_of_the_cpu() -> None:
    whole, batches = made(4)
    train_on(CPU, whole, loss, batches, adam)
    model, batches = made(4)
    kept: list[torch.optim.Optimizer] = []

    def keep(parameters) -> torch.optim.Optimizer:
        kept.append(adam(parameters))
        return kept[0]

    train_on(CPU, model, loss, batches[:2], keep)
    with PretendGPU():
        train_on(GPU, model, loss, batches[2:], adam, kept[0].state_dict())
    torch.testing.assert_close(model.state_dict(), whole.state_dict())
