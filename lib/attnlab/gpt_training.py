"""Language models to train: what a Trainer needs for each, and how well a model predicts.

The source of known entropy and the manuals of Python are those of lab 9. A model is small, as
there, or has the size of a GPT-2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import torch
from torch import Tensor, nn

from attnlab.data import gpt2_vocabulary
from attnlab.gpt import GPT, GPTConfig, init_gpt
from attnlab.language_modeling import RandomWindows, bits_per_byte, lm_loss
from attnlab.models import small_gpts
from attnlab.train_step import Sums
from attnlab.training_config import TrainerConfig, TrainingError
from attnlab.training_task import Measured, Task

Windows = tuple[Tensor, Tensor]  # tokens (B, T), and for each the one that follows it


@dataclass(frozen=True)
class LanguageModelConfig:
    """The model and its tokens.

    Attributes:
        size: "small", lab 9's model for the task; or one of the four sizes of GPT-2, which have
            50,257 tokens and a context of 1,024.
        vocabulary: of the manuals: the 768 tokens of lab 9, or GPT-2's if this machine has them. A
            larger table than the vocabulary is trained in its first rows alone.
        context: the most tokens that the model reads; None: as the size says, and so for the others
            below.
        d_model: features of each vector.
        num_heads: heads of each attention.
        num_layers: the number of blocks.
        dropout: the probability of dropping.

    Raises:
        TrainingError: a number is less than 1.
    """

    size: Literal["small", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"] = "small"
    vocabulary: Literal["lab", "gpt2"] = "lab"
    context: int | None = None
    d_model: int | None = None
    num_heads: int | None = None
    num_layers: int | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self._given().items():
            if value < 1:
                raise TrainingError(f"{name} must be 1 or more, not {value}")

    def model(self, small: GPTConfig, num_tokens: int) -> GPTConfig:
        """All numbers of the model.

        Args:
            small: those of the size "small".
            num_tokens: how many tokens the data have; the model has at least as many.
        """
        named = small if self.size == "small" else GPTConfig.of_size(self.size)
        vocab_size = max(named.vocab_size, num_tokens)
        return replace(named, vocab_size=vocab_size, dropout=self.dropout, **self._given())

    def _given(self) -> dict[str, int]:
        names = ("context", "d_model", "num_heads", "num_layers")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def markov_task(sizes: LanguageModelConfig, cfg: TrainerConfig) -> Task:
    """Symbols of a source that no model can predict better than its entropy."""
    entropy = small_gpts.source().entropy_rate

    def measured(nats: float) -> Measured:
        text = f"{nats:.3f} nats per symbol; the source's entropy is {entropy:.3f}"
        return Measured(text, {"nats_per_token": nats, "entropy": entropy})

    small = small_gpts.TASKS["markov"].cfg
    train = small_gpts.markov_tokens("train")
    validation = small_gpts.markov_tokens("validation", rows=8)
    return _task(sizes.model(small, small.vocab_size), cfg, train, validation, measured)


def manuals_task(sizes: LanguageModelConfig, cfg: TrainerConfig) -> Task:
    """The manuals of this Python.

    Raises:
        TrainingError: GPT-2's vocabulary is asked for, and is not on this machine.
    """
    corpus, num_tokens = _manuals(sizes.vocabulary)
    size = len(corpus.text.validation.encode())
    gzip = small_gpts.gzip_bits(corpus)

    def measured(nats: float) -> Measured:
        bits = bits_per_byte(nats, len(corpus.validation) - 1, size)
        text = f"{bits:.3f} bits per byte of new text; gzip needs {gzip:.3f}"
        return Measured(text, {"bits_per_byte": bits, "nats_per_token": nats})

    model = sizes.model(small_gpts.TASKS["manuals"].cfg, num_tokens)
    return _task(model, cfg, corpus.train, corpus.validation, measured)


def gpt_loss(model: nn.Module, batch: Windows) -> Sums:
    """`lm_loss` for a model that returns more than logits, such as `attnlab.gpt.GPT`."""
    return lm_loss(cast("nn.Module", lambda ids: model(ids).logits), batch)


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Sequence[Windows], device: torch.device) -> float:
    """The mean loss of all tokens in nats, in evaluation mode, which stays."""
    model.eval()
    found = [gpt_loss(model, (x.to(device), y.to(device))) for x, y in batches]
    return float(sum(loss for loss, _ in found) / sum(count for _, count in found))


def windows_of(ids: Tensor, context: int, rows: int) -> list[Windows]:
    """All of a text in windows, so that each token but the first is predicted exactly once.

    Args:
        ids: (N,), int64; N at least 2.
        context: tokens of a window; the last one may be shorter.
        rows: the most windows of a batch.
    """
    whole, batches = (len(ids) - 1) // context, []
    if whole:
        pieces = ids.unfold(0, context + 1, context)  # (whole, context + 1)
        batches += [(some[:, :-1], some[:, 1:]) for some in pieces.split(rows)]
    rest = ids[whole * context :]
    return [*batches, (rest[None, :-1], rest[None, 1:])] if len(rest) > 1 else batches


def _manuals(vocabulary: str) -> tuple[small_gpts.Corpus, int]:
    """The manuals as tokens, and how many different tokens there are."""
    if vocabulary == "lab":
        return small_gpts.corpus(), 256 + small_gpts.NUM_MERGES
    encoding = gpt2_vocabulary.load()
    if encoding is None:
        raise TrainingError(
            "GPT-2's vocabulary is not on this machine: give vocabulary=lab, or call "
            'tiktoken.get_encoding("r50k_base") once with a network'
        )
    return small_gpts.corpus(encoding=encoding), encoding.n_vocab


def _task(
    model_cfg: GPTConfig,
    cfg: TrainerConfig,
    train: Tensor,
    validation: Tensor,
    measured: Callable[[float], Measured],
) -> Task:
    """A task for two texts; the weights are drawn with the seed of `cfg`.

    Raises:
        ValueError: a batch has no room for a window, or the text has no window.
    """
    context = model_cfg.context
    rows = cfg.batch_tokens // context
    if rows < 1:
        raise ValueError(
            f"a window has {context} tokens, and a batch at most {cfg.batch_tokens}; allow more, "
            "or a smaller context"
        )
    if context >= len(train):
        raise ValueError(f"a window has {context} tokens, and the text only {len(train)}")
    with torch.random.fork_rng(devices=[]):
        model = GPT(model_cfg)
    init_gpt(model, generator=torch.Generator().manual_seed(cfg.seed))
    # As many windows as a micro-batch: the logits of more might not fit into the device's memory.
    batches = windows_of(validation, context, max(1, rows // cfg.accumulate))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return Task(
        model=model,
        loss=gpt_loss,
        data=RandomWindows(train, rows, context, cfg.seed),
        validation=batches,
        # The head is the table of tokens; looking up a position costs no multiplication.
        params_per_token=parameters - model.positions.weight.numel(),
        measure=lambda model, device: measured(mean_loss(model, batches, device)),
    )
