"""A classifier with its own copy of a BERT, its training with a few labels, and its accuracy."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.bert import Bert, BertConfig
from attnlab.fine_tuning import Classifier, accuracy, fine_tune

CFG = BertConfig(vocab_size=13, d_model=12, num_heads=3, d_ff=20, num_layers=1, max_len=9)
IDS = torch.tensor([[1, 4, 5, 2], [1, 6, 7, 2], [1, 8, 9, 2]])


@pytest.fixture
def bert():
    torch.manual_seed(0)
    return Bert(CFG).eval()


def test_the_head_reads_the_first_token(bert: Bert) -> None:
    made = Classifier(bert, CFG.d_model, 3).eval()
    valid = torch.tensor([[True, True, True, False]]).expand(3, -1)
    expected = made.head(bert(IDS, None, valid).hidden[:, 0])
    torch.testing.assert_close(made(IDS, valid), expected)
    assert not torch.equal(made(IDS), expected)


def test_training_changes_the_copy_and_not_the_model(bert: Bert) -> None:
    before = {name: tensor.clone() for name, tensor in bert.state_dict().items()}
    made = Classifier(bert, CFG.d_model, 3)
    losses = fine_tune(made, IDS, torch.arange(3), 40, 0.01)
    assert len(losses) == 40
    assert losses[-1] < 0.1 < losses[0]
    assert not made.training
    assert all(torch.equal(before[name], tensor) for name, tensor in bert.state_dict().items())
    assert not torch.equal(made.bert.tokens.weight, before["tokens.weight"])
    assert accuracy(made, IDS, torch.arange(3)) == 1.0


def test_accuracy_is_measured_without_dropout_and_leaves_the_mode() -> None:
    model = nn.Sequential(nn.Embedding(13, 3), nn.Flatten(), nn.Linear(12, 3), nn.Dropout(0.9))
    labels = model.eval()(IDS).argmax(-1)
    for training in (True, False):
        model.train(training)
        assert accuracy(model, IDS, labels) == 1.0
        assert model.training is training
    labels[0] = (labels[0] + 1) % 3
    assert accuracy(model, IDS, labels) == pytest.approx(2 / 3)
