"""One step in mixed precision, on a CPU and under a pretended GPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.devices import PretendGPU
from attnlab.mixed_precision import mixed_step
from attnlab.train_step import scaler_for


def loss(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
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
        first, updated = mixed_step(model, loss, batch.to(device), *arguments)
        assert updated
        assert schedule.get_last_lr() == [0.05]
        second, _ = mixed_step(model, loss, batch.to(device), *arguments)
        assert second < first
        assert (first.dtype, first.requires_grad) == (torch.float32, False)
        before = model.weight.detach().clone()
        _, updated = mixed_step(
            model, lambda *both: loss(*both) * 1e38, batch.to(device), *arguments
        )
        assert updated == (precision != "fp16")
        if not updated:
            assert torch.equal(model.weight, before)
            assert schedule.get_last_lr() == [0.025]
