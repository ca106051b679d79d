"""The small GPTs of lab 9: one for a source of known entropy, one for the manuals of Python.

The model, its first weights, its loss and its batches are arguments, so a notebook trains with the
student's own steps. The tokens of the manuals are fixed, so that all models can be compared; the
weights of a longer training come with the lab.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor, nn

from attnlab.checking.stack_weights import gpt_names
from attnlab.checking.task_names import TaskNames
from attnlab.compression import bigram_loss, gzip_bits_per_byte
from attnlab.data import manuals, markov
from attnlab.gpt import GPT, GPTConfig
from attnlab.language_modeling import RandomWindows
from attnlab.models.shipped_gpts import load_gpt
from attnlab.notebook.unwritten import why_not
from attnlab.tokenizer import Pair, as_tiktoken
from attnlab.train_step import Loss
from attnlab.training import Trainer
from attnlab.training_config import TrainerConfig

if TYPE_CHECKING:
    import tiktoken

NUM_MERGES = 512
Bits = Callable[[float, int, int], float]  # `bits_per_byte`
SHIPPED = Path(__file__).parent / "manuals_gpt.safetensors"


@dataclass(frozen=True)
class Task:
    """What a model is trained on.

    Attributes:
        cfg: the numbers of the model.
        trainer: how it is trained; `batch_tokens` and `cfg.context` give the windows of a batch.
    """

    cfg: GPTConfig
    trainer: TrainerConfig

    @property
    def rows(self) -> int:
        """Windows of a batch."""
        return self.trainer.batch_tokens // self.cfg.context


# On the CPU, because the lab's figures were measured there.
_TRAINER = TrainerConfig(device="cpu", schedule="one-cycle", log_every=10)
TASKS = {
    "markov": Task(
        GPTConfig(markov.NUM_SYMBOLS, context=32, d_model=32, num_heads=2, num_layers=1),
        replace(_TRAINER, steps=400, lr=1e-2, warmup=40, batch_tokens=1024),
    ),
    "manuals": Task(
        GPTConfig(256 + NUM_MERGES, context=64, d_model=96, num_heads=4, num_layers=2),
        replace(_TRAINER, steps=1000, lr=4e-3, warmup=100, batch_tokens=1024),
    ),
}


def small_gpt(
    task: str,
    gpt: Callable[[GPTConfig], nn.Module],
    init_gpt: Callable[..., None],
    seed: int = 0,
) -> Any:
    """A model for one of the tasks, not yet trained.

    Args:
        task: "markov" or "manuals".
        gpt: the class of the model: `GPT`.
        init_gpt: draws its first weights.
        seed: of the first weights. The global random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
        model = gpt(TASKS[task].cfg)
        init_gpt(model, generator=torch.Generator().manual_seed(seed))
    return model


def names_in_file(task: str) -> TaskNames:
    """In the file of a task's weights, they have the names of lab 9's docstrings."""
    return gpt_names(TASKS[task].cfg)


def train_gpt(
    task: str,
    model: nn.Module,
    data: Tensor,
    lm_loss: Loss,
    get_batch: Callable[..., tuple[Tensor, Tensor]],
    seed: int = 0,
) -> list[float]:
    """Train a model on one of the tasks, in place, with the Trainer of lab 8.

    Args:
        task: "markov" or "manuals".
        model: a model from `small_gpt`.
        data: (N,), int64, the tokens.
        lm_loss: the loss of a batch.
        get_batch: draws a batch.
        seed: of the windows.

    Returns:
        The mean loss of each ten steps.
    """
    found = TASKS[task]
    windows = RandomWindows(data, found.rows, found.cfg.context, seed, draw=get_batch)
    records = Trainer(model, lm_loss, replace(found.trainer, seed=seed)).fit(windows)
    return [record.loss for record in records]


def markov_tokens(split: str, rows: int = 64, seed: int = 0) -> Tensor:
    """Symbols of the course's source, (rows · 2,000,), int64, in one long row."""
    return markov.course_source().sequences(split, rows, 2000, seed).flatten()


class Corpus(NamedTuple):
    """The manuals as tokens.

    Attributes:
        train: (N,), int64.
        validation: (M,), int64.
        text: both parts as text.
    """

    train: Tensor
    validation: Tensor
    text: manuals.Manuals


def corpus(
    split: Callable[[Sequence[str], float], tuple[list[str], list[str]]] | None = None,
    encoding: tiktoken.Encoding | None = None,
) -> Corpus:
    """The manuals of this Python as tokens (five seconds).

    Args:
        split: divides texts into two parts: `split_documents`; None for the library's.
        encoding: makes the tokens; None for those of the lab.
    """
    text = manuals.load(split=split)
    encoding = encoding or as_tiktoken(merges())
    train, validation = (torch.tensor(encoding.encode(part)) for part in text)
    return Corpus(train, validation, text)


@cache
def merges() -> tuple[Pair, ...]:
    """The 512 merges that `train_bpe` learns from the manuals, ties by "greatest".

    Counting everything again after each merge takes a minute for so much text; they are shipped.
    """
    tokens = [bytes([byte]) for byte in range(256)]
    pairs: list[Pair] = []
    with safe_open(SHIPPED, framework="pt") as file:
        for first, second in file.get_tensor("merges").tolist():
            pairs.append((tokens[first], tokens[second]))
            tokens.append(tokens[first] + tokens[second])
    return tuple(pairs)


SHIPPED_CONFIG = GPTConfig(256 + NUM_MERGES, context=128, d_model=96, num_heads=4, num_layers=3)


def pretrained() -> GPT:
    """A GPT of the manuals after a longer training, in evaluation mode, with a cache."""
    return load_gpt(SHIPPED_CONFIG, SHIPPED)


def source() -> markov.MarkovSource:
    """The source of `markov_tokens`."""
    return markov.course_source()


def corpus_or_none(
    split: Callable[[Sequence[str], float], tuple[list[str], list[str]]],
) -> Corpus | None:
    """`corpus(split)`, with its sizes; None, with a notice, if `split` is not written yet."""
    try:
        found = corpus(split)
    except Exception as error:
        print(f"No texts yet: {why_not(error, split)}")
        return None
    train, validation = len(found.train), len(found.validation)
    print(f"{train:,} tokens to train on, {validation:,} tokens of new text")
    return found


def gzip_bits(found: Corpus | None) -> float | None:
    """Bits per byte of the validation text, compressed by gzip alone."""
    return None if found is None else gzip_bits_per_byte(found.text.validation)


def pair_bits(found: Corpus | None, bits_per_byte: Bits) -> float | None:
    """Bits per byte for a table of the pairs of tokens in the training text.

    None without a text, or if `bits_per_byte` is not written yet.
    """
    if found is None:
        return None
    ids = found.validation.tolist()
    nats = bigram_loss(found.train.tolist(), ids, 256 + NUM_MERGES)
    try:
        return bits_per_byte(nats, len(ids) - 1, len(found.text.validation.encode()))
    except NotImplementedError:
        return None


def gpt_bits(
    found: Corpus | None,
    model: nn.Module | None,
    text_loss: Callable[[nn.Module, Tensor, int], float],
    bits_per_byte: Bits,
) -> float | None:
    """Bits per byte for a model; None if it or the text is missing, or a step is not written."""
    if found is None or model is None:
        return None
    size = len(found.text.validation.encode())
    try:
        nats = text_loss(model, found.validation, TASKS["manuals"].cfg.context)
        return bits_per_byte(nats, len(found.validation) - 1, size)
    except NotImplementedError:
        return None


@torch.no_grad()
def written(model: nn.Module | None, prompt: str, new: int = 50, seed: int = 0) -> str:
    """A prompt and what a model writes after it, each token drawn with its own probability.

    Args:
        model: called as ``model(ids)``; returns logits, or the output of `attnlab.gpt.GPT`. None:
            nothing is written.
        prompt: its tokens and the `new` ones fit into the model's context.
        new: the number of new tokens.
        seed: of the draws.
    """
    if model is None:
        return "Nothing is written yet: no model has been trained."
    ids = torch.tensor([as_tiktoken(merges()).encode(prompt)])  # (1, T)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(new):
        found = model(ids)
        logits = found if isinstance(found, Tensor) else found.logits  # (1, T, V)
        p = logits[0, -1].softmax(-1)  # (V,)
        ids = torch.cat((ids, torch.multinomial(p, 1, generator=generator)[None]), 1)
    return as_tiktoken(merges()).decode(ids[0].tolist())
