"""How good is a model? Its loss against the entropy of its source, and the share that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab.batching import Batch
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.decoding import greedy_decode
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
        ids: (B, T), int64, all sequences to evaluate on; `model` is called once, with all of them.
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


class Accuracy(NamedTuple):
    """Two measures of the same rows, from 0 to 1, as Python floats.

    Attributes:
        exact: the share of rows without a wrong symbol ("exact match").
        symbols: the share of right symbols in all rows ("token accuracy").
    """

    exact: float
    symbols: float


def accuracy(written: Tensor, labels: Tensor) -> Accuracy:
    """How much of `labels` was written, counted in rows and in symbols.

    A symbol of `labels` is right if `written` has the same one at the same position, and a row is
    right if all its symbols are. EOS is a symbol; PAD is not, so a position at which `labels` has
    PAD counts in neither measure.

    Args:
        written: (B, W), int64. W may differ from T: what is missing is wrong, and what is beyond
            T does not count.
        labels: (B, T), int64: symbols, EOS, then PAD.
    """
    beyond = torch.full_like(labels, PAD)  # (B, T)
    written = torch.cat((written, beyond), 1)[:, : labels.shape[1]]  # (B, T)
    real = labels != PAD  # (B, T)
    right = (written == labels) & real  # (B, T)
    rows = (right == real).all(1)  # (B,)
    return Accuracy(rows.double().mean().item(), (right.sum() / real.sum()).item())


def forced_and_free(model: Any, batch: Batch) -> tuple[Accuracy, Accuracy]:
    """Measure a model twice: while it reads the right symbols, and while it reads its own.

    Forced: the model reads `batch.inputs`, and the likeliest symbol at each position is what it
    has written. Free: it writes from the source alone, by `greedy_decode` with the usual limit.
    Both are compared with `batch.labels`.

    The model runs in evaluation mode and without gradients; afterwards it is in the mode in which
    it came.

    Args:
        model: an `nn.Module`, called as ``model(source, source_valid, inputs)``; returns logits
            (B, T, V). It has `encode` and `decode`, as for `greedy_decode`.
        batch: as from `make_batch`.

    Returns:
        The `Accuracy` forced, and the `Accuracy` free.

    Source: lectures G, C, N (teacher forcing).
    """
    was_training = model.training
    model.eval()
    with torch.no_grad():
        forced = model(batch.source, batch.source_valid, batch.inputs).argmax(-1)  # (B, T)
    model.train(was_training)
    free = greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)  # (B, W)
    return accuracy(forced, batch.labels), accuracy(free, batch.labels)
