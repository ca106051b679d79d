"""A small model around a multi-head attention that answers questions about two boxes at once.

The question attends to the boxes, and one linear layer turns the result into an answer. So no later
layer can separate two digits that attention has mixed. See `attnlab.data.retrieval` for the task.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.data.retrieval import DIGITS, LETTERS, Questions, batches, questions
from attnlab.models.small_layers import asks_nothing

D_MODEL = 24
FEATURES = 16  # of the queries, keys and values of all heads together


class Retriever(nn.Module):
    """Embeds boxes and questions, lets the question attend to the boxes, and reads out two digits.

    Args:
        attention: a multi-head attention on `D_MODEL` features, called as ``attention(q, k, v,
            need_weights=True)``.
    """

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.letter = nn.Embedding(len(LETTERS), D_MODEL)
        self.digit = nn.Embedding(DIGITS, D_MODEL)
        self.asked_first = nn.Embedding(len(LETTERS), D_MODEL)
        self.asked_second = nn.Embedding(len(LETTERS), D_MODEL)
        self.attention = attention
        self.readout = nn.Linear(D_MODEL, 2 * DIGITS)

    def forward(self, asked: Questions) -> tuple[Tensor, Tensor]:
        """Answer some questions.

        Args:
            asked: B questions about T boxes each.

        Returns:
            (B, 2, 10), the logits of the first and the second digit; and (B, h, T), each head's
            attention weights on the T boxes.
        """
        boxes = self.letter(asked.letters) + self.digit(asked.digits)  # (B, T, d_model)
        first, second = asked.asked.unbind(-1)
        question = self.asked_first(first) + self.asked_second(second)  # (B, d_model)
        found, weights = self.attention(
            question.unsqueeze(1), boxes, boxes, need_weights=True
        )  # (B, 1, d_model), (B, h, 1, T)
        logits = self.readout(found.squeeze(1)).unflatten(-1, (2, DIGITS))  # (B, 2, 10)
        return logits, weights.squeeze(2)


def train_retriever(
    model: Retriever,
    loss: Callable[[Tensor, Tensor], Tensor],
    steps: int = 1500,
    lr: float = 0.01,
    seed: int = 0,
) -> list[float]:
    """Train a model in place.

    Args:
        model: the model.
        loss: from (B, 2, 10) logits and (B, 2) digits to one number.
        steps: the number of batches, of 128 questions each.
        lr: the highest learning rate; the rate rises at first and falls to 0 at the end.
        seed: of the order of the questions.

    Returns:
        The loss of each step.
    """
    shelves = questions("train", 128 * steps, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=steps)
    losses = []
    for batch in batches(shelves, 128, seed):
        optimizer.zero_grad()
        logits, _ = model(batch)
        step_loss = loss(logits, batch.answers)
        step_loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(step_loss.detach())  # reading it now would make a GPU wait at every step
    return [float(step_loss) for step_loss in losses]


def share_right(model: Retriever, asked: Questions) -> Tensor:
    """(3,), float64: the share of questions with the first, the second, and both digits right."""
    with torch.no_grad():
        logits, _ = model(asked)
    right = logits.argmax(-1) == asked.answers  # (B, 2)
    return torch.cat([right.double().mean(0), right.all(1).double().mean(0, keepdim=True)])


def shares_right(
    one: Retriever | None,
    two: Retriever | None,
    ablate_head: Callable[[nn.Module, int], nn.Module],
    asked: Questions,
) -> dict[str, Tensor] | None:
    """The share of right answers of two models, and of the second one with a changed head.

    Args:
        one: the model with one head; None if it was not trained.
        two: the model with two heads; None if it was not trained.
        ablate_head: from an attention and a head's number to an attention without this head.
        asked: the questions.

    Returns:
        For each model (3,): the share of right first digits, second digits, and both. None if a
        model is missing.
    """
    if one is None or two is None:
        return None

    def with_attention(attention: nn.Module) -> Retriever:
        changed = copy.deepcopy(two)
        assert changed is not None
        changed.attention = attention
        return changed

    models = {"1 head": one, "2 heads": two}
    for head in range(2):
        models[f"2 heads,\nno head {head}"] = with_attention(ablate_head(two.attention, head))
    models["2 heads, head 0\nasks nothing"] = with_attention(asks_nothing(two.attention, 0))
    return {name: share_right(model, asked) for name, model in models.items()}
