"""pad_batch: sequences of unequal length in one table, with a mask that shows the tokens."""

from __future__ import annotations

from attnlab.checking.observation import count_of, dtype_of
from attnlab.seq2seq import pad_batch
from gradekit.exercise import Exercise

exercise = Exercise(pad_batch)


def rows(draw, *lengths):
    """Lists of ids from 3 to 40, of the given lengths."""
    return [draw.integers(3, 41, length).tolist() for length in lengths]


@exercise.check(points=1)
def shapes_and_types(lab, draw):
    """Returns three tensors: ids (B, T), lengths (B,) and a boolean mask (B, T)."""
    results = lab.pad_batch(rows(draw, 4, 7, 2, 3), 0)
    three = results if count_of(results) == "3 values" else [None] * 3
    names = ("ids", "lengths", "mask")
    ids, lengths, mask = three
    return {
        "results": count_of(results),
        **{f"kind of {name}": type(one).__name__ for name, one in zip(names, three, strict=True)},
        **{
            f"shape of {name}": list(getattr(one, "shape", []))
            for name, one in zip(names, three, strict=True)
        },
        "dtype of ids": dtype_of(ids),
        "dtype of lengths": dtype_of(lengths),
        "dtype of mask": dtype_of(mask),
    }


@exercise.check(points=1)
def ids(lab, draw):
    """Puts each sequence at the left of its row and `pad` after it."""
    return {
        "pad is 0": lab.pad_batch(rows(draw, 4, 7, 2), 0)[0],
        "pad is 50": lab.pad_batch(rows(draw, 3, 1, 5, 2), 50)[0],
    }


@exercise.check(points=1)
def lengths_and_mask(lab, draw):
    """Returns how many tokens each row holds, and where they are."""
    _, lengths, mask = lab.pad_batch(rows(draw, 4, 7, 2, 3), 0)
    return {"lengths": lengths, "mask": mask}


@exercise.check(points=1.5, hidden=True)
def length_of_the_batch(lab, draw):
    """The table is as wide as the longest sequence, for any number of sequences and tokens."""

    def ask(B, T):
        return list(lab.pad_batch(rows(draw, *(max(1, T - b) for b in range(B))), 0))

    found = draw.each_size(ask, B=4, T=6)
    for name, lengths in (
        ("longest first", (6, 2, 5)),
        ("longest last", (1, 4, 9)),
        ("equal lengths", (5, 5)),
        ("long sequences", (140, 700)),
    ):
        ids, sizes, mask = lab.pad_batch(rows(draw, *lengths), 0)
        found[name] = {"shape": list(ids.shape), "lengths": sizes, "ids": ids, "mask": mask}
    found["a token 0 that is no padding"] = list(lab.pad_batch([[3, 0, 5], [0, 0], [4]], 9))
    found["equal sequences"] = list(lab.pad_batch([[3, 4], [3, 4], [5, 6, 7]], 0))
    large = [draw.integers(40_000, 100_000, length).tolist() for length in (4, 2)]
    found["ids of a large vocabulary"] = list(lab.pad_batch(large, 99_999))
    # float32 holds every whole number only up to 2^24.
    found["ids beyond 2^24"] = list(lab.pad_batch([[2**24 + 1, 5], [2**24 + 3]], 2**24 + 5))
    return found


@exercise.check(points=0.5)
def whole_numbers(lab, draw):
    """The ids are whole numbers, even if a sequence without tokens is among the others."""
    return {
        f"dtype of ids, {which} sequence empty": dtype_of(lab.pad_batch(sequences, 0)[0])
        for which, sequences in (
            ("the first", rows(draw, 0, 3, 2)),
            ("a later", rows(draw, 3, 0, 5)),
        )
    }


@exercise.check(points=1.5, hidden=True)
def an_empty_sequence(lab, draw):
    """A sequence without tokens has length 0 and a row of padding."""
    ids, lengths, mask = lab.pad_batch(rows(draw, 3, 0, 5, 0), 0)
    first, first_lengths, first_mask = lab.pad_batch(rows(draw, 0, 4, 2), 1)
    return {
        "ids": ids,
        "lengths": lengths,
        "mask": mask,
        "the first is empty": {"ids": first, "lengths": first_lengths, "mask": first_mask},
        "dtypes": [dtype_of(out) for out in (ids, lengths, mask, first, first_lengths, first_mask)],
    }


@exercise.check(points=1)
def pad_as_a_token(lab, draw):
    """A token that happens to be the number `pad` is still a token."""
    sequences = rows(draw, 4, 6, 3)
    sequences[0][2] = sequences[1][5] = sequences[2][0] = 7
    ids, lengths, mask = lab.pad_batch(sequences, 7)
    return {"ids": ids, "lengths": lengths, "mask": mask}


@exercise.check(points=0.5)
def lists_kept(lab, draw):
    """Does not change the lists that it is given; also takes tuples."""
    sequences = rows(draw, 4, 1, 3)
    before = [list(sequence) for sequence in sequences]
    of_lists = str(lab.pad_batch(sequences, 9))
    if sequences != before:
        return {"lists as they were": False, "results for tuples": None}
    of_tuples = str(lab.pad_batch(tuple(tuple(sequence) for sequence in before), 9))
    same = "the same as for lists" if of_tuples == of_lists else "others than for lists"
    return {"lists as they were": True, "results for tuples": same}
