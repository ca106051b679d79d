"""Known mistakes of a training loop: each is found by what the loop does to a small model."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradekit.exercise.edits import Edits, source_text
from gradekit.exercise.training_loop import loop_mistakes


def loss_of(model, batch):
    return model(batch).square().mean()


def right(model, batches, optimizer, max_norm=1.0):
    losses = []
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.item())
    return losses


MISTAKES = {}
loop_mistakes(Edits(right, lambda name, made, advice: MISTAKES.update({name: (made, advice)})))


def outcome(loop, max_norm):
    """What a loop returns, and the weights and the mode that it leaves."""
    model = nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.copy_(torch.arange(6.0).reshape(2, 3))
        model.bias.fill_(1)
    model.weight.grad = torch.ones(2, 3)  # from before the call
    model.eval()
    batches = (torch.ones(2, 3) * scale for scale in (1.0, 0.1, 2.0))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    try:
        losses = loop(model, batches, optimizer, max_norm)
    except Exception as error:
        return type(error).__name__
    kinds = [type(losses).__name__, *(type(loss).__name__ for loss in losses)]
    return str((kinds, losses, model.weight.tolist(), model.training))


def all_outcomes(loop):
    return [outcome(loop, max_norm) for max_norm in (0.5, 1.0, 1e3)]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_does_something_else_than_the_right_loop(name):
    made, advice = MISTAKES[name]
    assert all_outcomes(made) != all_outcomes(right)
    assert source_text(made) != source_text(right)
    assert "?" in advice


def test_no_two_mistakes_are_the_same():
    assert len({source_text(made) for made, _ in MISTAKES.values()}) == len(MISTAKES) == 17
