"""How low a loss may honestly be: losses of a language model beside the entropy of its source."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.softmax import cross_entropy


def next_token_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """The mean surprise, in nats, of every token at what was predicted one place before it.

    Args:
        logits: (B, T, V): logits[b, t] are the scores for the token that follows ids[b, t].
        ids: (B, T), int64, the tokens; T is 2 at least.

    Returns:
        The mean cross-entropy over all B · (T - 1) tokens that have a place before them: the first
        token of a sequence is not predicted, and what the last place predicts has not come yet. A
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
    """The loss of `model` on `ids` when its places see what `mask` lets them see.

    Args:
        model: called as ``model(ids, mask)``; gives logits (B, T, V).
        ids: (B, T), int64, all sequences to evaluate on; one call of the model takes them all.
        mask: (T, T), boolean: True where place i may look at place j.
        loss: called as ``loss(logits, ids)``; gives one number.

    Returns:
        The loss, a Python number. The model runs in evaluation mode (no dropout) and without
        gradients; afterwards it is in the mode, training or evaluation, in which it came.
    """
    before = model.training
    model.eval()
    with torch.no_grad():
        result = float(loss(model(ids, mask), ids))
    model.train(before)
    return result


def is_possible(loss: float, floor: float, tolerance: float) -> bool:
    """Whether a model that sees nothing but the past can have this loss, however good it is.

    Args:
        loss: in nats, a mean over a sample.
        floor: the entropy rate of the source, in nats.
        tolerance: how far below the floor luck with the sample may bring the loss, in nats.

    Returns:
        False where the loss is lower than that, or NaN, which is no loss at all; True otherwise.
        (A loss far above the floor is poor, but possible.)
    """
    return loss >= floor - tolerance
