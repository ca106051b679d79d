"""The small BERT of lab 10: its sizes, its pretraining on the five topics, and its baselines.

The model, the batches, the loss and the scores are arguments, so a notebook trains with the
student's own steps.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.bert import BertConfig
from attnlab.checking.stack_weights import bert_names, classifier_names
from attnlab.data import topics
from attnlab.initial_weights import init_normal
from attnlab.train_step import Sums
from attnlab.training import Trainer
from attnlab.training_config import TrainerConfig

CFG = BertConfig(
    len(topics.VOCABULARY), d_model=64, num_heads=4, d_ff=256, num_layers=2, max_len=16, dropout=0.1
)
# In a file of weights, they have the names of lab 10's docstrings.
NAMES = bert_names(CFG)
NAMES_OF_CLASSIFIER = classifier_names(CFG, len(topics.TOPICS))
STEPS, EVERY = 400, 20
BATCH_SIZE = 64
LEARNING_RATE = 4e-3
SENTENCES = 1025  # of each document, so 5 * 1,024 pairs
# Generators of data that nothing is trained on, and of the few labels that the notebook uses.
VALIDATION_SEED, LABELS_SEED = 10_000, 10_001

Batches = Callable[[Sequence[Sequence[Tensor]], int, torch.Generator], Sequence[Any]]


def small_bert(bert: Callable[[BertConfig], nn.Module], seed: int = 0) -> Any:
    """The small model with its first weights, not yet trained.

    Args:
        bert: the class of the model: `Bert`.
        seed: of the weights. The global random state does not change.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = bert(CFG)
        init_normal(model)
    return model


class NewEachEpoch:
    """Batches for a Trainer: in every epoch other pairs of the same documents, and other words.

    Args:
        batches: makes the batches of one epoch: `pretraining_batches`.
        documents: the sentences.
        seed: decides, with the number of the epoch, what is drawn.
    """

    def __init__(
        self, batches: Batches, documents: Sequence[Sequence[Tensor]], seed: int = 0
    ) -> None:
        self.batches, self.documents, self.seed = batches, documents, seed

    def epoch(self, number: int, start: int = 0) -> Iterator[Any]:
        """The batches of epoch `number` (from 0), without the first `start`."""
        # torch's generator looks at 32 bits of a seed, so two numbers must be mixed into them.
        generator = torch.Generator().manual_seed(zlib.crc32(f"{self.seed} {number}".encode()))
        return islice(self.batches(self.documents, BATCH_SIZE, generator), start, None)


def held_out(batches: Batches, sentences: int = 81, seed: int = VALIDATION_SEED) -> Sequence[Any]:
    """Batches of new sentences: 5 * (sentences - 1) pairs."""
    generator = torch.Generator().manual_seed(seed)
    return batches(topics.documents(sentences, generator=generator), 200, generator)


def pretrain(
    model: nn.Module,
    batches: Batches,
    loss: Callable[[nn.Module, Any], Any],
    scores: Callable[[nn.Module, Sequence[Any]], Any],
    seed: int = 0,
    steps: int = STEPS,
) -> list[float]:
    """Pretrain the small model, in place, with a Trainer.

    Args:
        model: from `small_bert`.
        batches, loss, scores: `pretraining_batches`, `pretraining_loss`, `pretraining_scores`.
        seed: of the sentences, of what is hidden in them, and of dropout.
        steps: how many updates.

    Returns:
        What `scores` says about new sentences before the first update and after every twentieth:
        the MLM loss and the NSP accuracy, one after the other.
    """
    documents = topics.documents(SENTENCES, generator=torch.Generator().manual_seed(seed))
    unseen = held_out(batches)
    curve = list(scores(model, unseen))

    def both(model: nn.Module, batch: Any) -> Sums:
        rows = len(batch.ids)
        return Sums(rows * sum(loss(model, batch)), torch.tensor(float(rows)))

    trainer = Trainer(
        model,
        both,
        TrainerConfig(steps, LEARNING_RATE, seed=seed, device="cpu", log_every=EVERY),
        on_record=lambda record: curve.extend(scores(model, unseen)),
    )
    trainer.fit(NewEachEpoch(batches, documents, seed))
    return curve


def few_labels(number: int, seed: int = LABELS_SEED) -> tuple[Tensor, Tensor]:
    """Labelled sentences of four words, `number` for each topic; see `topics.labelled`."""
    return topics.labelled(number, generator=torch.Generator().manual_seed(seed))


def new_sentences(number: int = 200, seed: int = VALIDATION_SEED) -> tuple[Tensor, Tensor]:
    """Labelled sentences to measure a classifier on, `number` for each topic."""
    return topics.labelled(number, generator=torch.Generator().manual_seed(seed))


def naive_bayes(ids: Tensor, labels: Tensor, unseen: Tensor) -> Tensor:
    """Classify by counting words: naive Bayes with one added to each count.

    Args:
        ids: (N, T), the labelled sentences.
        labels: (N,), their topics.
        unseen: (M, T), sentences to classify.

    Returns:
        The likeliest topic of each, (M,), int64; the first one of several.
    """
    size = len(topics.VOCABULARY)
    counts = torch.ones(len(topics.TOPICS), size, dtype=torch.float64)
    for row, label in zip(ids, labels.tolist(), strict=True):
        counts[label] += row.bincount(minlength=size)
    log_p = (counts / counts.sum(1, keepdim=True)).log()  # (C, V)
    return log_p[:, unseen].sum(-1).argmax(0)  # (C, M, T) to (M,)
