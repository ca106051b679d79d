"""train_translator: the loop that teaches a model, and what the model then can do."""

from __future__ import annotations

import warnings
from pathlib import Path

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
)

VOCAB = 11
WIDTH = 5
HIDDEN_DATES = 500
# torch's clipping adds 1e-6 to the norm; clipping by hand need not.
ROUGHLY = Close(atol=1e-5, rtol=1e-5)

# The decoder's score may be laid out as the student likes: other layouts of W and a.
SPELLINGS = {
    ("cell.score.W_s", "cell.score.W_h"): (
        "cell.score.W.weight",
        "cell.score.W",
        "cell.score.W_a.weight",
        "cell.score.W_a",
        "cell.score.linear.weight",
        "cell.score.attn.weight",
    ),
    "cell.score.W_s": (
        "cell.score.W_s.weight",
        "cell.score.Ws.weight",
        "cell.score.Ws",
        "cell.score.W1.weight",
        "cell.score.W1",
        "cell.score.W_q.weight",
        "cell.score.W_q",
        "cell.score.Wa.weight",
        "cell.score.Wa",
        "cell.score.W_a.weight",
        "cell.score.W_a",
        "cell.score.W.weight",
        "cell.score.W",
    ),
    "cell.score.W_h": (
        "cell.score.W_h.weight",
        "cell.score.Wh.weight",
        "cell.score.Wh",
        "cell.score.W2.weight",
        "cell.score.W2",
        "cell.score.W_k.weight",
        "cell.score.W_k",
        "cell.score.Ua.weight",
        "cell.score.Ua",
        "cell.score.U_a.weight",
        "cell.score.U_a",
        "cell.score.U.weight",
        "cell.score.U",
    ),
    "cell.score.a": (
        "cell.score.a.weight",
        "cell.score.v.weight",
        "cell.score.v",
        "cell.score.Va.weight",
        "cell.score.v_a.weight",
        "cell.score.v_a",
        "cell.score.va.weight",
        "cell.score.va",
        "cell.score.V.weight",
        "cell.score.w_v.weight",
    ),
}


def has_vector(tensors):
    """Whether the weights `a` are a plain vector there, not a matrix."""
    names = SPELLINGS["cell.score.a"]
    return any(name in tensors and tensors[name].ndim == 1 for name in ("cell.score.a", *names))


class Toy(nn.Module):
    """A small model with `encode` and `cell`, which notes in which mode it ran."""

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(VOCAB, WIDTH))
        self.mix = nn.Parameter(draw.normal(WIDTH, WIDTH) / 2)
        self.out = nn.Parameter(draw.normal(WIDTH, VOCAB))
        self.modes = []

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
    return [parameter.detach().clone() for parameter in model.parameters()]


class Counting(torch.optim.SGD):
    """Gradient descent that counts its steps."""

    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)


@exercise.check(points=1, judge=ROUGHLY)
def losses(lab, draw):
    """Gives back one number for each batch: its loss before the one step on it."""
    model = Toy(draw)
    optimizer = Counting(model.parameters(), lr=0.5)
    out = lab.train_translator(model, batches(draw, 3), optimizer)
    waits = hasattr(out, "__next__")
    out = list(out)
    return {
        "a generator": waits,
        "types": [type(loss).__name__ for loss in out],
        "steps of the optimizer": optimizer.steps,
        "losses": out,
    }


@exercise.check(points=1.5, judge=ROUGHLY)
def weights_after(lab, draw):
    """Leaves the weights where a step for each batch takes them."""
    seen = {}
    for name, kind, rate in (("SGD", torch.optim.SGD, 0.5), ("Adam", torch.optim.Adam, 0.05)):
        model = Toy(draw)
        lab.train_translator(model, batches(draw, 4), kind(model.parameters(), lr=rate))
        seen[name] = weights_of(model)
    return seen


@exercise.check(points=1.5, judge=ROUGHLY)
def clipping(lab, draw):
    """Clips the gradients' common norm at `max_norm`, before the optimizer uses them."""
    seen = {}
    for max_norm in (0.05, 1.0, 1e6):
        model = Toy(draw)
        before = weights_of(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        lab.train_translator(model, batches(draw, 1), optimizer, max_norm)
        moved = [now - then for now, then in zip(weights_of(model), before, strict=True)]
        left = [p.grad.norm() for p in model.parameters() if p.grad is not None]
        seen[f"max_norm {max_norm:g}"] = {
            "how far the weights move": common_norm(moved),
            "weights": weights_of(model),
            "gradients no longer than that": bool(common_norm(left) <= max_norm * (1 + 1e-9)),
        }
    return seen


@exercise.check(points=1, hidden=True, judge=ROUGHLY)
def mode_schedule_and_old_gradients(lab, draw):
    """Trains in training mode, follows the scheduler, and starts from gradients of zero."""
    model = Toy(draw).eval()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 3.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings(action="ignore"):  # torch's own, of a scheduler that goes first
        out = lab.train_translator(model, iter(batches(draw, 3)), optimizer, 0.7, scheduler)
    other = Toy(draw)
    lab.train_translator(other, batches(draw, 1), torch.optim.SGD(other.parameters(), lr=0.5))
    return {
        "training mode": model.modes,
        "training mode again": other.modes,
        "losses": out,
        "weights": weights_of(model),
        "learning rate": optimizer.param_groups[0]["lr"],
    }


@exercise.check(points=2, hidden=True, chained=True, judge=ROUGHLY)
def all_of_your_steps(lab, draw):
    """Trains three batches of dates with everything that you wrote in this lab so far."""
    V, W = len(dates.SOURCE), len(dates.TARGET)
    model = Translator(Encoder(V, 5, 6), lab.AttentionDecoderCell(W, 5, 7, 6, 4), 6, 7).double()
    weights = {}
    for name, parameter in model.named_parameters():
        if not name.startswith("cell.score."):
            weights[name] = draw.normal(*parameter.shape) / 2
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


# From train_translator.bands.json: 12 seeds, see _measure_train_translator.py.
BANDS = (
    Band(0.98, 1.0, 1.0),
    Band(0.90, 0.98, 0.7, "That is close. Did the training run to the end of its last pass?"),
    Band(
        0.80,
        0.90,
        0.4,
        "Most dates are right, but the training stopped early or too many of its steps were lost. "
        "Look at the curve of the losses: is it still falling at its end?",
    ),
)
OTHERWISE = (
    "Fewer than four in five are translated without a fault. Do the losses fall, and does every "
    "check above pass? If so, train once more from the beginning."
)


@exercise.check(points=3, hidden=True, judge=ScoreBands(exact_match, BANDS, OTHERWISE))
def dates_translated(lab, draw):
    """Your saved model writes at least 98 of 100 new dates without a fault; 90 and 80 earn less."""
    return lab.saved_weights("dates.safetensors")


def step(model, batch, optimizer, max_norm, scheduler):
    """One right step; a part that the wrong versions share."""
    optimizer.zero_grad()
    loss = teacher_forced_loss(model, batch)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return loss.item()


@exercise.mistake(
    "Gradients of all batches add up: nobody sets them back. Which call belongs before every "
    "backward()?"
)
def no_zero_grad(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake(
    "Gradients are set to zero once, before the loop; from the second batch on they add up. How "
    "often is a gradient used, and how often must it be fresh?"
)
def zero_grad_once(model, batches, optimizer, max_norm=1.0, scheduler=None):
    optimizer.zero_grad()
    return no_zero_grad(model, batches, optimizer, max_norm, scheduler)


@exercise.mistake(
    "Within the pass each step is fresh, but the first one adds to gradients that were there "
    "before you were called. Is your zero_grad() before the first backward()?"
)
def zero_grad_at_the_end(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        seen += no_zero_grad(model, [batch], optimizer, max_norm, scheduler)
        optimizer.zero_grad()
    return seen


@exercise.mistake(
    "The weights do not move: the gradients are set to zero between backward() and step(), and "
    "the optimizer finds nothing. In which order do the calls come?"
)
def zeroed_before_step(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        optimizer.zero_grad(set_to_none=False)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake(
    "The weights stay where they were: the optimizer never takes a step. What are the gradients "
    "there for?"
)
def no_step(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake(
    "The gradients reach the optimizer as long as they were: no clipping, or clipping where there "
    "are no gradients yet. What is `max_norm` for? (A recurrent model now and then has a gradient "
    "a hundred times too long.)"
)
def no_clipping(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    return [step(model, batch, optimizer, float("inf"), scheduler) for batch in batches]


@exercise.mistake(
    "Clipping comes after the optimizer has used the gradients: it shortens what nobody reads any "
    "more. Between which two calls does it belong?"
)
def clipped_after_step(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        seen.append(step(model, batch, optimizer, float("inf"), scheduler))
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    return seen


@exercise.mistake(
    "You cut each entry of the gradients at max_norm. That bends their direction. What is the "
    "*norm* of all gradients together, and which of torch's two clipping functions looks at it?"
)
def clipped_by_value(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake(
    "Each parameter's gradient is clipped by itself, so together they are longer than max_norm, "
    "and their direction bends. Whose norm is to be limited?"
)
def clipped_one_by_one(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        for parameter in model.parameters():
            nn.utils.clip_grad_norm_(parameter, max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake("You always clip at 1, whatever `max_norm` says. Where is the argument used?")
def clipped_at_one(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    return [step(model, batch, optimizer, 1.0, scheduler) for batch in batches]


@exercise.mistake(
    "The gradients are made as long as max_norm, also where they were shorter. Clipping only ever "
    "shortens: when is there nothing to do?"
)
def always_scaled(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        for parameter in model.parameters():
            parameter.grad *= max_norm / norm
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        seen.append(loss.item())
    return seen


@exercise.mistake(
    "The model is in evaluation mode while it learns: dropout would be switched off. Which call "
    "puts it into the other mode?"
)
def in_eval_mode(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.eval()
    return [step(model, batch, optimizer, max_norm, scheduler) for batch in batches]


@exercise.mistake(
    "The model stays in the mode in which it came. If somebody looked at its accuracy just before, "
    "which mode is that?"
)
def mode_left_as_it_was(model, batches, optimizer, max_norm=1.0, scheduler=None):
    return [step(model, batch, optimizer, max_norm, scheduler) for batch in batches]


@exercise.mistake(
    "One number comes back: the loss of the last batch. The curve of the losses needs all of them: "
    "where are they collected?"
)
def loss_of_the_last_batch(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    return [step(model, batch, optimizer, max_norm, scheduler) for batch in batches][-1:]


@exercise.mistake(
    "One number comes back: the mean of the losses. Which number of each batch is asked for?"
)
def mean_of_losses(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = [step(model, batch, optimizer, max_norm, scheduler) for batch in batches]
    return [sum(seen) / len(seen)]


@exercise.mistake(
    "Your list holds tensors, and each of them keeps its batch's whole graph in memory. Which "
    "method gives the plain number?"
)
def tensors_returned(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    return [
        torch.tensor(step(model, batch, optimizer, max_norm, scheduler), dtype=torch.float64)
        for batch in batches
    ]


@exercise.mistake(
    "Your losses are those after the step, measured by looking at the batch a second time. Which "
    "loss did backward() start from?"
)
def loss_after_the_step(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        step(model, batch, optimizer, max_norm, scheduler)
        with torch.no_grad():
            seen.append(teacher_forced_loss(model, batch).item())
    return seen


@exercise.mistake(
    "Your function has a `yield` in it, so calling it trains nothing: it hands back a generator "
    "that waits to be read. What collects the losses while the loop runs?"
)
def yielded_one_by_one(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    for batch in batches:
        yield step(model, batch, optimizer, max_norm, scheduler)


@exercise.mistake(
    "Only the first batch is used: a `return` stands inside the loop. Is it indented once too "
    "often?"
)
def returns_inside_the_loop(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    for batch in batches:
        return [step(model, batch, optimizer, max_norm, scheduler)]


@exercise.mistake(
    "The scheduler is not used, so the learning rate stays as it was. When does it take a step?"
)
def scheduler_ignored(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    return [step(model, batch, optimizer, max_norm, None) for batch in batches]


@exercise.mistake(
    "The scheduler takes one step for the whole pass. The docstring asks for one after each step "
    "of the optimizer: is the line inside the loop?"
)
def scheduler_once_a_pass(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = [step(model, batch, optimizer, max_norm, None) for batch in batches]
    if scheduler is not None:
        scheduler.step()
    return seen


@exercise.mistake(
    "The scheduler steps before the optimizer, so the first learning rate is never used. Which of "
    "the two comes first?"
)
def scheduler_first(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        if scheduler is not None:
            scheduler.step()
        seen.append(step(model, batch, optimizer, max_norm, None))
    return seen


@exercise.mistake(
    "Without a scheduler your code stops: `scheduler` is None unless somebody passes one. What is "
    "to be done then?"
)
def scheduler_required(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for batch in batches:
        seen.append(step(model, batch, optimizer, max_norm, None))
        scheduler.step()
    return seen


@exercise.mistake(
    "The batches are asked for their number, but they may come one after another from a generator, "
    "which has no len() and can be read once. Does your loop need to know how many there are?"
)
def batches_counted(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    seen = []
    for i in range(len(batches)):
        seen.append(step(model, batches[i], optimizer, max_norm, scheduler))
    return seen


def reference_weights():
    """The reference's own weights; the wrong files are made from them."""
    return load_file(Path(__file__).parent / SAVED)


def shaken(amount):
    """The reference's weights with noise added: a model that was trained less."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: tensor + amount * torch.randn(tensor.shape, generator=generator)
        for name, tensor in reference_weights().items()
    }


@exercise.mistake(
    "The saved model has learnt nothing: its weights are still those it was made with. Was the "
    "file saved before the training?",
    of=SAVED,
)
def untrained():
    return dict(dates_translator(AttentionDecoderCell).state_dict())


@exercise.mistake(
    "The model is good, and not yet as good as it gets. Did the training run to the end of its "
    "last pass? The learning rate is small by then, and those are the steps that polish.",
    of=SAVED,
)
def nearly_trained():
    return shaken(0.059)


@exercise.mistake(
    "Most dates are right, but the training was cut short. How many passes did it make, and is the "
    "curve of the losses still falling at its end?",
    of=SAVED,
)
def half_trained():
    return shaken(0.073)


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit the translator "
    "that the lab builds. Which call made the model that you saved?",
    of=SAVED,
)
def another_model():
    return {name: torch.zeros_like(tensor) for name, tensor in nn.GRU(7, 5).state_dict().items()}


@exercise.mistake(
    "A weight in the file is NaN. Once a loss is NaN, everything after it is: at which step of "
    "your curve does that happen?",
    of=SAVED,
)
def weights_of_nan():
    return {name: tensor * float("nan") for name, tensor in reference_weights().items()}


@exercise.also_right(of=SAVED)
def score_in_two_parts():
    weights = reference_weights()
    W = weights.pop("cell.score.W.weight")
    a = weights.pop("cell.score.a.weight")
    return {
        **weights,
        "cell.score.W_s.weight": W[:, :64].contiguous(),
        "cell.score.W_h.weight": W[:, 64:].contiguous(),
        "cell.score.a": a[0].double(),
    }


@exercise.also_right(of="train_translator")
def by_enumerating(model, batches, optimizer, max_norm=1.0, scheduler=None):
    model.train()
    history = []
    for number, batch in enumerate(batches):
        loss = teacher_forced_loss(model, batch)
        for parameter in model.parameters():
            parameter.grad = None
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm, norm_type=2)
        optimizer.step()
        if scheduler:
            scheduler.step()
        assert number == len(history)
        history.append(float(loss.detach()))
    model.eval()
    return history


@exercise.also_right(of="train_translator")
def clipped_by_hand(model, batches, optimizer, max_norm=1.0, scheduler=None):
    history = []
    for batch in batches:
        model.train()
        model.zero_grad()
        loss = teacher_forced_loss(model, batch)
        history.append(loss.item())
        loss.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.sqrt(sum((g * g).sum() for g in grads))
        for grad in grads:
            grad.mul_(min(1.0, max_norm / norm.item()))
        optimizer.step()
        optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()
    return history
