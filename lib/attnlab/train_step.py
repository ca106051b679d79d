"""One update of the weights: gradients of several micro-batches, in mixed precision, clipped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnlab.optimizers import clip_global_norm

Precision = Literal["fp32", "bf16", "fp16"]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Sums(NamedTuple):
    """The loss of some tokens, as a sum and not as a mean, so that batches can be added.

    Attributes:
        loss: the sum over all tokens that count; no dimensions.
        count: the number of these tokens; no dimensions.
    """

    loss: Tensor
    count: Tensor  # type: ignore[assignment]  # it hides a method of tuples


Loss = Callable[[nn.Module, Any], Sums]


def accumulate(model: nn.Module, loss: Loss, micro_batches: Iterable[Any]) -> Sums:
    """Compute the gradients of one large batch from several small ones, which fit into memory.

    Afterwards, the `grad` of each parameter is the gradient of the mean loss over all tokens of all
    micro-batches, however the tokens are divided between them. Gradients from before are dropped.
    The gradients of a micro-batch are computed before the next loss is, so that only one
    micro-batch at a time takes memory for its backward pass.

    Args:
        model: the loss need not depend on all of its parameters.
        loss: called once for each micro-batch as `loss(model, micro_batch)`; returns `Sums`.
        micro_batches: at least one, in a list or an iterator. Some may be without tokens (their
            count is 0); if all are, the gradients are 0.

    Returns:
        The `Sums` of all micro-batches, as tensors without a graph.
    """
    # blank: add up the gradients of the sums, then divide by the number of all tokens
    model.zero_grad()
    losses, counts = [], []
    for micro_batch in micro_batches:
        found = loss(model, micro_batch)
        found.loss.backward()
        losses.append(found.loss.detach())
        counts.append(found.count.detach())
    total = Sums(torch.stack(losses).sum(), torch.stack(counts).sum())
    divisor = torch.where(total.count > 0, total.count, 1)
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= divisor
    return total
    # end blank


def scaler_for(precision: Precision, device: torch.device, tokens: int = 1) -> torch.amp.GradScaler:
    """The loss scaler of a precision; one that does nothing unless it is "fp16".

    The smallest normal float16 is 6e-5, so small gradients would become 0. The loss is multiplied
    by a large number before the backward pass, and the gradients are divided by it afterwards.
    bfloat16 has the range of float32 and needs no scaler.

    Args:
        precision: of the forward and backward pass.
        device: where the loss is.
        tokens: about how many tokens a loss is summed over. The first scale is 65,536 for one
            token, and a power of 2 that is smaller by this factor for many.
    """
    # blank: a scaler of torch.amp for this device
    scale = 2.0 ** (16 - round(math.log2(tokens)))
    return torch.amp.GradScaler(device.type, scale, enabled=precision == "fp16")
    # end blank


def autocast(precision: Precision, device: torch.device) -> torch.autocast:
    """The context in which the forward pass runs: matrix products in 16 bits, weights in 32."""
    return torch.autocast(device.type, DTYPES[precision], enabled=precision != "fp32")


def update(
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    parameters: Iterable[Tensor],
    max_norm: float | None = None,
) -> tuple[Tensor, bool]:
    """Apply gradients that were computed from a scaled loss.

    The gradients are brought back to their true size before their length is measured and limited.
    If one of them is not finite, the weights and the optimiser's state stay as they are, and the
    scale is halved. It doubles after many updates in which all were finite. A scaler that is
    disabled neither scales nor skips: then the gradients are limited and applied.

    Args:
        optimizer: has the parameters.
        scaler: the one that scaled the loss; it may be disabled.
        parameters: those whose gradients count, by `clip_global_norm`; an iterator is enough.
        max_norm: the limit of the gradients' common length; None: there is no limit.

    Returns:
        The length of the gradients before the limit, a tensor without dimensions; and whether the
        weights were updated, a bool. A learning-rate schedule must not advance if they were not.

    Source: Micikevicius et al. 2018, section 3.2.
    """
    # blank: true size, limit, update, scale, in this order
    before = scaler.get_scale()
    scaler.unscale_(optimizer)
    norm = clip_global_norm(parameters, math.inf if max_norm is None else max_norm)
    scaler.step(optimizer)
    scaler.update()
    return norm, scaler.get_scale() >= before
    # end blank


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
