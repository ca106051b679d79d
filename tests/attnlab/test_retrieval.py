"""The loss of two answers, and the weights of heads on the boxes in a question."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.retrieval import answer_loss, weight_on


def test_a_hand_example_of_weights() -> None:
    weights = torch.tensor([[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[0.1, 0.2, 0.7], [1.0, 0, 0]]])
    table = weight_on(weights, torch.tensor([[0, 2], [2, 1]]))
    torch.testing.assert_close(table, torch.tensor([[0.6, 0.225], [0.0, 0.0]]))


def test_the_loss_equals_torchs() -> None:
    logits = torch.randn(4, 2, 10, dtype=torch.float64, requires_grad=True)
    answers = torch.randint(0, 10, (4, 2))
    expected = nn.functional.cross_entropy(logits.mT, answers)
    torch.testing.assert_close(answer_loss(logits, answers), expected)
    assert torch.autograd.gradcheck(lambda x: answer_loss(x, answers), logits)


def test_the_weights_stay_unchanged_and_keep_their_dtype() -> None:
    weights = torch.rand(3, 2, 5, dtype=torch.float64)
    before = weights.clone()
    table = weight_on(weights, torch.randint(0, 5, (3, 4)))
    assert (table.shape, table.dtype) == ((2, 4), torch.float64)
    assert torch.equal(weights, before)
