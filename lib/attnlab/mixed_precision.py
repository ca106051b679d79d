"""One step of training in mixed precision: products in 16 bits, everything else in 32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.train_step import Precision, autocast, update


def mixed_step(
    model: nn.Module,
    loss: Callable[[nn.Module, Any], Tensor],
    batch: Any,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    scheduler: torch.optim.lr_scheduler.LRScheduler,
    precision: Precision,
    max_norm: float | None = 1.0,
) -> tuple[Tensor, bool]:
    """One step of training in mixed precision: gradients, update, learning rate.

    The forward pass and the loss run in the context `autocast(precision, device)`, in which matrix
    products use 16 bits. The model itself is not converted: its weights, their gradients and the
    optimiser's state stay float32. The backward pass starts from the loss that `scaler` has scaled;
    then comes `update`. The scheduler makes one step if the weights were updated, and none if the
    update was skipped.

    Args:
        model: with float32 parameters, all on one device. Its earlier gradients are dropped.
        loss: called once, as ``loss(model, batch)``; a tensor without dimensions.
        batch: on the model's device.
        optimizer: has the model's parameters.
        scaler: as for `update`.
        scheduler: sets the optimizer's learning rate.
        precision: "fp32", "bf16" or "fp16".
        max_norm: as for `update`.

    Returns:
        The loss at its true size, float32 and without a gradient; and whether the weights were
        updated.

    Source: Micikevicius et al. 2018, section 3.
    """
    # blank: forward in autocast, backward from the scaled loss, update, schedule
    device = next(model.parameters()).device
    optimizer.zero_grad()
    with autocast(precision, device):
        found = loss(model, batch)
    scaler.scale(found).backward()
    _, updated = update(optimizer, scaler, model.parameters(), max_norm)
    if updated:
        scheduler.step()
    return found.detach(), updated
    # end blank
