"""Small translations to train on: what a Trainer needs for each, and how well a model does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.batching import Batch, make_batch
from attnlab.buckets import Bucketed, bucket_batches
from attnlab.data import copying, dates, numbers
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.data.vocabulary import Words
from attnlab.train_step import Sums
from attnlab.training_config import TrainerConfig, TrainingError
from attnlab.training_task import Measured, Task
from attnlab.transformer import Transformer
from attnlab.transformer_config import TransformerConfig

Symbols = tuple[int, ...]
Pair = tuple[Symbols, Symbols]
Vocabulary = dates.Symbols | Words
Bucket = Callable[[Sequence[int], int, int], list[list[int]]]


@dataclass(frozen=True)
class TranslatorConfig:
    """The data and the model.

    Attributes:
        examples: the number of pairs to train on.
        validation: the number of pairs to measure on, 500 at most.
        d_model: features of a vector.
        num_heads: heads of each attention.
        d_ff: features inside the feed-forward networks.
        layers: of the encoder, and of the decoder.
        dropout: the probability of dropping.
        smoothing: how much label smoothing takes from the right symbol, as torch counts it.

    Raises:
        TrainingError: there are no pairs.
    """

    examples: int = 5500
    validation: int = 500
    d_model: int = 64
    num_heads: int = 4
    d_ff: int = 256
    layers: int = 1
    dropout: float = 0.0
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        for name in ("examples", "validation"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} must be 1 or more, not {getattr(self, name)}")


@dataclass(frozen=True)
class TranslationTask(Task):
    """A translation.

    Attributes:
        pairs: those of the validation set, as symbols.
    """

    pairs: Sequence[Pair]


def dates_task(
    sizes: TranslatorConfig, cfg: TrainerConfig, bucket: Bucket = bucket_batches
) -> TranslationTask:
    """Dates as people write them, to ISO 8601."""
    return _of_texts(
        dates.pairs(sizes.examples, seed=1), dates.validation(), dates.SOURCE, dates.TARGET,
        sizes, cfg, bucket,
    )  # fmt: skip


def numbers_task(
    sizes: TranslatorConfig, cfg: TrainerConfig, bucket: Bucket = bucket_batches
) -> TranslationTask:
    """Numbers in English words, to French words."""
    return _of_texts(
        numbers.pairs(sizes.examples, seed=1), numbers.validation(), numbers.SOURCE, numbers.TARGET,
        sizes, cfg, bucket,
    )  # fmt: skip


def copy_task(
    sizes: TranslatorConfig, cfg: TrainerConfig, bucket: Bucket = bucket_batches
) -> TranslationTask:
    """Sequences of symbols, to the same sequences."""
    train = list(copying.pairs(sizes.examples, seed=1))
    validation = list(copying.pairs(500, seed=2, split="validation"))
    vocabularies = copying.VOCABULARY, copying.VOCABULARY
    return _task(train, validation, vocabularies, sizes, cfg, bucket)


TASKS: dict[str, Callable[..., TranslationTask]] = {
    "dates": dates_task,
    "numbers": numbers_task,
    "copy": copy_task,
}


def translation_loss(model: nn.Module, batch: Batch, smoothing: float = 0.0) -> Sums:
    """The cross-entropy of the labels that are not padding, as a sum, and their number."""
    logits: Tensor = model(batch.source, batch.inputs)  # (B, T, V)
    loss = nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.labels.flatten(), ignore_index=PAD, reduction="sum",
        label_smoothing=smoothing,
    )  # fmt: skip
    return Sums(loss, (batch.labels != PAD).sum())


def exact_match(model: Any, pairs: Sequence[Pair], device: torch.device, rows: int = 250) -> float:
    """The share of pairs whose target a model writes exactly, by greedy decoding.

    Args:
        model: with `generate`, as `Transformer` has it.
        pairs: at least one.
        device: where the model is.
        rows: how many pairs are decoded at once.
    """
    found = written(model, pairs, device, rows)
    return fmean(row == list(target) for row, (_, target) in zip(found, pairs, strict=True))


def written(
    model: Any, pairs: Sequence[Pair], device: torch.device, rows: int = 250
) -> list[list[int]]:
    """What a model writes for each source, by greedy decoding; see `exact_match`."""
    found: list[list[int]] = []
    for start in range(0, len(pairs), rows):
        some = pairs[start : start + rows]
        source = make_batch(some).source.to(device)
        longest = max(len(target) for _, target in some)
        found += model.generate(source, bos=BOS, eos=EOS, max_len=longest + 1)
    return found


def _of_texts(
    train: Sequence[tuple[str, str]],
    validation: Sequence[tuple[str, str]],
    source: Vocabulary,
    target: Vocabulary,
    sizes: TranslatorConfig,
    cfg: TrainerConfig,
    bucket: Bucket,
) -> TranslationTask:
    def symbols(pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        return [(tuple(source.encode(one)), tuple(target.encode(other))) for one, other in pairs]

    vocabularies = len(source), len(target)
    return _task(symbols(train), symbols(validation), vocabularies, sizes, cfg, bucket)


def _task(
    train: Sequence[Pair],
    validation: Sequence[Pair],
    vocabularies: tuple[int, int],
    sizes: TranslatorConfig,
    cfg: TrainerConfig,
    bucket: Bucket,
) -> TranslationTask:
    """A task for pairs of symbols; the weights are drawn with the seed of `cfg`."""
    validation = validation[: sizes.validation]
    model_cfg = TransformerConfig(
        *vocabularies, sizes.d_model, sizes.num_heads, sizes.d_ff, sizes.layers, sizes.layers,
        sizes.dropout, max_len=1 + max(map(_length, [*train, *validation])), pad=PAD,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(cfg.seed)
        model = Transformer(model_cfg)

    def loss(model: nn.Module, batch: Batch) -> Sums:
        return translation_loss(model, batch, sizes.smoothing if model.training else 0.0)

    return TranslationTask(
        model=model,
        loss=loss,
        data=_bucketed(train, cfg, bucket),
        validation=list(_bucketed(validation, cfg, bucket).epoch(0)),
        params_per_token=_params_per_token(model, train),
        pairs=validation,
        measure=lambda model, device: _measured(exact_match(model, validation, device)),
    )


def _measured(share: float) -> Measured:
    return Measured(f"{share:.1%} of the validation set exactly right", {"exact_match": share})


def _bucketed(pairs: Sequence[Pair], cfg: TrainerConfig, bucket: Bucket) -> Bucketed[Batch]:
    lengths = list(map(_length, pairs))
    return Bucketed(pairs, lengths, make_batch, cfg.batch_tokens, cfg.seed, bucket)


def _length(pair: Pair) -> int:
    """The longer side's symbols; the target's EOS is one."""
    return max(len(pair[0]), len(pair[1]) + 1)


def _params_per_token(model: Transformer, pairs: Sequence[Pair]) -> float:
    """A target symbol passes the decoder and the head; its share of the source, the encoder.

    An embedding is a look-up and costs no multiplication.
    """
    encoder = sum(parameter.numel() for parameter in model.encoder.parameters())
    decoder = sum(parameter.numel() for parameter in model.decoder.parameters())
    source = fmean(len(source) for source, _ in pairs)
    share = source / fmean(len(target) + 1 for _, target in pairs)
    return decoder + model.head.weight.numel() + encoder * share
