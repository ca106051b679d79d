"""BERT's pretraining: epochs of new batches, both parts of the loss, and scores on new text."""

from __future__ import annotations

import math
from collections import namedtuple

import pytest
import torch
from torch import nn

from attnlab.bert_training import (
    PretrainingBatch,
    pretraining_batches,
    pretraining_loss,
    pretraining_scores,
)
from attnlab.data.topics import CLS, MASK, PAD, SEP, documents

Output = namedtuple("Output", "mlm_logits nsp_logits")


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def restored(batch):
    return torch.where(batch.labels < 0, batch.ids, batch.labels)


class Guesser(nn.Module):
    """The same logits everywhere, with dropout."""

    def __init__(self, words, pair):
        super().__init__()
        self.words, self.pair = nn.Parameter(words), nn.Parameter(pair)
        self.dropout = nn.Dropout(0.5)

    def forward(self, ids, segments, valid):
        words = self.words.expand(*ids.shape, -1)
        return Output(self.dropout(words), self.dropout(self.pair.expand(len(ids), -1)))


def a_batch(ids, labels, follows):
    ids = torch.tensor(ids)
    return PretrainingBatch(
        ids, torch.zeros_like(ids), ids != PAD, torch.tensor(labels), torch.tensor(follows)
    )


@pytest.fixture
def guesser():
    """Word 4 has probability 1/2, and eight others 1/16 each; "it follows" has 3/4."""
    words = torch.tensor([1, 1, 1, 1, 8, 1, 1, 1, 1], dtype=torch.float64).log()
    return Guesser(words, torch.tensor([1.0, 3.0], dtype=torch.float64).log())


def test_an_epoch_has_every_pair_once_in_batches_of_the_size() -> None:
    docs = documents(8, generator=seeded())
    batches = pretraining_batches(docs, 10, seeded(1))
    assert [len(batch.ids) for batch in batches] == [10, 10, 10, 5]
    rows = torch.cat([restored(batch) for batch in batches])
    firsts = {tuple(row[1:5].tolist()) for row in rows}
    assert firsts == {tuple(s.tolist()) for doc in docs for s in doc[:-1]}
    assert ((rows == CLS).sum(1) == 1).all()
    assert ((rows == SEP).sum(1) == 2).all()
    assert sum(int(batch.follows.sum()) for batch in batches) in (17, 18)


def test_the_next_epoch_has_other_pairs_and_other_hidden_words() -> None:
    docs, generator = documents(30, generator=seeded()), seeded(1)
    first, second = (pretraining_batches(docs, 999, generator)[0] for _ in range(2))
    (again,) = pretraining_batches(docs, 999, seeded(1))
    assert all(map(torch.equal, first, again))
    assert not torch.equal(restored(first), restored(second))
    assert not torch.equal(first.labels, second.labels)


def test_both_parts_of_the_loss_are_means(guesser: Guesser) -> None:
    batch = a_batch([[1, 3, 5], [1, 6, 3]], [[-100, 4, -100], [-100, 6, 4]], [1, 0])
    found = pretraining_loss(guesser.eval(), batch)
    assert found.mlm.item() == pytest.approx((2 * math.log(2) + math.log(16)) / 3)
    assert found.nsp.item() == pytest.approx((math.log(4 / 3) + math.log(4)) / 2)
    nothing = pretraining_loss(guesser, batch._replace(labels=torch.full((2, 3), -100)))
    assert nothing.mlm.item() == 0


def test_scores_count_masked_places_and_pairs_of_all_batches(guesser: Guesser) -> None:
    batches = [
        a_batch([[1, 3, 5], [1, 6, 3]], [[-100, 4, -100], [-100, 6, 4]], [1, 0]),
        a_batch([[1, 3, 3, 7]], [[-100, 5, 5, 7]], [1]),
    ]
    found = pretraining_scores(guesser.train(), iter(batches))
    assert guesser.training
    assert found.mlm == pytest.approx((2 * math.log(2) + 2 * math.log(16)) / 4)
    assert found.nsp == pytest.approx(2 / 3)
    assert MASK == 3
    pretraining_scores(guesser.eval(), batches)
    assert not guesser.training
