"""The loss of a language model, compared with the entropy of its source: is it possible?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.softmax import cross_entropy


def next_token_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """The mean surprise of a model, in nats, at every token that it predicts one position earlier.

    Args:
        logits: (B, T, V): logits[b, t] are the scores for the token that follows ids[b, t].
        ids: (B, T), int64, the tokens; T is at least 2.

    Returns:
        The mean cross-entropy over all B · (T - 1) tokens with a position before them: the first
        token of a sequence is not predicted, and the token after the last position is unknown. A
        tensor without dimensions, in the dtype of `logits`; gradients flow back.

    Source: lectures G and C (language model, shift right).
    """
    return cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def evaluate(
    model: nn.Module,
    ids: Tensor,
    mask: Tensor,
    loss: Callable[[Tensor, Tensor], Tensor] = next_token_loss,
) -> float:
    """The loss of `model` on `ids` if its positions attend according to `mask`.

    Args:
        model: called as ``model(ids, mask)``; returns logits (B, T, V).
        ids: (B, T), int64, all sequences to evaluate on; one call of the model takes them all.
        mask: (T, T), boolean: True where position i may attend to position j.
        loss: called as ``loss(logits, ids)``; returns one number.

    Returns:
        The loss, a Python number. The model runs in evaluation mode (no dropout) and without
        gradients; afterwards it is in the same mode, training or evaluation, as before.
    """
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return float(loss(model(ids, mask), ids))
    finally:
        for module, training in before.items():
            module.training = training


def is_possible(loss: float, floor: float, tolerance: float) -> bool:
    """Whether a model that sees only the past can have this loss, however good it is.

    Args:
        loss: in nats, a mean over a sample.
        floor: the entropy rate of the source, in nats.
        tolerance: how far below the floor a lucky sample may bring the loss, in nats.

    Returns:
        False if the loss is lower than floor - tolerance, or is NaN, which is not a loss; True
        otherwise. (A loss far above the floor is poor, but possible.)
    """
    return loss >= floor - tolerance
