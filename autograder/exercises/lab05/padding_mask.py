"""padding_mask: no query looks at padding."""

from __future__ import annotations

import torch

from attnlab.masks import padding_mask
from gradekit.exercise import Exercise

exercise = Exercise(padding_mask)


def sentences(draw, pad, B, L):
    """Token ids in which `pad` stands at the end of each row but the first; 0 occurs."""
    ids = draw.integers(0, 6, B, L)
    ids = torch.where(ids == pad, 6, ids)
    ids[0, 0] = 0 if pad != 0 else 5
    lengths = torch.cat([torch.tensor([L]), draw.integers(1, L, B - 1)])[:, None]
    return ids.masked_fill(torch.arange(L) >= lengths, pad)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Is boolean and has the shape (B, 1, 1, Lk)."""
    mask = lab.padding_mask(sentences(draw, 3, 2, 5), 3)
    return {
        "shape": list(mask.shape),
        "dtype": str(mask.dtype).removeprefix("torch."),
    }


@exercise.check(points=3)
def padding_at_the_end(lab, draw):
    """Is True for real tokens and False for padding, whatever number stands for it."""
    seen = {}
    for pad in (0, 3, -1):
        ids = sentences(draw, pad, 3, 7)
        seen[f"pad={pad}"] = lab.padding_mask(ids, pad)
    return seen


@exercise.check(points=2, hidden=True)
def keys_and_not_queries(lab, draw):
    """Broadcasts over heads and queries, and keeps padded keys out of attention."""
    B, h, Lq, Lk, pad = 2, 3, 4, 5, 1
    ids = sentences(draw, pad, B, Lk)
    scores, values = draw.normal(B, h, Lq, Lk), draw.normal(B, h, Lk, 6)
    padded = (ids == pad)[:, None, :, None]
    mask = lab.padding_mask(ids, pad).bool()
    weights = torch.softmax(scores.masked_fill(~mask, -1e300), -1)
    return {
        "weights": weights,
        "outputs with 1e6 at padding": weights @ values.masked_fill(padded, 1e6),
    }


@exercise.check(points=1.5, hidden=True)
def padding_anywhere(lab, draw):
    """Padding may stand at the front or in between, fill a sentence, or not occur at all."""
    ids, pad = draw.integers(2, 9, 5, 6).clone(), 11
    ids[0, :3] = pad
    ids[1, 2] = ids[1, 4] = pad
    ids[2] = pad
    ids[4, 0] = ids[4, 5] = pad
    ids[3, 0] = 0
    ids[3, 1] = 1
    mask = lab.padding_mask(draw.strided(ids), pad)
    return {
        "mask": mask,
        "another batch of the same shape": lab.padding_mask(ids.flip(0), pad),
        "no padding at all": lab.padding_mask(ids[3:4], pad),
        "one token": lab.padding_mask(ids[:, :1], pad),
        "input as it was": draw.untouched(),
    }


@exercise.mistake(
    "Your mask has the shape (B, Lk). Against scores of shape (B, h, Lq, Lk) torch lines axes up "
    "from the right: which axis would B meet?"
)
def two_axes(ids, pad):
    return ids != pad


@exercise.mistake(
    "Your mask has three axes. Against scores of shape (B, h, Lq, Lk), its B would meet the axis "
    "of the heads. How many axes of length 1 are needed, and where?"
)
def three_axes(ids, pad):
    return (ids != pad)[:, None, :]


@exercise.mistake(
    "Your mask is True for padding. Here, as in torch's scaled_dot_product_attention, True means "
    "that a query may attend to the key."
)
def inverted(ids, pad):
    return (ids == pad)[:, None, None, :]


@exercise.mistake(
    "You mask the queries that are padding, not the keys: real tokens still look at padding. "
    "Scores are (B, h, Lq, Lk): along which axis do the tokens that are looked at run?"
)
def queries_masked(ids, pad):
    return (ids != pad)[:, None, :, None]


@exercise.mistake(
    "Your mask depends on queries as well as keys: it forbids padding to look at anything. The "
    "task asks about keys alone."
)
def queries_and_keys(ids, pad):
    real = ids != pad
    return (real[:, :, None] & real[:, None, :])[:, None]


@exercise.mistake(
    "You look for the id 0, whatever `pad` is. Which tokenizer says that padding is 0?"
)
def always_zero(ids, pad):
    return (ids != 0)[:, None, None, :]


@exercise.mistake(
    "Besides padding your mask hides the ids below it. A start token often has one of those, and "
    "it is a real token. Which ids are not padding?"
)
def start_token_masked(ids, pad):
    return (ids > pad)[:, None, None, :]


@exercise.mistake(
    "Your mask takes everything behind the first padding token for padding (or counts tokens and "
    "takes the first ones for real). Padding may stand at the front."
)
def by_length(ids, pad):
    lengths = (ids != pad).sum(1, keepdim=True)
    return (torch.arange(ids.shape[1]) < lengths)[:, None, None, :]


@exercise.mistake(
    "Your mask holds numbers, not True and False. What does `~` do to a float, and to an integer?"
)
def numbers(ids, pad):
    return (ids != pad).long()[:, None, None, :]


@exercise.mistake(
    "Your mask is the one to be added to scores. That comes two steps later; here True and False "
    "are asked for."
)
def additive(ids, pad):
    mask = torch.zeros(ids.shape).masked_fill(ids == pad, -torch.inf)
    return mask[:, None, None, :]


@exercise.mistake(
    "Your mask always lets the first key through, to save some row from being all False. That is "
    "a task for softmax, later; is the first token always a real one?"
)
def first_key_kept(ids, pad):
    mask = (ids != pad)[:, None, None, :]
    mask[..., 0] = True
    return mask


@exercise.mistake(
    "Besides padding your mask hides the id 0. It is a token like any other, unless `pad` is 0."
)
def zero_hidden_too(ids, pad):
    return ((ids != pad) & (ids != 0))[:, None, None, :]


@exercise.mistake(
    "You let the first padding token of each sentence through, perhaps as its end. An end token "
    "has an id of its own here: every `pad` is padding."
)
def first_padding_kept(ids, pad):
    real = ids != pad
    first = ~real & ((~real).cumsum(1) == 1)
    return (real | first)[:, None, None, :]


@exercise.mistake(
    "Your mask hides padding at the end only. Batches for generation are padded at the front."
)
def only_at_the_end(ids, pad):
    real = (ids != pad).flip(1).cumsum(1).flip(1) > 0
    return real[:, None, None, :]


@exercise.mistake(
    "A sentence that is all padding gets a mask that allows everything. No key of it is real; "
    "what a softmax makes of that is a later step."
)
def everything_for_padding_alone(ids, pad):
    real = ids != pad
    return (real | ~real.any(1, keepdim=True))[:, None, None, :]


@exercise.mistake(
    "For a batch without padding you return None. The task asks for a mask, True everywhere."
)
def none_without_padding(ids, pad):
    real = ids != pad
    return None if real.all() else real[:, None, None, :]


@exercise.mistake(
    "Your mask is spelled out for every query. It is not wrong to attend with, but the task asks "
    "for axes of length 1, which broadcast over any number of heads and queries."
)
def spelled_out(ids, pad):
    return (ids != pad)[:, None, None, :].expand(-1, 1, ids.shape[1], -1)


@exercise.mistake(
    "The ids that you were given have changed. Which line writes into them, and what makes a new "
    "tensor?"
)
def in_place(ids, pad):
    ids.masked_fill_(ids == pad, -12)
    return (ids != -12)[:, None, None, :]


@exercise.also_right
def by_unsqueeze(ids, pad):
    return ids.ne(pad).unsqueeze(1).unsqueeze(2)


@exercise.also_right
def not_equal_to(ids, pad):
    B, Lk = ids.shape
    return torch.logical_not(ids == pad).reshape(B, 1, 1, Lk)


@exercise.also_right
def by_loops(ids, pad):
    rows = [[[[token != pad for token in row]]] for row in ids.tolist()]
    return torch.tensor(rows)
