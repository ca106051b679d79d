"""Training a language model on a text: windows of tokens, its loss, and an honest measure.

    train, validation = split_documents(documents, 0.05)
    windows = RandomWindows(ids, batch=32, context=64, seed=0)
    Trainer(model, lm_loss, cfg).fit(windows)
    nats = text_loss(model, validation_ids, 64)

Source: lectures G, N (language models).
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.train_step import Sums

ROWS = 64  # windows that `text_loss` sends through the model at once


def get_batch(
    data: Tensor, batch: int, context: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw windows of a long text, and for each of their tokens the one that follows it.

    Each window starts at a random place, drawn independently: 0, 1, …, len(data) - context - 1,
    all equally likely. So a text of context + 1 tokens has exactly one window.

    Args:
        data: (N,), integers of any type, the tokens of a text; stays unchanged.
        batch: B, the number of windows.
        context: T, the number of tokens of a window, at most N - 1.
        generator: the only source of randomness.

    Returns:
        The windows x, (B, T), and y, (B, T): y[b, t] is the token after x[b, t]. Both int64.

    Raises:
        ValueError: the text has no window of this length.
    """
    # blank: draw starts, then take two windows for each, one place apart
    if context > len(data) - 1:
        raise ValueError(f"{len(data)} tokens have no window of {context} and a token after it")
    starts = torch.randint(len(data) - context, (batch,), generator=generator)
    places = starts[:, None] + torch.arange(context)  # (B, T)
    return data[places].long(), data[places + 1].long()
    # end blank


@dataclass(frozen=True, eq=False)  # equality of tensors is not a single answer
class RandomWindows:
    """Batches of random windows for a Trainer, in an order that seed and epoch decide.

    So training can go on in the middle of an epoch.

    Attributes:
        data: (N,), the tokens.
        batch: windows of a batch.
        context: tokens of a window.
        seed: of the windows.
        batches: batches of an epoch.
        draw: draws a batch; `get_batch`.
    """

    data: Tensor
    batch: int
    context: int
    seed: int = 0
    batches: int = 1000
    draw: Callable[[Tensor, int, int, torch.Generator], tuple[Tensor, Tensor]] = get_batch

    def epoch(self, number: int, start: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of epoch `number`, without the first `start`."""
        for index in range(start, self.batches):
            # torch's generator looks at 32 bits of a seed, so three numbers are mixed into them.
            seed = zlib.crc32(f"{self.seed} {number} {index}".encode())
            generator = torch.Generator().manual_seed(seed)
            yield self.draw(self.data, self.batch, self.context, generator)


def lm_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Sums:
    """The loss of a batch in the form that the Trainer of lab 8 asks for.

    Args:
        model: called once, as ``model(x)``; returns logits (B, T, V). Its mode stays as it is.
        batch: the tokens x, (B, T), and for each the one that follows it, y, (B, T), as from
            `get_batch`; both stay unchanged.

    Returns:
        `Sums(loss, count)`: the cross-entropy in nats, summed over all B · T tokens of y, and the
        number of these tokens, two tensors without dimensions. Gradients flow back from the loss.
    """
    # blank: the sum of all surprises, and their number
    x, y = batch
    logits = model(x)  # (B, T, V)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum")
    return Sums(loss, torch.tensor(y.numel(), device=y.device))
    # end blank


def text_loss(model: nn.Module, ids: Tensor, context: int) -> float:
    """The mean surprise of a model at the tokens of a text, in nats.

    The text is cut into windows of `context` tokens that do not overlap: the first reads the tokens
    0 … context - 1 and predicts the tokens 1 … context; the next one reads on from token
    `context`. The last window may be shorter. So each token but the first is predicted exactly
    once, and all of them count the same.

    Args:
        model: called as ``model(x)``, x (B, T), T at most `context`; returns logits (B, T, V). It
            runs in evaluation mode and without gradients; afterwards it is in the mode in which it
            came. The windows may go through it one by one, or several in a call.
        ids: (N,), int64, the tokens of a text, N at least 2; stays unchanged.
        context: the most tokens of a window.

    Returns:
        The mean over all N - 1 predicted tokens, a Python float.
    """
    # blank: evaluation mode; sum over all windows; divide by the number of tokens; restore the mode
    was_training = model.training
    model.eval()
    device = next((parameter.device for parameter in model.parameters()), ids.device)
    x, y = ids[:-1].to(device), ids[1:].to(device)
    full = len(x) // context * context  # tokens in windows of full length
    windows = [(x[:full].view(-1, context), y[:full].view(-1, context))] if full else []
    if full < len(x):
        windows.append((x[full:][None], y[full:][None]))
    total = 0.0
    with torch.no_grad():
        for xs, ys in windows:
            for rows, labels in zip(xs.split(ROWS), ys.split(ROWS), strict=True):
                logits = model(rows).flatten(0, 1)  # (rows * T, V)
                total += F.cross_entropy(logits, labels.flatten(), reduction="sum").item()
    model.train(was_training)
    return total / len(x)
    # end blank


def bits_per_byte(nats_per_token: float, tokens: int, num_bytes: int) -> float:
    """Turn a loss per token into bits per byte of the text.

    Args:
        nats_per_token: the mean loss, by the natural logarithm.
        tokens: how many tokens the mean is over.
        num_bytes: the length of the text they stand for, as UTF-8.

    Returns:
        nats_per_token · tokens / num_bytes / ln 2.
    """
    # blank: bits of the whole text, for each byte
    return nats_per_token * tokens / num_bytes / math.log(2)
    # end blank


def split_documents(documents: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    """Divide texts into those to train on and those to validate on, by their own bytes.

    A text is never cut, and equal texts are kept once. A text is for validation if the first four
    bytes of the SHA-256 of its UTF-8, read as one big-endian number, are less than share · 2³².
    So the part of a text depends neither on the order nor on the other texts, and it is the same on
    every machine; a longer collection tomorrow moves no text from one part to the other.

    Args:
        documents: the texts; some may occur more than once.
        share: about which share is for validation, from 0 to 1.

    Returns:
        The texts for training and those for validation, each in the order in which they first
        occur.
    """
    # blank: each different text once, to one of the two sides
    parts: tuple[list[str], list[str]] = ([], [])
    for text in dict.fromkeys(documents):
        first = hashlib.sha256(text.encode()).digest()[:4]
        parts[int.from_bytes(first, "big") < share * 2**32].append(text)
    return parts
    # end blank
