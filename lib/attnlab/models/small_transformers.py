"""The three small Transformers of lab 7: one class, three configs, three kinds of pairs.

The model, its first weights, the batches and the training loop are arguments, so a notebook trains
with the student's own steps. Lab 2's GRU translates the same dates
(:mod:`attnlab.models.dates_translator`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.checking.task_names import TaskNames
from attnlab.checking.transformer_weights import transformer_names
from attnlab.data import copying, dates, numbers
from attnlab.seq2seq import pad_batch
from attnlab.transformer_config import TransformerConfig

# The symbols of a source and of its target, without BOS and EOS.
SymbolPair = tuple[list[int], list[int]]

BATCH_SIZE = 64
LEARNING_RATE = 5e-3
WARMUP = 60  # steps
BETAS = (0.9, 0.98)  # the paper's
LONGEST = 100  # positions: the longest date has 35 characters, and greedy decoding adds up to 50


@dataclass(frozen=True)
class Task:
    """What a model is trained on.

    Attributes:
        cfg: the numbers of the model.
        steps: steps of training.
        pairs: the training pairs.
        unseen: called with a number of pairs, a seed and a split; pairs of another split.
    """

    cfg: TransformerConfig
    steps: int
    pairs: Callable[[], list[SymbolPair]]
    unseen: Callable[[int, int, str], list[SymbolPair]]


def date_symbols(some: Sequence[dates.Pair]) -> list[SymbolPair]:
    """Dates as symbols: one for each character."""
    return [(dates.SOURCE.encode(pair.human), dates.TARGET.encode(pair.iso)) for pair in some]


def number_symbols(some: Sequence[numbers.Pair]) -> list[SymbolPair]:
    """Numbers as symbols: one for each word."""
    return [(numbers.SOURCE.encode(one.english), numbers.TARGET.encode(one.french)) for one in some]


def copy_symbols(some: Sequence[copying.Pair]) -> list[SymbolPair]:
    """Sequences to copy as lists."""
    return [(list(pair.source), list(pair.target)) for pair in some]


TASKS = {
    "copy": Task(
        TransformerConfig(
            copying.VOCABULARY, copying.VOCABULARY, d_model=32, num_heads=2, d_ff=64,
            num_encoder_layers=1, num_decoder_layers=1, dropout=0.0, tie="all", max_len=LONGEST,
        ),
        800,
        lambda: copy_symbols(copying.pairs(5000, 1)),
        lambda count, seed, split: copy_symbols(copying.pairs(count, seed, split)),
    ),
    "dates": Task(
        TransformerConfig(
            len(dates.SOURCE), len(dates.TARGET), d_model=64, num_heads=4, d_ff=256,
            num_encoder_layers=1, num_decoder_layers=1, dropout=0.0, max_len=LONGEST,
        ),
        1200,
        lambda: date_symbols(dates.train()),
        lambda count, seed, split: date_symbols(dates.pairs(count, seed, split)),
    ),
    "numbers": Task(
        TransformerConfig(
            len(numbers.SOURCE), len(numbers.TARGET), d_model=64, num_heads=4, d_ff=256,
            num_encoder_layers=1, num_decoder_layers=1, dropout=0.0, max_len=LONGEST,
        ),
        800,
        lambda: number_symbols(numbers.train()),
        lambda count, seed, split: number_symbols(numbers.pairs(count, seed, split)),
    ),
}  # fmt: skip


def small_transformer(
    task: str,
    transformer: Callable[[TransformerConfig], nn.Module],
    init_weights: Callable[[nn.Module], None],
    seed: int = 0,
) -> Any:
    """A model for one of the tasks, not yet trained.

    Args:
        task: "copy", "dates" or "numbers".
        transformer: the class of the model: `Transformer`.
        init_weights: draws its first weights.
        seed: of the first weights. The global random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = transformer(TASKS[task].cfg)
        init_weights(model)
    return model


def names_in_file(task: str) -> TaskNames:
    """In the file of a task's weights, they have the names of lab 7's docstrings.

    So the file of a model whose layers call their parts by other names can be graded, too.
    """
    return transformer_names(TASKS[task].cfg)


def train_on(
    task: str,
    model: nn.Module,
    train: Callable[..., list[float]],
    make_batch: Callable[..., Any],
    seed: int = 0,
    steps: int | None = None,
) -> list[float]:
    """Train a model on one of the tasks, in place.

    The learning rate rises for 60 steps, in equal parts, and then falls to 0 like half a cosine.

    Args:
        task: "copy", "dates" or "numbers".
        model: a model from `small_transformer`.
        train: called as ``train(model, batches, optimizer, scheduler)``: `train_transformer`.
        make_batch: makes a batch of pairs of symbols.
        seed: of the order of the pairs, and of dropout.
        steps: None: as many as the task needs.

    Returns:
        The loss of every step.
    """
    total = TASKS[task].steps if steps is None else steps
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE, BETAS)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: rate(done, total))
    batches = (make_batch(some) for some in shuffled(TASKS[task].pairs(), total, seed))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return train(model, batches, optimizer, scheduler)


def write_all(
    greedy_decode: Callable[..., Tensor], model: nn.Module, sources: Sequence[Sequence[int]]
) -> list[list[int]]:
    """What a model writes for each source, without EOS and what follows it.

    Args:
        greedy_decode: called as ``greedy_decode(model, source, source_valid, BOS, EOS)``.
        model: a trained model.
        sources: the symbols of each source.
    """
    source, _, valid = pad_batch(sources, dates.PAD)
    rows = greedy_decode(model, source, valid, dates.BOS, dates.EOS).tolist()
    return [row[: row.index(dates.EOS)] if dates.EOS in row else row for row in rows]


def share_right(
    greedy_decode: Callable[..., Tensor], model: nn.Module, pairs: Sequence[SymbolPair]
) -> float:
    """The share of pairs whose target a model writes without a mistake ("exact match")."""
    written = write_all(greedy_decode, model, [source for source, _ in pairs])
    right = [row == target for row, (_, target) in zip(written, pairs, strict=True)]
    return sum(right) / len(right)


def rate(done: int, total: int) -> float:
    """The factor of the learning rate after `done` of `total` steps: warm-up, then a cosine."""
    return min(1.0, (done + 1) / WARMUP) * (1 + math.cos(math.pi * done / total)) / 2


def shuffled(
    pairs: Sequence[SymbolPair], count: int, seed: int, size: int = BATCH_SIZE
) -> Iterator[list[SymbolPair]]:
    """`count` lists of `size` pairs; every pair comes once before any comes again.

    The order is the same on every machine: Python promises that `random()` never changes.
    """
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    left: list[SymbolPair] = []
    for _ in range(count):
        some: list[SymbolPair] = []
        while len(some) < size:
            left = left or list(pairs)
            pick = int(rng.random() * len(left))
            left[pick], left[-1] = left[-1], left[pick]
            some.append(left.pop())
        yield some


def without_a_mask(model: Any) -> Any:
    """The same model, changed in place: all positions of the target see each other.

    Args:
        model: with a list `decoder` of layers that are called with the keyword `target_mask`.
    """

    def see_all(_layer: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        return args, {**kwargs, "target_mask": None}

    for layer in model.decoder:
        layer.register_forward_pre_hook(see_all, with_kwargs=True)
    return model


def without_positions(model: Any) -> Any:
    """The same model, changed in place: nothing is added to the embeddings.

    Args:
        model: with a part `position`, which is called with the embeddings.
    """
    model.position = nn.Identity()
    return model
