"""teacher_forced_loss: how surprised the model is by the right answer when it is fed with it."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.data.dates import EOS, PAD, Batch
from attnlab.seq2seq import teacher_forced_loss
from gradekit.exercise import Exercise

exercise = Exercise(teacher_forced_loss)

VOCAB = 11
WIDTH = 5


ARGUMENTS = ("`y_prev`", "`state`", "`hidden`")
FIRST, LATER = (
    f"shapes of the arguments of `model.cell`, {step} step" for step in ("1st", "later")
)


def fit_together(y_shape, state_shape, hidden_shape):
    """Whether these are shapes of arguments that `model.cell` takes."""
    batch = hidden_shape[:1]
    right = y_shape == batch and state_shape == [*batch, WIDTH]
    return right and len(hidden_shape) == 3 and hidden_shape[-1] == WIDTH


class Toy(nn.Module):
    """A small model with `encode` and `cell` that notes its inputs."""

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Parameter(draw.normal(VOCAB, WIDTH))
        self.mix = nn.Parameter(draw.normal(WIDTH, WIDTH) / 2)
        self.out = nn.Parameter(draw.normal(WIDTH, VOCAB))
        self.read, self.fed, self.masks, self.modes = [], [], [], []
        self.stopped, self.source = False, "nothing"
        self.shapes = {step: {name: [] for name in ARGUMENTS} for step in (FIRST, LATER)}

    def encode(self, source, source_mask):
        self.source = "a mask" if source.dtype == torch.bool else "token ids"
        if self.source == "a mask":
            self.stopped = True
            raise ValueError("the source should be token ids, and is a mask")
        self.read.append(source)
        self.modes.append(self.training)
        hidden = self.words[source] * source_mask[..., None]
        return hidden, hidden.sum(1).tanh()

    def cell(self, y_prev, state, hidden, source_mask):
        self.fed.append(y_prev)
        self.masks.append(source_mask)
        shapes = [list(getattr(given, "shape", ())) for given in (y_prev, state, hidden)]
        self.shapes[LATER if self.fed[1:] else FIRST] = dict(zip(ARGUMENTS, shapes, strict=True))
        self.stopped = not fit_together(*shapes)
        if self.stopped:
            raise ValueError("arguments of model.cell whose shapes do not fit together")
        scores = (hidden @ state[..., None])[..., 0].masked_fill(~source_mask, -1e9)
        weights = scores.softmax(-1)
        context = (weights[..., None] * hidden).sum(1)
        state = (state @ self.mix + self.words[y_prev] + context).tanh()
        return state @ self.out, state, weights


def batch_of(draw, sources=(4, 6, 2), targets=(3, 7, 1)):
    """A batch whose sentences have these numbers of symbols; targets also have BOS and EOS."""
    rows = [draw.integers(3, VOCAB, n).tolist() for n in (*sources, *targets)]
    targets = [[1, *row, 2] for row in rows[len(sources) :]]
    return Batch(*table(rows[: len(sources)]), *table(targets))


def table(rows):
    width = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
    return ids, torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]


def gradients_of(model, loss):
    """By weight, the gradient of a loss."""
    loss.backward()
    weights = {
        "embeddings, one row for each symbol": model.words,
        "decoder's recurrent weights": model.mix,
        "weights that make the logits": model.out,
    }
    return {
        f"gradient of the {name}": weight.grad if weight.grad is not None else "no gradient"
        for name, weight in weights.items()
    }


def modes_of(model):
    """The modes of a model after a loss: "training" or "evaluation"."""
    words = {True: "training", False: "evaluation"}
    read = [words[mode] for mode in dict.fromkeys(model.modes)]
    return {"mode in `model.encode`": " ".join(read), "mode afterwards": words[model.training]}


@exercise.check(points=1)
def one_number(lab, draw):
    """Returns one number, in the dtype of the logits; reads the source once, keeps the mode."""
    model, evaluated, batch = Toy(draw), Toy(draw).eval(), batch_of(draw)
    draw.raises(lab.teacher_forced_loss, model, batch)
    given = {"first argument of `model.encode`": model.source, **model.shapes}
    if model.stopped:
        return {**given, "results": "none"}
    read, modes = len(model.read), modes_of(model)
    loss, low = lab.teacher_forced_loss(model, batch), lab.teacher_forced_loss(model.float(), batch)
    in_evaluation = lab.teacher_forced_loss(evaluated, batch)
    modes_after_evaluation = modes_of(evaluated)
    in_training = lab.teacher_forced_loss(evaluated.train(), batch)
    results = {
        "shape": list(loss.shape),
        "dtype of float64": str(loss.dtype),
        "dtype of float32": str(low.dtype),
        "times that the source is read": read,
        "a model in training mode": modes,
        "a model in evaluation mode": modes_after_evaluation,
        # The toy has no dropout: whatever makes them differ is in the loss.
        "the losses in both modes differ": bool((in_evaluation - in_training).abs() > 1e-9),
    }
    return {**given, "results": results}


@exercise.check(points=2)
def equal_lengths(lab, draw):
    """Is right if no sentence needs padding."""
    return lab.teacher_forced_loss(Toy(draw), batch_of(draw, (4, 4), (3, 3)))


@exercise.check(points=2)
def unequal_lengths(lab, draw):
    """Is right if sentences differ in length; each prediction counts once, padding never."""
    model, batch = Toy(draw), batch_of(draw)
    wider = batch._replace(
        target=torch.cat([batch.target, torch.full((3, 2), PAD)], 1),
        target_mask=torch.cat([batch.target_mask, torch.zeros(3, 2, dtype=torch.bool)], 1),
    )
    return {
        "loss": lab.teacher_forced_loss(model, batch),
        "two more columns of padding": lab.teacher_forced_loss(model, wider),
    }


@exercise.check(points=1)
def gradients_through_all_steps(lab, draw):
    """Gradients flow through all steps to every weight."""
    model = Toy(draw)
    return gradients_of(model, lab.teacher_forced_loss(model, batch_of(draw, (4, 4), (3, 3))))


@exercise.check(points=1.5, hidden=True)
def what_is_fed(lab, draw):
    """Feeds the true token of the step before, and the source's mask."""
    model, batch = Toy(draw), batch_of(draw)
    lab.teacher_forced_loss(model, batch)
    asked = (batch.target[:, 1:] != PAD) * 1
    steps = asked.shape[1]
    fed = torch.stack(model.fed, 1)[:, :steps]
    return {
        "what is fed before each symbol": fed * asked[:, : fed.shape[1]],
        "the source's mask at the first step": model.masks[0],
    }


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, for one word, and for sentences of one symbol."""

    def ask(B, S, T):
        return lab.teacher_forced_loss(Toy(draw), batch_of(draw, [S] * B, [T] * B))

    return draw.each_size(ask, B=2, S=5, T=4)


@exercise.check(points=1, hidden=True)
def each_symbol_counts(lab, draw):
    """Changes with every symbol of the answer, even the first, the last and EOS."""
    model, batch = Toy(draw), batch_of(draw)
    seen = {}
    for name, column in (("first", 1), ("second", 2), ("last", 7)):
        target = batch.target.clone()
        target[1, column] = 3 + (target[1, column] - 2) % (VOCAB - 3)
        seen[f"another {name} symbol"] = lab.teacher_forced_loss(
            model, batch._replace(target=target)
        )
    likely = Toy(draw)
    with torch.no_grad():
        likely.out[:, EOS] += 2.0
    seen["EOS likelier"] = lab.teacher_forced_loss(likely, batch)
    empty = batch_of(draw, (3, 2), (0, 4))
    seen["a sentence without symbols"] = lab.teacher_forced_loss(model, empty)
    return seen


@exercise.check(points=1, hidden=True)
def gradients(lab, draw):
    """Gradients are right for sentences of unequal lengths, too; the batch is unchanged."""
    model, batch = Toy(draw), batch_of(draw)
    before = [tensor.clone() for tensor in batch]
    return {
        **gradients_of(model, lab.teacher_forced_loss(model, batch)),
        "batch as it was": [torch.equal(*both) for both in zip(before, batch, strict=True)],
    }
