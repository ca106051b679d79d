"""From a pretrained BERT to a classifier, with a handful of labels.

Source: BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding (Devlin et
al. 2019), sections 3.2 and 4.1; lectures G, N.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from attnlab.softmax import cross_entropy


class Classifier(nn.Module):
    """A copy of a BERT, and a new linear layer that reads the first token's vector.

    Args:
        bert: a model that returns `hidden`, (B, T, d_model), among other things. It stays as it is:
            the classifier trains a copy, `self.bert`.
        d_model: features of each vector.
        num_classes: C.

    Attributes:
        bert: the copy, which starts with the weights of `bert`.
        head: the new layer, from d_model to C numbers.
    """

    def __init__(self, bert: nn.Module, d_model: int, num_classes: int) -> None:
        super().__init__()
        # blank: a copy, and a layer
        self.bert = copy.deepcopy(bert)
        self.head = nn.Linear(d_model, num_classes)
        # end blank

    def forward(self, ids: Tensor, valid: Tensor | None = None) -> Tensor:
        """Classify a batch of single sentences.

        Args:
            ids: (B, T), int64; the first token of each row is [CLS].
            valid: (B, T), boolean, False where a row is filled up; None: nowhere.

        Returns:
            Logits, (B, C): the head applied to `hidden` of the first token, after the last layer.
            The model is called once, with `ids`, no segments, and `valid`.
        """
        # blank: the first token's vector, then the head
        hidden = self.bert(ids, None, valid).hidden  # (B, T, d_model)
        logits: Tensor = self.head(hidden[:, 0])
        return logits
        # end blank


def fine_tune(
    classifier: nn.Module, ids: Tensor, labels: Tensor, steps: int = 60, lr: float = 1e-3
) -> list[float]:
    """Train all weights of a classifier, in place, on a few labelled sentences.

    Each step uses all sentences at once: their mean cross-entropy, gradients that start from zero,
    and one update by `torch.optim.Adam` with learning rate `lr`. The classifier is in training mode
    during all steps, and in evaluation mode when the function returns.

    Args:
        classifier: called as ``classifier(ids)``; returns logits (B, C).
        ids: (B, T), int64.
        labels: (B,), int64, the right class of each row.
        steps: how many.
        lr: the learning rate.

    Returns:
        The loss of each step, before its update: one Python float for each.
    """
    # blank: an optimizer of everything, and a loop
    optimizer = torch.optim.Adam(classifier.parameters(), lr)
    losses = []
    classifier.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = cross_entropy(classifier(ids), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    classifier.eval()
    return losses
    # end blank


def accuracy(classifier: nn.Module, ids: Tensor, labels: Tensor) -> float:
    """The share of sentences whose largest logit is that of the label, from 0 to 1.

    The classifier is in evaluation mode while it reads, and afterwards in the mode in which it was
    before. No gradients are computed.

    Args:
        classifier: called once, as ``classifier(ids)``; returns logits (B, C).
        ids: (B, T), int64; sentences that the classifier was not trained on.
        labels: (B,), int64.

    Returns:
        A Python float.
    """
    # blank: evaluation mode, count, the old mode
    training = classifier.training
    classifier.eval()
    with torch.no_grad():
        right = classifier(ids).argmax(-1) == labels  # (B,)
    classifier.train(training)
    return right.double().mean().item()
    # end blank
