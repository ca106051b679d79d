"""Other right classifiers and trainings, and a file of weights of a wrapped model."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F

from . import exercise, reference_weights


@exercise.also_right(of="Classifier")
class CopiedFirst(nn.Module):
    def __init__(self, bert, d_model, num_classes):
        super().__init__()
        self.bert = copy.deepcopy(bert)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, ids, valid=None):
        out = self.bert(ids, valid=valid)
        first = out.hidden[:, 0, :]  # (B, d_model)
        return self.head(first)


@exercise.also_right(of="Classifier")
class HeadFirst(nn.Module):
    def __init__(self, bert, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        self.add_module("bert", copy.deepcopy(bert))

    def forward(self, ids, valid=None):
        hidden, _, _ = self.bert(ids, torch.zeros_like(ids), valid)
        return self.head(hidden).select(1, 0)


@exercise.also_right(of="Classifier")
class TwoNames(nn.Module):
    def __init__(self, bert, d_model, num_classes):
        super().__init__()
        self.bert = copy.deepcopy(bert)
        self.classifier = nn.Linear(d_model, num_classes)
        self.head = self.classifier

    def forward(self, ids, valid=None):
        return self.classifier(self.bert(ids, valid=valid).hidden[:, 0])


@exercise.also_right(of="fine_tune")
def step_by_step(classifier, ids, labels, steps=60, lr=1e-3):
    optimizer = torch.optim.Adam(classifier.parameters(), lr=lr)
    losses = []
    classifier.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(classifier(ids), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    classifier.eval()
    return losses


@exercise.also_right(of="fine_tune")
def cleared_at_first(classifier, ids, labels, steps=60, lr=1e-3):
    classifier = classifier.train()
    weights = list(classifier.parameters())
    optimizer = torch.optim.Adam([{"params": weights}], lr)
    classifier.zero_grad()
    history = torch.zeros(steps, dtype=torch.float64)
    for step in range(steps):
        log_p = classifier(ids).log_softmax(-1)
        loss = -log_p[torch.arange(len(labels)), labels].mean()
        history[step] = loss.detach()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    classifier.train(False)
    return history.tolist()


@exercise.also_right(of="accuracy")
def counted(classifier, ids, labels):
    mode = classifier.training
    classifier.eval()
    with torch.no_grad():
        logits = classifier(ids)
    classifier.train(mode)
    right = (logits.argmax(1) == labels).sum().item()
    return right / len(labels)


@exercise.also_right(of="accuracy")
@torch.inference_mode()
def in_a_try(classifier, ids, labels):
    was_training = classifier.training
    try:
        found = classifier.eval()(ids).max(dim=-1).indices
    finally:
        if was_training:
            classifier.train()
    return found.eq(labels).float().mean().item()


@exercise.also_right(of="topics.safetensors")
def of_a_wrapped_model():
    return {f"module.{name}": tensor for name, tensor in reference_weights().items()}
