"""fine_tune: a classifier on top of a pretrained BERT, trained with five labels."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace
from typing import ClassVar

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.bert import Bert
from attnlab.checking.judges import Close
from attnlab.checking.weights import give_weights
from attnlab.fine_tuning import Classifier, accuracy, fine_tune
from gradekit.exercise import Exercise

from .bands import TOPICS_RIGHT

exercise = Exercise(
    Classifier,
    fine_tune,
    accuracy,
    uses=[Bert],
    saves=["topics.safetensors"],
    equivalent={
        "accuracy: `-1` → `1` in `right = classifier(ids).argmax(-1) == labels`": (
            "logits have two axes, so the last one is axis 1"
        ),
    },
)

V, D, C = 13, 7, 5
Output = namedtuple("Output", "hidden mlm_logits nsp_logits")
ROUGHLY = Close(atol=1e-6, rtol=1e-6)  # sums in float32 are right, too


class Encoder(nn.Module):
    """A stand-in for a BERT: its outputs depend on all that it is given; it records its calls."""

    calls: ClassVar[list] = []  # all copies write into it

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(V, D))
        self.mix = nn.Parameter(draw.normal(D, D))
        self.other = nn.Parameter(draw.normal(D, V))
        self.dropout = nn.Dropout(0.5)
        self.cfg = SimpleNamespace(vocab_size=V, d_model=D)

    def forward(self, ids, segments=None, valid=None):
        if segments is None:
            segments = torch.zeros_like(ids)
        if valid is None:
            valid = torch.ones_like(ids).bool()
        Encoder.calls.append([list(ids.shape), self.training])
        x = self.words[ids] * (1 + segments)[..., None]  # (B, T, D)
        around = (x * valid[..., None]).sum(1, keepdim=True)
        hidden = self.dropout(torch.tanh(x + around @ self.mix))
        return Output(hidden, hidden @ self.other, (hidden.mean(1) @ self.other)[:, :2])


def with_head(draw, classifier):
    """The classifier with a head that all versions share."""
    weights = {"head.weight": draw.normal(C, D), "head.bias": draw.normal(C)}
    give_weights(classifier, weights)
    return classifier


def state_of(module):
    """A copy of all weights, by name."""
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


@exercise.check(points=1.5)
def first_token_after_the_last_layer(lab, draw):
    """The logits are the head's, for the first token's vector after the last layer."""
    made = with_head(draw, lab.Classifier(Encoder(draw), D, C).double()).eval()
    Encoder.calls.clear()
    ids = draw.integers(0, V, 3, 6)
    return {"logits": made(ids), "calls: shape, training mode": list(Encoder.calls)}


@exercise.check(points=0.5, hidden=True)
def filling_and_sizes(lab, draw):
    """`valid` reaches the model; one row and one token are right, too; gradients reach all."""
    made = with_head(draw, lab.Classifier(Encoder(draw), D, C).double()).eval()
    ids, valid = draw.integers(0, V, 3, 6), torch.arange(6) < torch.tensor([[4], [6], [1]])
    made(ids, valid).square().sum().backward()
    return {
        "rows that are filled up": made(ids, valid),
        "by name": made(ids, valid=valid),
        "what is behind the end does not matter": torch.equal(
            made(ids, valid), made(ids.where(valid, (ids + 1) % V), valid)
        ),
        "sizes": {f"B = {B}, T = {T}": made(draw.integers(0, V, B, T)) for B, T in
                  ((1, 4), (2, 1), (6, 6))},
        "weights without a gradient": sorted(
            name for name, p in made.named_parameters() if p.grad is None or not p.grad.any()
        ),
    }  # fmt: skip


@exercise.check(points=1.5)
def the_pretrained_model_stays(lab, draw):
    """Training the classifier changes its own copy; the model that was given stays as it is."""
    given = Encoder(draw)
    before = state_of(given)
    made = lab.Classifier(given, D, C).double()
    starts = all(map(torch.equal, before.values(), state_of(made.bert).values()))
    ids, labels = draw.integers(0, V, 5, 6), torch.arange(5)
    lab.fine_tune(made, ids, labels, 3, 0.1)
    after = state_of(made.bert)
    return {
        "the copy starts with the same weights": starts,
        "it is another object": made.bert is not given,
        "all of its weights may learn": all(p.requires_grad for p in made.bert.parameters()),
        "the given model is unchanged": all(
            torch.equal(before[name], tensor) for name, tensor in state_of(given).items()
        ),
        "what it returns": given.eval()(ids).hidden,
        "it could still be trained": all(p.requires_grad for p in given.parameters()),
        "weights of the copy that have changed": sorted(
            name for name, tensor in after.items() if not torch.equal(tensor, before[name])
        ),
    }


class Toy(nn.Module):
    """A small classifier with weights in two parts; it notes in which mode it ran."""

    def __init__(self, draw):
        super().__init__()
        self.bert = nn.Embedding.from_pretrained(draw.normal(V, D), freeze=False)
        self.head = nn.Linear(D, C).double()
        give_weights(self.head, {"weight": draw.normal(C, D), "bias": draw.normal(C)})
        self.modes = []

    def forward(self, ids):
        self.modes.append([self.training, torch.is_grad_enabled(), len(ids)])
        scale = 1.0 if self.training else 3.0  # a mode that is wrong shows in the numbers
        return scale * self.head(self.bert(ids).cumsum(1).tanh().mean(1))


@exercise.check(points=1.5, judge=ROUGHLY)
def all_weights_by_adam(lab, draw):
    """Each step is one update of all weights by Adam, with the mean loss of all sentences."""
    toy, ids, labels = Toy(draw), draw.integers(0, V, 6, 4), draw.integers(0, C, 6)
    losses = lab.fine_tune(toy, ids, labels, 4, 0.03)
    return {
        "losses": losses,
        "weights": state_of(toy),
        "the rows of each step": [rows for _, _, rows in toy.modes],
    }


@exercise.check(points=1.5, hidden=True, judge=ROUGHLY)
def defaults_and_modes(lab, draw):
    """60 steps at 1e-3 if nothing is said; training mode, old gradients, types, one sentence."""
    toy, ids, labels = Toy(draw), draw.integers(0, V, 6, 4), draw.integers(0, C, 6)
    for parameter in toy.parameters():
        parameter.grad = torch.full_like(parameter, 3.0)
    toy.eval()
    losses = lab.fine_tune(toy, ids, labels)
    by_name = Toy(draw)
    lab.fine_tune(by_name, ids[:1], labels[:1], lr=0.2, steps=5)
    return {
        "number of losses": len(losses),
        "types": sorted({type(loss).__name__ for loss in losses}),
        "first and last loss": [losses[0], losses[-1]],
        "weights": state_of(toy),
        "modes of the steps": sorted({str(mode) for mode, _, _ in toy.modes}),
        "modes afterwards": [toy.training, by_name.training],
        "one sentence, five steps, by name": state_of(by_name),
    }


class Table(nn.Module):
    """A classifier with known answers and dropout; it records how it was called."""

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(logits)
        self.dropout = nn.Dropout(0.9)
        self.calls = []

    def forward(self, ids):
        self.calls.append([self.training, torch.is_grad_enabled()])
        return self.dropout(self.logits[ids[:, 1]])


@exercise.check(points=0.5, judge=ROUGHLY)
def share_of_right_answers(lab, draw):
    """The share of sentences whose largest logit is right, without dropout."""
    model = Table(draw.normal(V, C)).train()
    ids, labels = draw.integers(0, V, 40, 3), draw.integers(0, C, 40)
    return {"accuracy": lab.accuracy(model, ids, labels), "calls": len(model.calls)}


@exercise.check(points=1, hidden=True, judge=ROUGHLY)
def mode_and_gradients(lab, draw):
    """No gradients are computed; the mode stays; all or none right; a plain number."""
    model = Table(draw.normal(V, C))
    ids = draw.integers(0, V, 30, 3)
    best = model.logits.detach()[ids[:, 1]].argmax(-1)
    seen = {}
    for training in (True, False):
        model.train(mode=training).calls.clear()
        found = lab.accuracy(model, ids, best)
        seen["from training" if training else "from evaluation"] = {
            "all are right": found,
            "type": type(found).__name__,
            "training mode and gradients of the call": list(model.calls),
            "mode afterwards": model.training,
        }
    seen["none is right"] = lab.accuracy(model, ids, (best + 1) % C)
    seen["one of four is right"] = lab.accuracy(
        model, ids[:4], (best[:4] + torch.tensor([1, 0, 1, 1])) % C
    )
    return seen


@exercise.check(points=3, hidden=True, judge=TOPICS_RIGHT)
def topics_from_five_labels(lab, draw):
    """Your saved classifier finds the topic of at least 95 of 100 new sentences; 75 earn half."""
    return lab.saved_weights("topics.safetensors")


def reference_weights():
    """The reference's own weights; other files of weights are made from them."""
    return load_file(exercise.path.parent / "topics.safetensors")
