"""train_translator: the loop that teaches a model, and what the model then can do."""

from __future__ import annotations

import warnings

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.checking.judges import Close
from attnlab.checking.weights import MissingWeightError, give_weights, rename_weights
from attnlab.data import dates
from attnlab.data.dates import Batch
from attnlab.decoding import greedy
from attnlab.models.dates_translator import Encoder, Translator, dates_translator
from attnlab.seq2seq import (
    AdditiveScore,
    AttentionDecoderCell,
    attend,
    pad_batch,
    teacher_forced_loss,
    train_translator,
)
from gradekit.exercise import Exercise
from gradekit.exercise.trained import Band, ScoreBands

SAVED = "dates.safetensors"
exercise = Exercise(
    train_translator,
    uses=[pad_batch, AdditiveScore, attend, AttentionDecoderCell, teacher_forced_loss],
    saves=[SAVED],
    equivalent={
        "train_translator: `loss.detach()` → `loss` in `losses.append(loss.detach())`": (
            "the same numbers; the graphs of all steps stay in memory"
        ),
    },
)

VOCAB = 11
WIDTH = 5
HIDDEN_DATES = 500
# torch's clipping adds 1e-6 to the norm; clipping by hand need not.
ROUGHLY = Close(atol=1e-5, rtol=1e-5)


def names_of_the_score(names):
    """Names of weights, given without their beginning and with spaces between them."""
    return tuple(f"cell.score.{name}" for name in names.split())


# Students may lay out the decoder's score in their own way: other names and shapes of W and a.
SPELLINGS = {
    ("cell.score.W_s", "cell.score.W_h"): names_of_the_score(
        "W.weight W W_a.weight W_a linear.weight attn.weight"
    ),
    "cell.score.W_s": names_of_the_score(
        "W_s.weight Ws.weight Ws W1.weight W1 W_q.weight W_q Wa.weight Wa W_a.weight W_a W.weight W"
    ),
    "cell.score.W_h": names_of_the_score(
        "W_h.weight Wh.weight Wh W2.weight W2 W_k.weight W_k Ua.weight Ua U_a.weight U_a U.weight U"
    ),
    "cell.score.a": names_of_the_score(
        "a.weight v.weight v Va.weight v_a.weight v_a va.weight va V.weight w_v.weight"
    ),
}


def has_vector(tensors):
    """Whether the weights `a` are a plain vector in `tensors`, not a matrix."""
    names = SPELLINGS["cell.score.a"]
    return any(name in tensors and tensors[name].ndim == 1 for name in ("cell.score.a", *names))


class Toy(nn.Module):
    """A small model with `encode` and `cell` that notes in which mode it ran, and its gradients.

    Its scores are so large that every gradient is longer than 1, whatever is drawn: clipping at 1
    changes each step, and the same mistake costs the same with all inputs.
    """

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(VOCAB, WIDTH))
        self.mix = nn.Parameter(draw.normal(WIDTH, WIDTH) / 2)
        self.out = nn.Parameter(4 * draw.normal(WIDTH, VOCAB))
        self.modes = []
        self.reached = False
        for parameter in self.parameters():
            parameter.register_hook(self.note_gradient)

    def note_gradient(self, gradient):
        self.reached = True

    def encode(self, source, source_mask):
        self.modes.append(self.training)
        hidden = self.words[source] * source_mask[..., None]
        return hidden, hidden.sum(1).tanh()

    def cell(self, y_prev, state, hidden, source_mask):
        context = (hidden * state[:, None]).mean(1)
        state = (state @ self.mix + self.words[y_prev] + context).tanh()
        return state @ self.out, state, source_mask * 1.0


def batches(draw, count):
    """Batches of two sentences each, of changing lengths."""
    return [
        Batch(*table(draw, (3, 5 + i)), *table(draw, (2 + i, 4), ends=True)) for i in range(count)
    ]


def table(draw, lengths, ends=False):
    rows = [draw.integers(3, VOCAB, n).tolist() for n in lengths]
    rows = [[1, *row, 2] if ends else row for row in rows]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    return ids, torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]


def common_norm(tensors):
    return torch.cat([tensor.flatten() for tensor in tensors] or [torch.zeros(1)]).norm()


def weights_of(model):
    """The model's weights now, by names that say what they are."""
    return {f"weight `{name}`": one.detach().clone() for name, one in model.named_parameters()}


class Counting(torch.optim.SGD):
    """Gradient descent that counts its steps."""

    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)


@exercise.check(points=1, judge=ROUGHLY)
def losses(lab, draw):
    """Returns one number for each batch: its loss before the one step on it."""
    model = Toy(draw)
    optimizer = Counting(model.parameters(), lr=0.5)
    out = lab.train_translator(model, iter(batches(draw, 3)), optimizer)
    waits = hasattr(out, "__next__")
    out = list(out)
    return {
        "a generator": waits,
        "kinds of the losses": [type(loss).__name__ for loss in out],
        "`backward()` reaches the model's weights": model.reached,
        "steps of the optimizer": optimizer.steps,
        "losses": out,
    }


@exercise.check(points=1, judge=ROUGHLY)
def weights_after(lab, draw):
    """Takes one step for each batch: the weights afterwards are right."""
    seen = {}
    for name, kind, rate in (("SGD", torch.optim.SGD, 0.5), ("Adam", torch.optim.Adam, 0.05)):
        model = Toy(draw)
        lab.train_translator(model, batches(draw, 4), kind(model.parameters(), lr=rate))
        seen[f"after four steps of {name}"] = weights_of(model)
    return seen


@exercise.check(points=1, judge=ROUGHLY)
def clipping(lab, draw):
    """Clips the gradients' common norm at `max_norm`, before the optimizer uses them."""
    seen = {}
    for max_norm in (0.05, 1.0, 1e6):
        model = Toy(draw)
        before = weights_of(model)
        groups = [{"params": [model.words]}, {"params": [model.mix, model.out]}]
        optimizer = torch.optim.SGD(groups, lr=1.0)
        lab.train_translator(model, batches(draw, 1), optimizer, max_norm)
        moved = [now - before[name] for name, now in weights_of(model).items()]
        left = [p.grad.norm() for p in model.parameters() if p.grad is not None]
        seen[f"max_norm {max_norm:g}"] = {
            "how far the weights move": common_norm(moved),
            **weights_of(model),
            "gradients no longer than that": bool(common_norm(left) <= max_norm * (1 + 1e-9)),
        }
    return seen


@exercise.check(points=0.5)
def training_mode(lab, draw):
    """The model is in training mode at each batch, in whatever mode it comes."""
    seen = {}
    for mode in ("training", "evaluation"):
        model = Toy(draw).train(mode == "training")
        lab.train_translator(model, batches(draw, 2), torch.optim.SGD(model.parameters(), lr=0.1))
        modes = ["training" if training else "evaluation" for training in model.modes]
        seen[f"its modes, if it comes in {mode} mode"] = " ".join(dict.fromkeys(modes))
    return seen


@exercise.check(points=1, judge=ROUGHLY)
def learning_rates(lab, draw):
    """The scheduler takes one step after each step of the optimizer."""
    model = Toy(draw)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings(action="ignore"):  # torch's, about a scheduler that steps first
        lab.train_translator(model, batches(draw, 3), optimizer, 1.0, scheduler)
    return {
        "learning rate after three batches": optimizer.param_groups[0]["lr"],
        **weights_of(model),
    }


@exercise.check(points=0.5, hidden=True, judge=ROUGHLY)
def old_gradients(lab, draw):
    """Starts from gradients of zero, whatever was there before."""
    model = Toy(draw)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 3.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    out = lab.train_translator(model, batches(draw, 3), optimizer)
    return {"losses": list(out), **weights_of(model)}


@exercise.check(points=2, hidden=True, chained=True, judge=ROUGHLY)
def all_of_your_steps(lab, draw):
    """Trains on three batches of dates with everything that you wrote in this lab so far."""
    V, W = len(dates.SOURCE), len(dates.TARGET)
    model = Translator(Encoder(V, 5, 6), lab.AttentionDecoderCell(W, 5, 7, 6, 4), 6, 7).double()
    weights = {}
    for name, parameter in model.named_parameters():
        if not name.startswith("cell.score."):
            # So small that no gradient is longer than 1: clipping changes nothing here.
            weights[name] = draw.normal(*parameter.shape) / 4
    is_vector = has_vector(dict(model.named_parameters()))
    weights["cell.score.W_s"] = draw.normal(7, 4)
    weights["cell.score.W_h"] = draw.normal(6, 4)
    a = draw.normal(4)
    weights["cell.score.a"] = a if is_vector else a[:, None]
    give_weights(model, weights, SPELLINGS)
    some = dates.pairs(12, int(draw.integers(0, 10**6, 1)))
    in_batches = [dates.batch_of(some[i : i + 4], lab.pad_batch) for i in (0, 4, 8)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    out = lab.train_translator(model, in_batches, optimizer)
    with torch.no_grad():
        after = lab.teacher_forced_loss(model, in_batches[0])
    return {"losses": out, "loss after the last step": after}


def exact_match(weights, seed):
    """The share of dates from the hidden split that a model with these weights translates."""
    model = dates_translator(AttentionDecoderCell)
    shapes = dict(model.state_dict())
    joined = shapes.pop("cell.score.W.weight").mT  # (d_state + d_hidden, d_score)
    d_state = shapes["cell.gru.weight_hh"].shape[1]
    shapes["cell.score.W_s"], shapes["cell.score.W_h"] = joined[:d_state], joined[d_state:]
    a = shapes.pop("cell.score.a.weight").mT  # (d_score, 1)
    shapes["cell.score.a"] = a[:, 0] if has_vector(weights) else a
    known = rename_weights(weights, shapes, SPELLINGS)
    known["cell.score.a"] = known["cell.score.a"].reshape(-1, 1)
    if not all(torch.isfinite(tensor).all() for tensor in known.values()):
        raise MissingWeightError("a weight is NaN or infinite")
    give_weights(model, known, SPELLINGS)
    some = dates.pairs(HIDDEN_DATES, seed, "test")
    batch = dates.batch_of(some, pad_batch)
    written = greedy(model.eval(), batch.source, batch.source_mask, dates.BOS, dates.EOS, 12)
    return dates.exact_match(written, some)


# From bands.json: 12 seeds, see measure.py.
BANDS = (
    Band(0.98, 1.0, 1.0),
    Band(0.90, 0.98, 0.7, "That is close. Did the training run to the end of its last pass?"),
    Band(
        0.80,
        0.90,
        0.4,
        "Most dates are right, but the training stopped early or lost too many of its steps. "
        "Look at the curve of the losses: is it still falling at its end?",
    ),
)
OTHERWISE = (
    "Fewer than four in five dates are translated correctly. Do the losses fall, and does every "
    "check above pass? If so, train once more from the beginning."
)


@exercise.check(points=3, hidden=True, judge=ScoreBands(exact_match, BANDS, OTHERWISE))
def dates_translated(lab, draw):
    """Your saved model writes at least 98 of 100 new dates correctly; 90 and 80 earn less."""
    return lab.saved_weights("dates.safetensors")


def reference_weights():
    """The reference's own weights; other files of weights are made from them."""
    return load_file(exercise.saved_paths[0])
