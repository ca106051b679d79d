"""train_gpt: a split by documents, a loss for the Trainer, an honest measure, and two models."""

from __future__ import annotations

import hashlib
import math

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.checking.weights import give_weights
from attnlab.decoder_only import GPT, Block
from attnlab.gpt import GPTConfig, init_gpt
from attnlab.language_modeling import (
    bits_per_byte,
    get_batch,
    lm_loss,
    split_documents,
    text_loss,
)
from gradekit.exercise import Exercise

from .bands import MANUALS, MARKOV

ON_THE_CPU = "the labs run on the CPU, which is the default device"
EQUALLY_LONG = "both are split in the same way, so there are equally many"
FILES = {task: f"{task}_gpt.safetensors" for task in ("markov", "manuals")}
exercise = Exercise(
    split_documents,
    lm_loss,
    text_loss,
    bits_per_byte,
    uses=[Block, GPT, init_gpt, get_batch],
    saves=list(FILES.values()),
    equivalent={
        "lm_loss: `torch.tensor(y.numel(), device=y.device)` → `torch.tensor(y.numel())` in "
        "`return Sums(loss, torch.tensor(y.numel(), device=y.device))`": ON_THE_CPU,
        "text_loss: `ids[:-1].to(device)` → `ids[:-1]` in "
        "`x, y = (ids[:-1].to(device), ids[1:].to(device))`": ON_THE_CPU,
        "text_loss: `ids[1:].to(device)` → `ids[1:]` in "
        "`x, y = (ids[:-1].to(device), ids[1:].to(device))`": ON_THE_CPU,
        "text_loss: `Lt` → `LtE` in `if full < len(x):`": "a window of no tokens adds nothing",
        "text_loss: `zip(xs.split(ROWS), ys.split(ROWS), strict=True)` → "
        "`zip(xs.split(ROWS), ys.split(ROWS))` in "
        "`for rows, labels in zip(xs.split(ROWS), ys.split(ROWS), strict=True):`": EQUALLY_LONG,
        "text_loss: `True` → `False` in "
        "`for rows, labels in zip(xs.split(ROWS), ys.split(ROWS), strict=True):`": EQUALLY_LONG,
    },
)

V = 9


def texts(draw, count):
    """Short texts in several scripts, some of them twice."""
    words = ("low", "naïve", "用户", "\n", "🙂", "new ")
    rows = draw.integers(0, len(words), count, 3).tolist()
    return ["".join(words[i] for i in row) + str(n % 71) for n, row in enumerate(rows)]


@exercise.check(points=1.5)
def parts_of_texts(lab, draw):
    """Each text is on the side that its bytes decide, once, in the order of the collection."""
    some = texts(draw, 120)
    again = some + some[:40]
    seen = {}
    for share in (0.05, 0.5):
        train, validation = lab.split_documents(again, share)
        seen[f"share {share}: for training"] = list(train)
        seen[f"share {share}: for validation"] = list(validation)
    return seen


@exercise.check(points=1, hidden=True)
def parts_that_stay(lab, draw):
    """The side of a text depends on nothing else; shares of 0, 1, or just its number are exact."""
    some = texts(draw, 90)
    _, before = lab.split_documents(some, 0.3)
    _, after = lab.split_documents([*reversed(some), *texts(draw, 60), "\n".join(some)], 0.3)
    kept = list(some)
    nothing, everything = lab.split_documents(some, 0.0), lab.split_documents(some, 1.0)
    first_bytes = hashlib.sha256(some[0].encode()).digest()[:4]
    at_the_border = lab.split_documents(some[:1], int.from_bytes(first_bytes, "big") / 2**32)
    return {
        "share · 2³² is the text's number": [len(part) for part in at_the_border],
        "texts that moved to training": len(set(before) - set(after)),
        "share 0": [len(part) for part in nothing],
        "share 1": [len(part) for part in everything],
        "no texts": [list(part) for part in lab.split_documents([], 0.5)],
        "types": [type(part).__name__ for part in nothing],
        "the collection is as it was": kept == some,
    }


class Reader(nn.Module):
    """Logits that depend on all tokens so far; it drops in training and records its calls."""

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(V, V))
        self.places = nn.Parameter(draw.normal(40, V))
        self.dropout = nn.Dropout(0.5)
        self.calls = []

    def forward(self, x):
        self.calls.append((list(x.shape), self.training, torch.is_grad_enabled()))
        logits = self.words[x].cumsum(1) + self.places[: x.shape[1]]  # (B, T, V)
        return self.dropout(logits)


def a_batch(draw, B=3, T=5):
    return draw.integers(0, V, B, T), draw.integers(0, V, B, T)


@exercise.check(points=1.5)
def sum_and_number(lab, draw):
    """Returns the summed surprise of all tokens of y, and how many they are."""
    model, batch = Reader(draw).eval(), a_batch(draw)
    found = lab.lm_loss(model, batch)
    sums = list(found)
    return {
        "loss": sums[0],
        "count": sums[1],
        "names": [hasattr(found, "loss"), hasattr(type(found), "_fields")],
        "shapes": [list(one.shape) for one in sums if isinstance(one, torch.Tensor)],
        "shapes of the model's calls": [call[0] for call in model.calls],
    }


@exercise.check(points=1, hidden=True)
def loss_in_training(lab, draw):
    """Leaves the mode alone, gradients flow, large logits are safe, and any sizes are right."""
    model, batch = Reader(draw), a_batch(draw)
    model.dropout.p = 0.0
    kept = [part.clone() for part in batch]
    for training in (True, False):
        model.train(mode=training)
        lab.lm_loss(model, batch)
    modes = [call[1] for call in model.calls]
    lab.lm_loss(model, batch).loss.backward()

    def ask(B, T):
        return list(lab.lm_loss(model, a_batch(draw, B, T)))

    with torch.no_grad():
        large = Reader(draw).eval()
        large.words.mul_(2e3)
        far = lab.lm_loss(large, batch).loss
    return {
        "modes": modes,
        "mode afterwards": model.training,
        "gradient": model.words.grad,
        "logits in the thousands": far,
        "the batch is as it was": all(map(torch.equal, batch, kept)),
        **draw.each_size(ask, B=3, T=5),
    }


@exercise.check(points=1.5)
def every_token_once(lab, draw):
    """Each token but the first counts once and the same, in the shorter last window, too."""
    model = Reader(draw).eval()
    ids = draw.integers(0, V, 24)
    return {
        "24 tokens, windows of 7": lab.text_loss(model, ids, 7),
        "22 tokens, windows of 7: no shorter one": lab.text_loss(model, ids[:22], 7),
        "one window is enough": lab.text_loss(model, ids, 40),
        "two tokens": lab.text_loss(model, ids[:2], 7),
    }


@exercise.check(points=1)
def evaluation_mode(lab, draw):
    """The model runs without dropout and without gradients, and its mode is restored."""
    model, ids = Reader(draw), draw.integers(0, V, 24)
    seen = {}
    for training in (True, False):
        model.train(mode=training).calls.clear()
        seen[f"training={training}: loss"] = lab.text_loss(model, ids, 7)
        seen[f"training={training}: ran with dropout"] = any(call[1] for call in model.calls)
        seen[f"training={training}: ran with gradients"] = any(call[2] for call in model.calls)
        seen[f"training={training}: mode afterwards"] = [model.training, model.dropout.training]
    seen["gradients are on afterwards"] = torch.is_grad_enabled()
    return seen


@exercise.check(points=1, hidden=True)
def windows_of_a_text(lab, draw):
    """Is right for any sizes; no window is longer than the context; returns a Python float."""
    model = Reader(draw).eval()

    def ask(N, context):
        return lab.text_loss(model, draw.integers(0, V, N + 1), context)

    seen = draw.each_size(ask, N=13, context=4)
    model.calls.clear()
    ids = draw.integers(0, V, 1500)
    kept = ids.clone()
    found = lab.text_loss(model, ids, 5)
    return {
        **seen,
        "1,500 tokens": found,
        "type": type(found).__name__,
        "tokens read": sum(math.prod(call[0]) for call in model.calls),
        "longest window": max(call[0][1] for call in model.calls),
        "the text is as it was": torch.equal(ids, kept),
    }


@exercise.check(points=1)
def known_bits(lab, draw):
    """Guessing bytes costs 8 bits each; tokens of four bytes at the same loss cost a quarter."""
    return {
        "a uniform guess of bytes": lab.bits_per_byte(math.log(256), 1000, 1000),
        "tokens of four bytes": lab.bits_per_byte(math.log(256), 250, 1000),
        "3 nats, 700 tokens, 2,000 bytes": lab.bits_per_byte(3.0, 700, 2000),
    }


@exercise.check(points=0.5, hidden=True)
def any_bits(lab, draw):
    """Is right for any numbers, and returns a float."""
    seen = []
    for _ in range(4):
        tokens = int(draw.integers(1, 900))
        seen.append(lab.bits_per_byte(float(draw.uniform(1)) * 7, tokens, tokens + 350))
    return {"bits per byte": seen, "type": type(seen[0]).__name__}


@exercise.check(points=0.5, hidden=True, chained=True)
def all_of_your_steps(lab, draw):
    """Trains for three steps with everything that you wrote in 9.4, 9.5 and here."""
    cfg = GPTConfig(V, context=6, d_model=8, num_heads=2, num_layers=2)
    model = lab.GPT(cfg)
    lab.init_gpt(model, generator=torch.Generator().manual_seed(0))
    deviation = float(
        torch.cat([p.detach().flatten() for p in model.parameters() if p.ndim > 1]).std()
    )
    model.double()
    weights = {name: draw.normal(*p.shape) / 3 for name, p in GPT(cfg).named_parameters()}
    give_weights(model, weights)
    data = draw.integers(0, V, 7)  # one window, so all right answers draw the same
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        found = lab.lm_loss(model, lab.get_batch(data, 4, 6, torch.Generator().manual_seed(1)))
        optimizer.zero_grad()
        (found.loss / found.count).backward()
        optimizer.step()
        losses.append(found.loss.detach())
    nats = lab.text_loss(model, draw.integers(0, V, 20), 6)
    return {
        "losses": losses,
        "bits per byte afterwards": lab.bits_per_byte(nats, 19, 40),
        "first weights are small": deviation < 0.03,
    }


@exercise.check(points=1.5, hidden=True, judge=MARKOV)
def source_learned(lab, draw):
    """Your saved model of the source is at most 0.12 nats above its entropy, on new sequences."""
    return lab.saved_weights("markov_gpt.safetensors")


@exercise.check(points=2, hidden=True, judge=MANUALS)
def manuals_learned(lab, draw):
    """Your saved model needs fewer bits per byte of new manuals than pairs of tokens, and gzip."""
    return lab.saved_weights("manuals_gpt.safetensors")


def reference_weights(task):
    """The reference's own weights; other files of weights are made from them."""
    return load_file(exercise.path.parent / FILES[task])
