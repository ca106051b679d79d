"""shift_right and make_batch: what the encoder reads, what the decoder reads and must write."""

from __future__ import annotations

import torch

from attnlab.batching import make_batch, shift_right
from attnlab.checking.observation import dtype_of
from attnlab.data.dates import BOS, EOS, PAD
from gradekit.exercise import Exercise

exercise = Exercise(shift_right, make_batch)

FIELDS = ("source", "source_valid", "inputs", "labels")


def targets(draw, *lengths):
    """Rows of different symbols, each with EOS after its symbols, then PAD."""
    rows = torch.full((len(lengths), max(lengths) + 1), PAD)
    for row, length in enumerate(lengths):
        rows[row, :length] = 3 + draw.permutation(20)[:length]
        rows[row, length] = EOS
    return rows


@exercise.check(points=1)
def shifted_by_one(lab, draw):
    """At no position does an input row hold the symbol that the row must write there."""
    target = targets(draw, 6, 3, 4)
    inputs = lab.shift_right(target, BOS)
    own = "another shape"
    if inputs.shape == target.shape:
        own = ((inputs == target) & (target != PAD)).sum(1)
    return {"inputs": inputs, "positions with their own label, in each row": own}


@exercise.check(points=0.5)
def starts_with_bos(lab, draw):
    """Each row starts with `bos`, whatever its number is; the shape and int64 stay."""
    target = targets(draw, 5, 2)
    inputs = lab.shift_right(target, 40)
    return {
        "first column": inputs[:, 0],
        "how many bos": int((inputs == 40).sum()),
        "shape": list(inputs.shape),
        "dtype": dtype_of(inputs),
    }


@exercise.check(points=1, hidden=True)
def other_tables(lab, draw):
    """Is right for one row, one position, as many rows as positions, and on views."""

    def ask(B, T):
        return lab.shift_right(draw.integers(3, 30, B, T), 31)

    spread = draw.strided(targets(draw, 5, 2, 3))
    return {**draw.each_size(ask, B=4, T=6), "not contiguous": lab.shift_right(spread, 1)}


@exercise.check(points=0.5, hidden=True)
def target_unchanged(lab, draw):
    """The target stays as it was: it holds the labels."""
    target = draw.integers(3, 30, 4, 6)
    inputs = lab.shift_right(target, BOS)
    return {"target as it was": draw.untouched(), "inputs": inputs}


def pairs(draw, *lengths, kind=list):
    """A pair for each (length of the source, length of the target), of different symbols."""
    return [
        tuple(kind((3 + draw.permutation(40)[:length]).tolist()) for length in both)
        for both in lengths
    ]


def seen_in(batch):
    """All four tensors. Inputs count only where the decoder must write something."""
    inputs, labels = batch.inputs, batch.labels
    asked = inputs.masked_fill(labels == PAD, PAD) if inputs.shape == labels.shape else inputs
    return {
        "source": batch.source,
        "source_valid": batch.source_valid,
        "inputs, where labels have a symbol": asked,
        "labels": labels,
    }


@exercise.check(points=0.5)
def four_tensors(lab, draw):
    """Returns a `Batch`: three tensors of int64 and a boolean one, as wide as they must be."""
    batch = lab.make_batch(pairs(draw, (4, 6), (7, 2), (3, 3)))
    found = {name: getattr(batch, name, None) for name in FIELDS}
    return {
        "shapes": {name: list(getattr(x, "shape", [])) for name, x in found.items()},
        "dtypes": {name: dtype_of(x) for name, x in found.items()},
    }


@exercise.check(points=1)
def the_source(lab, draw):
    """The source holds its symbols and then PAD; `source_valid` is True at the symbols."""
    batch = lab.make_batch(pairs(draw, (4, 6), (7, 2), (3, 3)))
    return {"source": batch.source, "source_valid": batch.source_valid}


@exercise.check(points=2)
def never_its_own_label(lab, draw):
    """Labels end with EOS; no input row holds at a position what its label is there."""
    batch = lab.make_batch(pairs(draw, (3, 5), (4, 2), (2, 4)))
    same = batch.inputs == batch.labels if batch.inputs.shape == batch.labels.shape else None
    return {
        "inputs that are their own label": "other shapes"
        if same is None
        else int((same & (batch.labels != PAD)).sum()),
        "labels": batch.labels,
        "inputs, where labels have a symbol": seen_in(batch)["inputs, where labels have a symbol"],
    }


@exercise.check(points=2, hidden=True)
def other_batches(lab, draw):
    """Is right for one pair, for one symbol, for equal lengths, and whichever is longer."""

    def ask(B, S, T):
        lengths = [(max(1, S - b), max(1, T - 2 * b % 3)) for b in range(B)]
        return seen_in(lab.make_batch(pairs(draw, *lengths)))

    return {
        **draw.each_size(ask, B=3, S=4, T=7),
        "longer sources": seen_in(lab.make_batch(pairs(draw, (2, 1), (9, 3), (5, 2)))),
        "equal lengths": seen_in(lab.make_batch(pairs(draw, (4, 4), (4, 4)))),
        "longest last": seen_in(lab.make_batch(pairs(draw, (1, 1), (2, 3), (6, 8)))),
    }


@exercise.check(points=1.5, hidden=True)
def lists_and_tuples(lab, draw):
    """Takes lists and tuples, and leaves them as they are."""
    lists, tuples = (pairs(draw, (4, 3), (2, 5), kind=kind) for kind in (list, tuple))
    before = repr((lists, tuples))
    return {
        "lists": seen_in(lab.make_batch(lists)),
        "tuples": seen_in(lab.make_batch(tuples)),
        "lists, once more": seen_in(lab.make_batch(lists)),
        "as they were": repr((lists, tuples)) == before,
    }


exercise.promises(
    {
        "What the decoder reads while it learns to write `target`: the same, one position later.": (
            "shifted_by_one"
        ),
        "Stays unchanged.": "target_unchanged",
        "(B, T), int64: `bos`, then all entries of the row but the last.": (
            "starts_with_bos other_tables"
        ),
        "Make one batch of pairs": "other_batches",
        "Each of the two is a list or a tuple of symbols": "lists_and_tuples",
        "and stay unchanged.": "lists_and_tuples",
        "A `Batch`, with S the length of the longest source, and T that of the longest target and "
        "its EOS": "four_tensors other_batches",
        "source (B, S), int64: the symbols of each source, then PAD": "the_source",
        "source_valid (B, S), boolean: True where there is a symbol": "the_source",
        "inputs (B, T), int64: BOS, then the symbols of each target.": "never_its_own_label",
        "labels (B, T), int64: the symbols of each target, then EOS, then PAD.": (
            "never_its_own_label"
        ),
    },
    explained=[
        "the symbols of each row, `eos` after them, then padding; no `bos`.",
        "the symbol that starts every sentence.",
        "pairs: B pairs (source, target).",
        "numbers from 3 on, at least one; lengths differ. They contain no BOS, EOS or PAD",
        "What follows them does not matter, because the loss leaves these positions out",
    ],
)
