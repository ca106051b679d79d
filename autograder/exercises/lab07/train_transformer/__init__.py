"""train_transformer: the loss, the loop, and what three trained models can do."""

from __future__ import annotations

import warnings

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.batching import Batch, make_batch
from attnlab.checking.judges import Close
from attnlab.checking.transformer_weights import transformer_names
from attnlab.encoder_decoder import DecoderLayer, EncoderLayer, Transformer
from attnlab.models.small_transformers import TASKS
from attnlab.seq2seq_training import sequence_loss, train_transformer
from attnlab.transformer_config import TransformerConfig
from gradekit.exercise import Exercise

from .bands import COPY, DATES, NUMBERS

FILES = {task: f"{task}.safetensors" for task in TASKS}
exercise = Exercise(
    sequence_loss,
    train_transformer,
    uses=[make_batch, EncoderLayer, DecoderLayer, Transformer],
    saves=list(FILES.values()),
    equivalent={
        "train_transformer: `loss.detach()` → `loss` in `losses.append(loss.detach())`": (
            "the same numbers; the graphs of all steps stay in memory"
        ),
    },
)

V = 9
# torch's clipping adds 1e-6 to the norm; clipping by hand need not.
ROUGHLY = Close(atol=1e-5, rtol=1e-5)


class Reader(nn.Module):
    """Logits that depend on everything it is given; it records how it was called."""

    def __init__(self, draw):
        super().__init__()
        self.read = nn.Parameter(draw.normal(9, V))
        self.words = nn.Parameter(draw.normal(V, V))
        self.calls = []

    def forward(self, source, source_valid, inputs):
        self.calls.append((list(inputs.shape), self.training))
        read = (self.read[source] * source_valid[..., None]).sum(1, keepdim=True)  # (B, 1, V)
        return 2 * self.words[inputs].cumsum(1) + read  # (B, T, V)


def a_batch(draw, lengths, pad=0, S=4):
    """Rows with so many labels; the inputs after the last label are arbitrary symbols."""
    B, T = len(lengths), max(lengths)
    labels = draw.integers(1, V, B, T)
    labels = torch.where(torch.arange(T) < torch.tensor(lengths)[:, None], labels + pad, pad) % V
    source_valid = torch.arange(S) < draw.integers(1, S + 1, B)[:, None]
    return Batch(draw.integers(0, 9, B, S), source_valid, draw.integers(0, V, B, T), labels)


@exercise.check(points=1.5)
def one_number_from_one_call(lab, draw):
    """One number, from one call of the model for all positions; its mode stays."""
    model, batch = Reader(draw), a_batch(draw, (5, 2, 3))
    seen = {}
    for training in (True, False):
        model.train(training).calls.clear()
        loss = lab.sequence_loss(model, batch)
        mode = "training" if training else "evaluation"
        seen[f"in {mode}: shape"] = list(loss.shape)
        seen[f"in {mode}: shapes of the inputs, and modes"] = list(model.calls)
        seen[f"in {mode}: mode afterwards"] = model.training
    seen["dtype of float32"] = str(lab.sequence_loss(model.float(), batch).dtype)
    return seen


@exercise.check(points=1.5)
def labels_without_padding(lab, draw):
    """The labels are asked, not the inputs; padding counts neither in the sum nor in the number."""
    model = Reader(draw)
    full, uneven = a_batch(draw, (4, 4, 4)), a_batch(draw, (5, 1, 3))
    more = nn.functional.pad(uneven.labels, (0, 6))
    wider = uneven._replace(labels=more, inputs=nn.functional.pad(uneven.inputs, (0, 6)))
    return {
        "rows of equal length": lab.sequence_loss(model, full),
        "rows of 5, 1 and 3 labels": lab.sequence_loss(model, uneven),
        "six more columns of padding": lab.sequence_loss(model, wider),
    }


@exercise.check(points=0.5, hidden=True)
def other_padding_and_sizes(lab, draw):
    """Is right for another number of the padding, one row, one label and any sizes."""
    model = Reader(draw)
    other = a_batch(draw, (2, 5, 3), pad=3)

    def ask(B, T, S):
        lengths = [1 + (i + T) % T if i else T for i in range(B)]
        return lab.sequence_loss(model, a_batch(draw, lengths, S=S))

    return {
        "padding is 3": lab.sequence_loss(model, other, 3),
        "padding is 3, by name": lab.sequence_loss(model, other, pad=3),
        "sizes": draw.each_size(ask, B=3, T=5, S=4),
    }


@exercise.check(points=0.5, hidden=True)
def gradients_and_large_logits(lab, draw):
    """Gradients reach all parameters; large logits are safe; the batch stays as it is."""
    model, batch = Reader(draw), a_batch(draw, (5, 2, 3))
    before = [tensor.clone() for tensor in batch]
    lab.sequence_loss(model, batch).backward()
    with torch.no_grad():
        large = Reader(draw)
        large.words.mul_(2e3)
        seen = lab.sequence_loss(large, batch)
    return {
        "gradients": {name: parameter.grad for name, parameter in model.named_parameters()},
        "logits in the thousands": seen,
        "the batch is unchanged": all(map(torch.equal, before, batch)),
    }


class Toy(nn.Module):
    """A small model that notes in which mode it ran; all its gradients are longer than 1."""

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(V, 5))
        self.out = nn.Parameter(6 * draw.normal(5, V))
        self.modes = []

    def forward(self, source, source_valid, inputs):
        self.modes.append(self.training)
        read = (self.words[source] * source_valid[..., None]).mean(1, keepdim=True)  # (B, 1, 5)
        return (self.words[inputs].cumsum(1) + read).tanh() @ self.out  # (B, T, V)


class Counting(torch.optim.SGD):
    """Gradient descent that counts its steps."""

    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)


def some_batches(draw, count):
    """Batches of two rows each, of different lengths."""
    return [a_batch(draw, (3, 5), S=5 + i) for i in range(count)]


def train(lab, *arguments):
    """Call the loop; torch's own warning about a scheduler that steps first is not shown."""
    with warnings.catch_warnings(action="ignore"):
        return lab.train_transformer(*arguments)


def halving(optimizer):
    return torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)


def weights_of(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def common_norm(tensors):
    return torch.cat([tensor.flatten() for tensor in tensors] or [torch.zeros(1)]).norm()


@exercise.check(points=1, judge=ROUGHLY)
def losses(lab, draw):
    """Returns one number for each batch: its loss before the one step on it."""
    model = Toy(draw)
    optimizer = Counting(model.parameters(), lr=0.5)
    out = train(lab, model, some_batches(draw, 3), optimizer, halving(optimizer))
    waits = hasattr(out, "__next__")
    out = list(out)
    return {
        "a generator": waits,
        "types": [type(loss).__name__ for loss in out],
        "steps of the optimizer": optimizer.steps,
        "losses": out,
    }


@exercise.check(points=1, judge=ROUGHLY)
def weights_and_rates(lab, draw):
    """The weights afterwards are right: one step per batch, each at the rate of the schedule."""
    seen = {}
    for name, kind, rate in (("SGD", torch.optim.SGD, 0.5), ("Adam", torch.optim.Adam, 0.05)):
        model = Toy(draw)
        optimizer = kind(model.parameters(), lr=rate)
        warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: min(1, (done + 1) / 3))
        train(lab, model, some_batches(draw, 4), optimizer, warm_up)
        seen[name] = weights_of(model)
        seen[f"{name}, the next rate"] = optimizer.param_groups[0]["lr"]
    return seen


@exercise.check(points=1, judge=ROUGHLY)
def clipping(lab, draw):
    """Clips the gradients' common norm at `max_norm`, before the optimizer uses them."""
    seen = {}
    for max_norm in (0.05, 1.0, 1e6):
        model = Toy(draw)
        before = weights_of(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        train(lab, model, some_batches(draw, 1), optimizer, halving(optimizer), max_norm)
        moved = [now - then for now, then in zip(weights_of(model), before, strict=True)]
        left = [p.grad.norm() for p in model.parameters() if p.grad is not None]
        seen[f"max_norm {max_norm:g}"] = {
            "how far the weights move": common_norm(moved),
            "weights": weights_of(model),
            "gradients no longer than that": bool(common_norm(left) <= max_norm * (1 + 1e-9)),
        }
    model = Toy(draw)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    train(lab, model, some_batches(draw, 1), optimizer, halving(optimizer))
    seen["max_norm not given"] = weights_of(model)
    return seen


@exercise.check(points=1.5, hidden=True, judge=ROUGHLY)
def modes_and_old_gradients(lab, draw):
    """Trains in training mode, leaves evaluation mode behind, and starts from zero gradients."""
    model = Toy(draw).eval()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 3.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    out = train(lab, model, iter(some_batches(draw, 3)), optimizer, halving(optimizer), 0.7)
    other = Toy(draw)
    another = torch.optim.SGD(other.parameters(), lr=0.5)
    train(lab, other, some_batches(draw, 1), another, halving(another))
    return {
        "modes of the steps": model.modes,
        "modes of a model that was in training mode": other.modes,
        "training mode afterwards": [model.training, other.training],
        "losses": out,
        "weights": weights_of(model),
    }


@exercise.check(points=1.5, hidden=True, chained=True, judge=ROUGHLY)
def all_of_your_steps(lab, draw):
    """Trains on three batches with everything that you wrote in this lab so far."""
    cfg = TransformerConfig(11, 9, 6, 2, 10, 1, 1, dropout=0.0, max_len=20)
    model = lab.Transformer(cfg).double()
    weights = {
        name: draw.normal(*parameter.shape) / 4
        for name, parameter in Transformer(cfg).named_parameters()
    }
    transformer_names(cfg).give(model, weights)
    pairs = [
        (draw.integers(3, 11, 2 + i).tolist(), draw.integers(3, 9, 5 - i % 4).tolist())
        for i in range(9)
    ]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    batches = [lab.make_batch(pairs[start : start + 3]) for start in (0, 3, 6)]
    out = train(lab, model, batches, optimizer, halving(optimizer))
    with torch.no_grad():
        after = lab.sequence_loss(model, lab.make_batch(pairs))
    return {"losses": out, "loss after the last step": after}


@exercise.check(points=1.5, hidden=True, judge=COPY)
def sequences_copied(lab, draw):
    """Your saved model copies at least 99 of 100 new sequences; 80 earn half."""
    return lab.saved_weights("copy.safetensors")


@exercise.check(points=1.5, hidden=True, judge=DATES)
def dates_translated(lab, draw):
    """Your saved model writes at least 95 of 100 new dates correctly; 85 and 60 earn less."""
    return lab.saved_weights("dates.safetensors")


@exercise.check(points=1, hidden=True, judge=NUMBERS)
def numbers_translated(lab, draw):
    """Your saved model writes at least 95 of 100 new numbers correctly; 80 earn less."""
    return lab.saved_weights("numbers.safetensors")


def reference_weights(task):
    """The reference's own weights; other files of weights are made from them."""
    return load_file(exercise.path.parent / FILES[task])
