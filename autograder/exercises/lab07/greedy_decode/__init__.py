"""greedy_decode: a batch of targets, one likeliest symbol after another."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.decoding import greedy_decode
from gradekit.exercise import Exercise

exercise = Exercise(
    greedy_decode,
    equivalent={
        "greedy_decode: `-1` → `1` in `symbols = logits.argmax(-1).masked_fill(ended, pad)`": (
            "the logits of one position have two axes"
        ),
    },
)

SYMBOLS = 11
POSITIONS = 120  # a loop that never stops ends here
BOS, EOS, PAD = 6, 4, 9  # not the numbers of the lab's data


class Writer(nn.Module):
    """A model made of a few tables. A row writes `eos` at a chosen step, then it goes on writing.

    The first symbol of a row's source says which sentence it is, and so when it ends.
    """

    def __init__(self, draw, ends, eos=EOS):
        super().__init__()
        self.ends, self.eos = tuple(ends), eos
        self.words, self.look = draw.normal(40, 4), draw.normal(4, 5)
        self.symbols = nn.Parameter(draw.normal(SYMBOLS, 5))
        self.out = nn.Parameter(draw.normal(5, SYMBOLS))
        self.rows_read, self.rows_decoded, self.recorded = 0, 0, []

    def record(self, what):
        self.recorded.append((what, self.training, torch.is_grad_enabled()))

    def encode(self, source, source_valid):
        self.record("encode")
        self.rows_read += len(source)
        ends = torch.zeros(*source.shape, 1, dtype=torch.float64)
        first = source_valid.long().argmax(1)
        for row, at in enumerate(first.tolist()):
            ends[row] = self.ends[int(source[row, at]) % len(self.ends)]
        seen = self.words[source] * (1 + source_valid.double().sum(1))[:, None, None]
        return torch.cat([seen, ends], 2)  # (B, S, 5)

    def decode(self, target, memory, source_valid):
        self.record("decode")
        if target.shape[1] > POSITIONS:
            raise ValueError(f"{target.shape[1]} positions, but the model has {POSITIONS}")
        self.rows_decoded += len(target)
        weights = source_valid.double() / source_valid.double().sum(1, keepdim=True)
        seen = (weights[:, None] @ memory)[:, :, :-1] @ self.look  # (B, 1, 5)
        steps = torch.arange(1, target.shape[1] + 1)
        read = self.symbols[target] * (1 + steps % 5)[:, None]  # (B, T, 5): order counts
        logits = 3 * torch.tanh(0.3 * read.cumsum(1) + 0.3 * seen) @ self.out  # (B, T, SYMBOLS)
        logits = logits.index_fill(2, torch.tensor(self.eos), -50.0)
        now = steps[None] == memory[:, :1, -1]  # (B, T)
        return logits + 100 * now[..., None] * (torch.arange(SYMBOLS) == self.eos)

    def forward(self, source, source_valid, target):
        self.record("whole model")
        memory = self.encode(source, source_valid)
        return self.decode(target, memory, source_valid)


def sources(draw, *lengths, width=None, left=False):
    """Rows of these lengths; row b is sentence b. What is at padding are random symbols."""
    width = width or max(lengths)
    source = draw.integers(12, 40, len(lengths), width).clone()
    places = torch.arange(width).flip(0) if left else torch.arange(width)
    valid = places < torch.tensor(lengths)[:, None]
    for row in range(len(lengths)):
        source[row, int(valid[row].long().argmax())] = row
    return source, valid


def written(lab, draw, ends, lengths, models=3, width=None, left=False, **options):
    """What some models write: enough of them that no slip is right by chance."""
    found = []
    for _ in range(models):
        model = Writer(draw, ends)
        source, valid = sources(draw, *lengths, width=width, left=left)
        found.append(lab.greedy_decode(model, source, valid, BOS, EOS, pad=PAD, **options))
    return found


@exercise.check(points=2.5)
def one_is_over_early(lab, draw):
    """Two rows: one is over early and is padded from then on; the other goes on to its own end."""
    seen = {}
    for name, ends in (("the first is over early", (3, 9)), ("the second is", (10, 4))):
        model = Writer(draw, ends, eos=2)
        seen[name] = lab.greedy_decode(model, *sources(draw, 5, 3), 1, 2)
    return seen


@exercise.check(points=2.5)
def likeliest_symbols(lab, draw):
    """Takes the likeliest symbol after `bos` and all symbols written so far."""
    return {
        "one row": written(lab, draw, (7,), (4,)),
        "three rows of equal length": written(lab, draw, (5, 5, 5), (4, 4, 4)),
        "three rows of different lengths": written(lab, draw, (6, 3, 4), (2, 5, 4)),
    }


@exercise.check(points=0.5)
def shape_and_dtype(lab, draw):
    """Returns one tensor of int64, without `bos`, as wide as the longest row."""
    (out,) = written(lab, draw, (3, 5, 2, 4), (4, 2, 3, 6), models=1)
    return {"shape": list(out.shape), "dtype": dtype_of(out)}


@exercise.check(points=2, hidden=True)
def limit_of_its_own(lab, draw):
    """A row ends after as many symbols as its own source has, plus `max_extra`."""
    never = (999,) * 3
    return {
        "max_extra not given": written(lab, draw, never, (2, 5, 3), models=1),
        "max_extra=2": written(lab, draw, never, (5, 2, 3), max_extra=2),
        "one ends before its limit": written(lab, draw, (2, 999, 999), (4, 1, 3), max_extra=2),
        "eos at the last step": written(lab, draw, (4, 999, 5), (2, 1, 3), max_extra=2),
        "eos one step too late": written(lab, draw, (5, 7), (2, 4), max_extra=2),
        "max_extra=0": written(lab, draw, never, (3, 1, 2), max_extra=0),
        "all have padding": written(lab, draw, never, (2, 4, 3), max_extra=1, width=6),
        "padded on the left": written(lab, draw, never, (2, 4, 3), max_extra=1, left=True),
    }


@exercise.check(points=1.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one row, for a source of one symbol, and when a row ends at its first step."""

    def ask(B, S):
        lengths = [max(1, S - row) for row in range(B)]
        return written(lab, draw, (3, 5, 4)[:B], lengths)

    return {
        **draw.each_size(ask, B=3, S=4),
        "five rows": written(lab, draw, (3, 7, 1, 5, 4), (4, 2, 5, 1, 3)),
        "all end at the first step": written(lab, draw, (1, 1), (3, 2)),
        "the longest is not first": written(lab, draw, (1, 8, 2), (2, 2, 6)),
    }


@exercise.check(points=1, hidden=True)
def mode_and_gradients(lab, draw):
    """The model runs in evaluation mode, without gradients, and then has its mode again."""
    seen = {}
    for name, training in (("came in training mode", True), ("came in evaluation mode", False)):
        model = Writer(draw, (3, 2)).train(training)
        out = lab.greedy_decode(model, *sources(draw, 4, 2), BOS, EOS, PAD)
        seen[name] = {
            "in training mode while writing": any(mode for _, mode, _ in model.recorded),
            "gradients while writing": any(grad for _, _, grad in model.recorded),
            "in training mode afterwards": model.training,
            "gradients afterwards": torch.is_grad_enabled(),
            "written": out,
        }
    return seen


@exercise.check(points=1, hidden=True)
def work_done(lab, draw):
    """The source is encoded once, no step is made after all have ended, the inputs stay."""
    model = Writer(draw, (3, 5, 2))
    given = sources(draw, 4, 2, 3)
    before = [tensor.clone() for tensor in given]
    lab.greedy_decode(model, *given, BOS, EOS, PAD)
    return {
        "rows that were encoded": model.rows_read,
        "calls of the whole model": sum(what == "whole model" for what, *_ in model.recorded),
        "no step after the last end": model.rows_decoded <= 3 * 5,
        "inputs as they were": [torch.equal(*both) for both in zip(given, before, strict=True)],
    }


@exercise.check(points=1, hidden=True)
def equal_chances(lab, draw):
    """Of equally likely symbols, the one with the smallest number is taken."""

    class Undecided(Writer):
        def decode(self, target, memory, source_valid):
            return super().decode(target, memory, source_valid).round(decimals=-1)

    return [
        lab.greedy_decode(Undecided(draw, (9, 6, 8)), *sources(draw, 3, 2, 4), BOS, EOS, PAD)
        for _ in range(5)
    ]


exercise.promises(
    {
        "Write a target for each source of a batch by taking the likeliest symbol at every step.": (
            "likeliest_symbols"
        ),
        "The model reads `bos` first, and then `bos` and what it has written itself.": (
            "likeliest_symbols"
        ),
        "A row ends when it has written `eos`": "one_is_over_early limit_of_its_own",
        "or as many symbols (`eos` counts) as its own source has, plus `max_extra`": (
            "limit_of_its_own"
        ),
        "After its end a row gets `pad`, and the others go on until all have ended.": (
            "one_is_over_early other_sizes work_done"
        ),
        "The source is encoded once.": "work_done",
        "The model runs in evaluation mode and without gradients; afterwards it is in the mode in "
        "which it came.": "mode_and_gradients",
        "source: (B, S), int64; stays unchanged.": "work_done other_sizes",
        "source_valid: (B, S), boolean, True where there is a symbol": "limit_of_its_own",
        "the symbol that starts every sentence.": "likeliest_symbols",
        "the symbol that ends one.": "likeliest_symbols",
        "the symbol that fills up short rows.": "other_sizes",
        "how many more symbols a target may have than its source": "limit_of_its_own",
        "(B, T), int64: what each row has written, without `bos`; T is the most that a row has "
        "written.": "shape_and_dtype other_sizes",
        "Of equally likely symbols, the one with the smallest number is taken.": "equal_chances",
    },
    explained=[
        "an `nn.Module` with two functions",
        "`model.encode(source, source_valid)` → memory (B, S, d_model)",
        "`model.decode(target, memory, source_valid)` → logits (B, T, V). Those at a position are "
        "for the symbol after it.",
        "at least one in each row",
        "0 or more",
    ],
)
