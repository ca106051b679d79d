"""How an encoder–decoder Transformer is trained: its loss on a batch, and a pass over batches.

Source: Attention Is All You Need (Vaswani et al. 2017), section 5; lectures G, C, N.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.softmax import cross_entropy


def sequence_loss(model: nn.Module, batch: Any, pad: int = 0) -> Tensor:
    """How surprised the model is by each label, given the source and all earlier symbols.

    The model is called once for the whole batch: it predicts at all positions in parallel.

    Args:
        model: called as ``model(batch.source, batch.source_valid, batch.inputs)``; returns logits
            (B, T, V). Its mode, training or evaluation, stays unchanged.
        batch: source (B, S) and source_valid (B, S); inputs (B, T), what the decoder reads; labels
            (B, T), the symbol that it should predict at each position, and `pad` where there is
            none.
        pad: the label that asks nothing.

    Returns:
        The mean of -log p(label) over all labels of the batch that are not `pad`, in nats; a tensor
        without dimensions, in the dtype of the logits. A position with the label `pad` counts
        neither in the sum nor in the number of labels. Gradients flow back.

    Source: lectures G, C (teacher forcing), W (log-loss).
    """
    logits = model(batch.source, batch.source_valid, batch.inputs)  # (B, T, V)
    return cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), ignore_index=pad)


def train_transformer(
    model: nn.Module,
    batches: Iterable[Any],
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler,
    max_norm: float = 1.0,
) -> list[float]:
    """Train on the batches: one step of the optimizer per batch, and then one of the scheduler.

    The model is in training mode during all steps, and in evaluation mode when the function
    returns. Each step starts from gradients of zero and uses `sequence_loss` of one batch. Before
    the optimizer uses the gradients, their common norm over all parameters is clipped to `max_norm`
    (`nn.utils.clip_grad_norm_`).

    Args:
        model: a model as for `sequence_loss`.
        batches: the batches, in order, each used once.
        optimizer: an optimizer of the model's parameters.
        scheduler: sets the learning rate; its first step comes after the optimizer's first step.
        max_norm: the norm to which gradients are clipped.

    Returns:
        The loss of each batch before the step on it: one Python float per batch.
    """
    losses = []
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = sequence_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())  # reading it now would make a GPU wait at every step
    model.eval()
    return [loss.item() for loss in losses]
