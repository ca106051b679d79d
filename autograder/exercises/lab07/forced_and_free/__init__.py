"""accuracy and forced_and_free: two measures, with true symbols to read and with one's own."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.batching import Batch
from attnlab.checking.judges import Close
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.decoding import greedy_decode
from attnlab.evaluation import accuracy, forced_and_free
from gradekit.exercise import Exercise

exercise = Exercise(accuracy, forced_and_free, uses=[greedy_decode])

SYMBOLS = 20
ROUNDED = Close(atol=1e-6)  # float32 sums are right, too


class Speller(nn.Module):
    """Copies the source, symbol by symbol, with slips; after a wrong symbol it is lost.

    After a symbol it writes the next one of the source. Where `slips` is True, it writes another
    one; and after a wrong symbol it is lost, and adds 1 to what it reads.
    """

    def __init__(self, slips):
        super().__init__()
        self.slips = slips  # (B, S + 1)
        self.weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        self.recorded = []

    def encode(self, source, source_valid):
        self.recorded.append((self.training, torch.is_grad_enabled()))
        return source.masked_fill(~source_valid, EOS)

    def decode(self, target, memory, source_valid):
        self.recorded.append((self.training, torch.is_grad_enabled()))
        ends = torch.full((len(memory), 200), EOS)
        right = torch.cat([memory, ends], 1)  # what it should write, (B, S + 200)
        logits = torch.zeros(*target.shape, SYMBOLS, dtype=torch.float64)
        for row, read in enumerate(target.tolist()):
            for t, symbol in enumerate(read):
                lost = symbol != (int(right[row, t - 1]) if t else BOS)
                following = int(right[row, t])
                if t < self.slips.shape[1] and bool(self.slips[row, t]):
                    following = 3 + (following + 4) % (SYMBOLS - 3)
                if lost and following != EOS:
                    following = 3 + (symbol + 1) % (SYMBOLS - 3)
                logits[row, t, following] = 5.0
        return logits + self.weight

    def forward(self, source, source_valid, target):
        memory = self.encode(source, source_valid)
        return self.decode(target, memory, source_valid)


def asked(draw, *lengths):
    """A batch for copying: sources of these lengths, which are their own targets."""
    B, S = len(lengths), max(lengths)
    valid = torch.arange(S) < torch.tensor(lengths)[:, None]
    source = draw.integers(3, SYMBOLS, B, S).masked_fill(~valid, PAD)
    labels = torch.cat([source, torch.full((B, 1), PAD)], 1)
    labels[torch.arange(B), torch.tensor(lengths)] = EOS
    inputs = torch.cat([torch.full((B, 1), BOS), labels[:, :-1]], 1)
    return Batch(source, valid, inputs, labels)


def slips(draw, batch, share):
    """Where a `Speller` slips: at this share of symbols, never in row 0, always in row 1."""
    where = draw.uniform(*batch.labels.shape) < share
    where[0] = False
    where[1:2, 0] = True
    return where & (batch.labels > EOS)


def numbers(measured):
    """An `Accuracy` as names and numbers."""
    return {"exact": float(measured.exact), "symbols": float(measured.symbols)}


def both(lab, model, batch):
    """What `forced_and_free` measures."""
    forced, free = lab.forced_and_free(model, batch)
    return {"forced": numbers(forced), "free": numbers(free)}


@exercise.check(points=1.5, judge=ROUNDED)
def the_gap(lab, draw):
    """A model that slips: exact match is the same in both ways, the share of symbols is not."""
    batch = asked(draw, 5, 6, 4, 6, 3)
    return both(lab, Speller(slips(draw, batch, 0.15)), batch)


@exercise.check(points=1.5, judge=ROUNDED)
def two_measures(lab, draw):
    """Counts right rows and right symbols; EOS counts, PAD does not."""
    labels = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD], [9, 9, EOS, PAD], [7, EOS, 0, 0]])
    written = torch.tensor([[5, 6, 3, EOS], [8, EOS, 4, 5], [9, 4, 6, PAD], [7, 8, PAD, PAD]])
    return {
        "some are wrong": numbers(lab.accuracy(written, labels)),
        "all are right": numbers(lab.accuracy(labels, labels)),
        "what is at padding does not matter": numbers(lab.accuracy(written[1:2], labels[1:2])),
        "Python floats": [isinstance(x, float) for x in lab.accuracy(written, labels)],
    }


@exercise.check(points=1, hidden=True, judge=ROUNDED)
def other_widths(lab, draw):
    """What is missing is wrong, and what is beyond the labels does not count."""
    labels = asked(draw, 4, 2, 5).labels
    wide = torch.cat([labels, draw.integers(3, 9, 3, 2)], 1)
    return {
        "wider": numbers(lab.accuracy(wide, labels)),
        "narrower": numbers(lab.accuracy(labels[:, :4], labels)),
        "one column": numbers(lab.accuracy(labels[:, :1], labels)),
        "one row": numbers(lab.accuracy(labels[1:2, :3], labels[1:2])),
    }


@exercise.check(points=1, hidden=True, judge=ROUNDED)
def other_batches(lab, draw):
    """Is right for one row, for one symbol, for no mistake, and if no row is right."""
    never = asked(draw, 4, 3)
    row, rows = asked(draw, 6), asked(draw, *[6] * 7)
    return {
        "no mistake": both(lab, Speller(slips(draw, never, 0.0)[:1].expand(2, -1)), never),
        "no row is right": both(lab, Speller(slips(draw, never, 2.0)[1:].expand(2, -1)), never),
        "one row": both(lab, Speller(torch.arange(7)[None] == 2), row),
        "one symbol": both(lab, Speller(torch.tensor([[True, False]])), asked(draw, 1)),
        "many rows": both(lab, Speller(slips(draw, rows, 0.1)), rows),
        "it does not end": both(lab, NeverEnds(slips(draw, never, 0.0)), never),
    }


class NeverEnds(Speller):
    """Writes the symbol 3 where it should end."""

    def decode(self, target, memory, source_valid):
        logits = super().decode(target, memory, source_valid)
        ends = logits[..., EOS].clone()
        logits[..., EOS] = -9.0
        logits[..., 3] += ends
        return logits


@exercise.check(points=1, hidden=True)
def mode_and_gradients(lab, draw):
    """The model runs in evaluation mode, without gradients, and then has its mode again."""
    seen = {}
    for name, training in (("came in training mode", True), ("came in evaluation mode", False)):
        batch = asked(draw, 3, 2)
        before = [tensor.clone() for tensor in batch]
        model = Speller(slips(draw, batch, 0.3)).train(training)
        lab.forced_and_free(model, batch)
        seen[name] = {
            "in training mode while measured": any(mode for mode, _ in model.recorded),
            "gradients while measured": any(grad for _, grad in model.recorded),
            "in training mode afterwards": model.training,
            "batch as it was": [torch.equal(*two) for two in zip(batch, before, strict=True)],
        }
    return seen


exercise.promises(
    {
        "How much of `labels` was written, counted in rows and in symbols.": "two_measures",
        "A symbol of `labels` is right if `written` has the same one at the same position, and a "
        "row is right if all its symbols are.": "two_measures",
        "EOS is a symbol; PAD is not, so a position at which `labels` has PAD counts in neither "
        "measure.": "two_measures",
        "W may differ from T: what is missing is wrong, and what is beyond T does not count.": (
            "other_widths"
        ),
        "Measure a model twice: while it reads the right symbols, and while it reads its own.": (
            "the_gap"
        ),
        "Forced: the model reads `batch.inputs`, and the likeliest symbol at each position is what "
        "it has written.": "the_gap other_batches",
        "Free: it writes from the source alone, by `greedy_decode` with the usual limit.": (
            "the_gap other_batches"
        ),
        "Both are compared with `batch.labels`.": "the_gap",
        "The model runs in evaluation mode and without gradients; afterwards it is in the mode in "
        "which it came.": "mode_and_gradients",
        "The `Accuracy` forced, and the `Accuracy` free.": "the_gap mode_and_gradients",
    },
    explained=[
        "written: (B, W), int64.",
        "symbols, EOS, then PAD.",
        "an `nn.Module`, called as ``model(source, source_valid, inputs)``; returns logits (B, T, "
        "V). It has `encode` and `decode`, as for `greedy_decode`.",
        "as from `make_batch`.",
    ],
)
