"""accumulate: the gradients of a large batch, from several small ones."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnlab.checking.judges import Close
from attnlab.optimizers import Adam, clip_global_norm, noam
from attnlab.train_step import Sums, accumulate
from gradekit.exercise import Exercise

exercise = Exercise(
    accumulate,
    uses=[Adam, noam, clip_global_norm],
    equivalent={
        "accumulate: `found.count.detach()` → `found.count` in "
        "`counts.append(found.count.detach())`": "a number of tokens has no graph",
        "accumulate: `0` → `1` in `divisor = torch.where(total.count > 0, total.count, 1)`": (
            "a count of 1 is replaced by 1"
        ),
        "accumulate: `1` → `2` in `divisor = torch.where(total.count > 0, total.count, 1)`": (
            "gradients of 0 stay 0, whatever divides them"
        ),
    },
)

ROUNDED = Close(atol=1e-6, rtol=1e-6)  # 1 / count of a whole number is float32


class Words(nn.Module):
    """A small model; one of its parameters is not part of any loss, and one is frozen."""

    def __init__(self, draw, d, V):
        super().__init__()
        self.table, self.out = nn.Parameter(draw.normal(V, d)), nn.Parameter(draw.normal(d, V))
        self.unused = nn.Parameter(draw.normal(d))
        self.frozen = nn.Parameter(draw.normal(V), requires_grad=False)

    def forward(self, x):
        return torch.tanh(self.table[x]) @ self.out + self.frozen


def summed(model, batch):
    """The loss of a micro-batch, as a sum over its tokens."""
    x, y = batch
    loss = nn.functional.cross_entropy(model(x), y, reduction="sum")
    return Sums(loss, torch.tensor(len(y)))


def cut(draw, V, *counts):
    """A batch of as many random tokens, cut into micro-batches."""
    x, y = draw.integers(0, V, sum(counts)), draw.integers(0, V, sum(counts))
    return list(zip(x.split(counts), y.split(counts), strict=True))


def gradients(model):
    """The gradients of parameters that the loss depends on, and whether the others stay without."""
    others = [model.unused.grad, model.frozen.grad]
    return {
        "table": "no gradient yet" if model.table.grad is None else model.table.grad.clone(),
        "output": "no gradient yet" if model.out.grad is None else model.out.grad.clone(),
        "others have none": [grad is None or not grad.any() for grad in others],
    }


def accumulated(lab, draw, *counts, d=5, V=7):
    """The gradients after a call with micro-batches of so many tokens."""
    model = Words(draw, d, V)
    lab.accumulate(model, summed, cut(draw, V, *counts))
    return gradients(model)


@exercise.check(points=2, judge=ROUNDED)
def like_the_large_batch(lab, draw):
    """7 tokens and 3 tokens give the gradients of the mean over 10."""
    seen = {}
    for name, counts in (("7 and 3", (7, 3)), ("3 and 7", (3, 7)), ("all 10 at once", (10,))):
        seen[name] = accumulated(lab, draw, *counts)
    return seen


@exercise.check(points=0.5, judge=ROUNDED)
def sums_returned(lab, draw):
    """Returns the sums of all losses and counts, as tensors without a graph."""
    found = lab.accumulate(Words(draw, 4, 6), summed, cut(draw, 6, 5, 2, 1))
    both = [getattr(found, name, None) for name in ("loss", "count")]
    both = ["no number" if value is None or callable(value) else value for value in both]
    return {
        "is one tensor or nothing": isinstance(found, Tensor | None),
        "is nothing": found is None,
        "loss": both[0],
        "count": both[1],
        "tensors without dimensions": [isinstance(x, Tensor) and x.ndim == 0 for x in both],
        "with a graph": [isinstance(x, Tensor) and x.requires_grad for x in both],
    }


@exercise.check(points=1, judge=ROUNDED)
def one_at_a_time(lab, draw):
    """The gradients of a micro-batch are computed before the next loss is."""
    events = []

    def watched(model, batch):
        events.append(f"loss of {len(batch[1])}")
        found = summed(model, batch)
        found.loss.register_hook(lambda grad: events.append("gradients"))
        return found

    lab.accumulate(Words(draw, 4, 6), watched, cut(draw, 6, *draw.integers(1, 9, 3).tolist()))
    return events


@exercise.check(points=2, hidden=True, judge=ROUNDED)
def other_cuts(lab, draw):
    """Is right for one micro-batch or many, and for some with a single token or none."""
    cuts = ((1,), (1, 2, 3, 4), (7, 0, 3), (0, 4), (5, 0), (4, 4, 4), (1, 1), (1, 9, 2, 2, 6, 3))
    return {
        **{str(counts): accumulated(lab, draw, *counts) for counts in cuts},
        "one feature": accumulated(lab, draw, 2, 5, d=1),
        "as many features as symbols": accumulated(lab, draw, 3, 1, d=4, V=4),
    }


@exercise.check(points=0.5, hidden=True, judge=ROUNDED)
def earlier_gradients(lab, draw):
    """Gradients from before are dropped, so that a second call gives the same again."""
    model, batches = Words(draw, 5, 7), cut(draw, 7, 2, 6)
    for parameter in (model.table, model.out, model.unused):
        parameter.grad = draw.normal(*parameter.shape)
    seen = []
    for _ in range(2):
        lab.accumulate(model, summed, batches)
        seen.append(gradients(model))
    return seen


@exercise.check(points=0.5, hidden=True, judge=ROUNDED)
def no_tokens(lab, draw):
    """If no micro-batch has a token, the gradients are 0 and the sums are, too."""
    model = Words(draw, 5, 7)
    loss, count = lab.accumulate(model, summed, cut(draw, 7, 0, 0))
    used = [model.table.grad, model.out.grad]
    return {
        "gradients are 0": [grad is None or bool((grad == 0).all()) for grad in used],
        "loss and count": [float(loss), float(count)],
    }


@exercise.check(points=1, hidden=True, judge=ROUNDED)
def an_iterator(lab, draw):
    """Takes an iterator, calls the loss once for each of its micro-batches, and keeps weights."""
    model, called = Words(draw, 5, 7), []
    before = [parameter.detach().clone() for parameter in model.parameters()]

    def counted(model, batch):
        called.append(len(batch[1]))
        return summed(model, batch)

    returned = lab.accumulate(model, counted, iter(cut(draw, 7, 3, 1, 4)))
    weights = zip(model.parameters(), before, strict=True)
    return {
        "gradients": gradients(model),
        "loss called with tokens": called,
        "loss and count": [float(number) for number in returned],
        "weights as they were": [torch.equal(now, then) for now, then in weights],
    }


@exercise.check(points=0.5, hidden=True, chained=True, judge=ROUNDED)
def all_of_your_steps(lab, draw):
    """Makes three updates with what you wrote in 8.1, 8.2, 8.6 and here."""
    model, seen = Words(draw, 5, 7), []
    optimizer = lab.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in (1, 2, 3):
        for group in optimizer.param_groups:
            group["lr"] = lab.noam(step, 16, 2)
        sums = lab.accumulate(model, summed, cut(draw, 7, 6, 3, 2))
        length = lab.clip_global_norm(model.parameters(), 0.2)
        optimizer.step()
        seen.append({"loss": float(sums.loss), "length of the gradients": float(length)})
    weights = {"table": model.table.detach(), "output": model.out.detach()}
    return {"updates": seen, "weights afterwards": weights}


exercise.promises(
    {
        "Afterwards, the `grad` of each parameter is the gradient of the mean loss over all tokens "
        "of all micro-batches, however the tokens are divided between them.": (
            "like_the_large_batch other_cuts"
        ),
        "Gradients from before are dropped.": "earlier_gradients",
        "The gradients of a micro-batch are computed before the next loss is, so that only one "
        "micro-batch at a time takes memory for its backward pass.": "one_at_a_time",
        "the loss need not depend on all of its parameters": "like_the_large_batch",
        "called once for each micro-batch as `loss(model, micro_batch)`; returns `Sums`": (
            "an_iterator"
        ),
        "in a list or an iterator": "an_iterator",
        "Some may be without tokens (their count is 0)": "other_cuts",
        "if all are, the gradients are 0": "no_tokens",
        "The `Sums` of all micro-batches, as tensors without a graph.": "sums_returned",
    },
    explained=[
        "Compute the gradients of one large batch from several small ones, which fit into memory.",
        "micro_batches: at least one",
    ],
)
