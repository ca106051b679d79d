"""The small BERT of lab 10: epochs that differ, a short pretraining, and counting words."""

from __future__ import annotations

import torch

from attnlab.bert import Bert
from attnlab.bert_training import pretraining_batches, pretraining_loss, pretraining_scores
from attnlab.data import topics
from attnlab.models import topics_bert


def test_first_weights_depend_on_the_seed_alone() -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    one, same, other = (topics_bert.small_bert(Bert, seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one.tokens.weight, same.tokens.weight)
    assert not torch.equal(one.tokens.weight, other.tokens.weight)


def test_every_epoch_is_drawn_from_its_own_number() -> None:
    docs = topics.documents(40, generator=torch.Generator().manual_seed(0))
    data = topics_bert.NewEachEpoch(pretraining_batches, docs)
    first, again, second = (list(data.epoch(number)) for number in (0, 0, 1))
    assert len(first) == 4
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0].ids, second[0].ids)
    (last,) = data.epoch(0, 3)
    assert torch.equal(last.ids, first[3].ids)


def test_pretraining_returns_both_scores_and_changes_the_model() -> None:
    model = topics_bert.small_bert(Bert)
    before = model.tokens.weight.detach().clone()
    curve = topics_bert.pretrain(
        model, pretraining_batches, pretraining_loss, pretraining_scores, steps=20
    )
    assert len(curve) == 4
    assert 4.9 < curve[0] < 5.2
    assert curve[1] == 0.5
    assert not torch.equal(model.tokens.weight, before)


def test_counting_words_finds_topics_whose_words_it_has_seen() -> None:
    ids, labels = topics_bert.few_labels(1)
    unseen, right = topics_bert.new_sentences(100)
    assert (topics_bert.naive_bayes(ids, labels, ids) == labels).all()
    few = (topics_bert.naive_bayes(ids, labels, unseen) == right).double().mean()
    many = (topics_bert.naive_bayes(*topics_bert.few_labels(40), unseen) == right).double().mean()
    assert 0.3 < few < 0.7 < 0.98 < many
