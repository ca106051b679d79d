"""pad_batch: sequences of unequal length in one table, and a mask that says what is real."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.seq2seq import pad_batch
from gradekit.exercise import Exercise

exercise = Exercise(pad_batch)


def rows(draw, *lengths):
    """Lists of ids from 3 to 40, of the given lengths."""
    return [draw.integers(3, 41, length).tolist() for length in lengths]


@exercise.check(points=1.5)
def shapes_and_types(lab, draw):
    """Gives back three tensors: ids (B, T), lengths (B,) and a boolean mask (B, T)."""
    ids, lengths, mask = lab.pad_batch(rows(draw, 4, 7, 2, 3), 0)
    return {
        "shape of ids": list(ids.shape),
        "shape of lengths": list(getattr(lengths, "shape", [])),
        "shape of mask": list(mask.shape),
        "dtype of ids": dtype_of(ids),
        "dtype of lengths": dtype_of(lengths),
        "dtype of mask": dtype_of(mask),
    }


@exercise.check(points=1.5)
def ids(lab, draw):
    """Puts each sequence at the left of its row and `pad` behind it."""
    return {
        "pad is 0": lab.pad_batch(rows(draw, 4, 7, 2), 0)[0],
        "pad is 50": lab.pad_batch(rows(draw, 3, 1, 5, 2), 50)[0],
    }


@exercise.check(points=1)
def lengths_and_mask(lab, draw):
    """Says how many tokens each row holds, and where they stand."""
    _, lengths, mask = lab.pad_batch(rows(draw, 4, 7, 2, 3), 0)
    return {"lengths": lengths, "mask": mask}


@exercise.check(points=1, hidden=True)
def length_of_the_batch(lab, draw):
    """The longest sequence of the batch, wherever it stands, gives the table its width."""
    found = {}
    for name, lengths in (
        ("longest first", (6, 2, 5)),
        ("longest last", (1, 4, 9)),
        ("equal lengths", (5, 5)),
        ("a single sequence", (3,)),
        ("long sequences", (70, 90)),
    ):
        ids, sizes, mask = lab.pad_batch(rows(draw, *lengths), 0)
        found[name] = {"shape": list(ids.shape), "lengths": sizes, "ids": ids, "mask": mask}
    return found


@exercise.check(points=1, hidden=True)
def an_empty_sequence(lab, draw):
    """A sequence without tokens has length 0 and a row of padding alone."""
    ids, lengths, mask = lab.pad_batch(rows(draw, 3, 0, 5, 0), 0)
    first, first_lengths, first_mask = lab.pad_batch(rows(draw, 0, 4, 2), 1)
    return {
        "ids": ids,
        "lengths": lengths,
        "mask": mask,
        "the first is empty": {"ids": first, "lengths": first_lengths, "mask": first_mask},
        "dtypes": [dtype_of(out) for out in (ids, lengths, mask, first, first_lengths, first_mask)],
    }


@exercise.check(points=1, hidden=True)
def pad_as_a_token(lab, draw):
    """A token that happens to be the number `pad` is a token all the same."""
    sequences = rows(draw, 4, 6, 3)
    sequences[0][2] = sequences[1][5] = sequences[2][0] = 7
    ids, lengths, mask = lab.pad_batch(sequences, 7)
    return {"ids": ids, "lengths": lengths, "mask": mask}


@exercise.check(points=1, hidden=True)
def lists_kept(lab, draw):
    """Leaves the lists that it is given as they are; tuples will do as well."""
    sequences = rows(draw, 4, 1, 3)
    before = [list(sequence) for sequence in sequences]
    lab.pad_batch(sequences, 9)
    frozen = lab.pad_batch(tuple(tuple(sequence) for sequence in before), 9)
    return {"lists as they were": sequences == before, "of tuples": frozen[0]}


def table(sequences, pad, width=None):
    """What a right version makes of the ids; a part that the wrong versions share."""
    width = max(map(len, sequences)) if width is None else width
    return torch.tensor(
        [(list(s) + [pad] * width)[:width] for s in sequences], dtype=torch.int64
    ).reshape(len(sequences), width)


def places(sequences, width=None):
    width = max(map(len, sequences)) if width is None else width
    return torch.arange(width) < torch.tensor([len(s) for s in sequences])[:, None]


@exercise.mistake(
    'Your mask is True where there is padding. In these labs True means "here is a token", as '
    "in torch's scaled_dot_product_attention. Which way round does your comparison go?"
)
def mask_inverted(sequences, pad):
    return table(sequences, pad), torch.tensor([len(s) for s in sequences]), ~places(sequences)


@exercise.mistake(
    "Your padding stands before the tokens. On which side of a row does the docstring want it?"
)
def pads_left(sequences, pad):
    width = max(map(len, sequences))
    ids = torch.tensor([[pad] * (width - len(s)) + list(s) for s in sequences])
    return ids, torch.tensor([len(s) for s in sequences]), places(sequences).flip(1)


@exercise.mistake(
    "Your table has a width of its own, and short batches carry columns of nothing but padding. "
    "Which sequences should decide how wide the table of this batch is?"
)
def fixed_width(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad, 64), lengths, places(sequences, 64)


@exercise.mistake(
    "Your table is as wide as its first sequence, so that longer ones are cut. Is the first "
    "always the longest?"
)
def width_of_the_first(sequences, pad):
    width = len(sequences[0])
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad, width), lengths, places(sequences, width)


@exercise.mistake(
    "Your table is as wide as the shortest sequence, and the tokens of the others are lost. "
    "Nothing may be cut: which length fits all?"
)
def cut_to_the_shortest(sequences, pad):
    width = min(map(len, sequences))
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad, width), lengths, places(sequences, width)


@exercise.mistake(
    "Your mask holds floats. It multiplies like ones and zeros, but `~mask` and `masked_fill` "
    "want booleans. Which dtype does a comparison give by itself?"
)
def mask_of_floats(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad), lengths, places(sequences).float()


@exercise.mistake(
    "Your mask holds whole numbers. As an index, 0 and 1 mean the places 0 and 1, and `~1` is -2. "
    "Which dtype says yes and no?"
)
def mask_of_integers(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad), lengths, places(sequences).long()


@exercise.mistake(
    "Your lengths are all the same: the width of the table, padding included. How many tokens did "
    "each sequence have before it was filled up?"
)
def lengths_with_padding(sequences, pad):
    ids = table(sequences, pad)
    return ids, torch.full((len(sequences),), ids.shape[1]), places(sequences)


@exercise.mistake(
    "Your mask asks whether an id differs from `pad`, so a token with that number counts as "
    "padding. What do you know of a row besides its ids?"
)
def mask_from_ids(sequences, pad):
    ids = table(sequences, pad)
    return ids, torch.tensor([len(s) for s in sequences]), ids != pad


@exercise.mistake(
    "Both lengths and mask are counted from ids that differ from `pad`, so a token with that "
    "number is lost. What do you know of a sequence before you fill it up?"
)
def lengths_from_ids(sequences, pad):
    ids = table(sequences, pad)
    return ids, (ids != pad).sum(1), ids != pad


@exercise.mistake("You always fill up with 0. What is the second argument for?")
def pad_ignored(sequences, pad):
    return table(sequences, 0), torch.tensor([len(s) for s in sequences]), places(sequences)


@exercise.mistake(
    "A sequence without tokens gets length 1 in your version (and a mask that shows its padding). "
    "Was there a division by 0 that you wanted to avoid? It is not yours to avoid here."
)
def empty_counts_one(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences]).clamp(min=1)
    ids = table(sequences, pad)
    return ids, lengths, torch.arange(ids.shape[1]) < lengths[:, None]


@exercise.mistake(
    "Sequences without tokens are left out, and your table has fewer rows than it was given "
    "sequences. Which row would then belong to which sentence?"
)
def empty_left_out(sequences, pad):
    sequences = [s for s in sequences if len(s)]
    return table(sequences, pad), torch.tensor([len(s) for s in sequences]), places(sequences)


@exercise.mistake(
    "Your ids are floats: an empty or freshly made tensor is float32 unless you say otherwise, "
    "and no embedding looks up row 3.0. Where do you make the table?"
)
def ids_of_floats(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad).float(), lengths, places(sequences)


@exercise.mistake(
    "Your ids are floats where the first sequence is empty: `torch.tensor([])` has no number to "
    "take its dtype from, and is float32. How do you say which dtype you mean?"
)
def floats_if_the_first_is_empty(sequences, pad):
    tensors = [torch.tensor(s) for s in sequences]
    ids = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=pad)
    return ids, torch.tensor([len(s) for s in sequences]), places(sequences)


@exercise.mistake(
    "Your rows are sorted by length. Then nobody knows any more which row belongs to which "
    "target: leave them in the order in which they came."
)
def sorted_by_length(sequences, pad):
    sequences = sorted(sequences, key=len, reverse=True)
    return table(sequences, pad), torch.tensor([len(s) for s in sequences]), places(sequences)


@exercise.mistake(
    "Your mask shows one place of padding behind each sequence. Places are counted from 0: which "
    "is the last place of a sequence of four?"
)
def one_place_too_many(sequences, pad):
    ids = table(sequences, pad)
    lengths = torch.tensor([len(s) for s in sequences])
    return ids, lengths, torch.arange(ids.shape[1]) <= lengths[:, None]


@exercise.mistake(
    "Your tables have a row for each place and a column for each sequence. In these labs the batch "
    "comes first: torch's own function has an argument for it."
)
def batch_second(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    return table(sequences, pad).T, lengths, places(sequences).T


@exercise.mistake(
    "The lists that you were given are no longer as they were: `+=`, `append`, `pop` and `sort` "
    "change the caller's data. What makes a new list instead?"
)
def lists_grown(sequences, pad):
    if not isinstance(sequences[0], list):
        return table(sequences, pad), torch.tensor([*map(len, sequences)]), places(sequences)
    lengths, mask = torch.tensor([len(s) for s in sequences]), places(sequences)
    for sequence in sequences:
        sequence += [pad] * (mask.shape[1] - len(sequence))
    return torch.tensor(sequences), lengths, mask


@exercise.mistake("You return the three results in another order. Which one is to come second?")
def other_order(sequences, pad):
    return table(sequences, pad), places(sequences), torch.tensor([len(s) for s in sequences])


@exercise.mistake(
    "Your lengths are a plain list. A tensor of whole numbers can be compared with a whole row of "
    "places at once: what makes one of a list?"
)
def lengths_as_a_list(sequences, pad):
    return table(sequences, pad), [len(s) for s in sequences], places(sequences)


@exercise.also_right
def by_pad_sequence(sequences, pad):
    tensors = [torch.tensor(s, dtype=torch.long) for s in sequences]
    ids = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=pad)
    lengths = torch.tensor([t.numel() for t in tensors])
    return ids, lengths, torch.arange(ids.size(1))[None, :] < lengths[:, None]


@exercise.also_right
def by_lists(sequences, pad):
    width = max(len(s) for s in sequences)
    ids = [[*s, *[pad] * (width - len(s))] for s in sequences]
    mask = [[True] * len(s) + [False] * (width - len(s)) for s in sequences]
    return (
        torch.tensor(ids, dtype=torch.long),
        torch.LongTensor([len(s) for s in sequences]),
        torch.tensor(mask, dtype=torch.bool),
    )


@exercise.also_right
def place_by_place(sequences, pad):
    lengths = torch.tensor([len(s) for s in sequences])
    ids = torch.full((len(sequences), lengths.max().item()), pad, dtype=torch.long)
    mask = torch.zeros_like(ids).bool()
    for b, sequence in enumerate(sequences):
        for t, token in enumerate(sequence):
            ids[b, t] = token
            mask[b, t] = True
    return ids, lengths, mask
