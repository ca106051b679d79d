"""padding_mask: no query looks at padding."""

from __future__ import annotations

import torch

from attnlab.masks import padding_mask
from gradekit.exercise import Exercise

exercise = Exercise(padding_mask)


def sentences(draw, pad, B, L):
    """Token ids with `pad` at the end of each row but the first; 0 occurs."""
    ids = draw.integers(0, 6, B, L)
    ids = torch.where(ids == pad, 6, ids)
    ids[0, 0] = 0 if pad != 0 else 5
    lengths = torch.cat([torch.tensor([L]), draw.integers(1, L, B - 1)])[:, None]
    return ids.masked_fill(torch.arange(L) >= lengths, pad)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Is boolean and has the shape (B, 1, 1, Lk)."""
    mask = lab.padding_mask(sentences(draw, 3, 2, draw.integers(5, 13).item()), 3)
    return {
        "shape": list(mask.shape),
        "dtype": str(mask.dtype).removeprefix("torch."),
    }


@exercise.check(points=3)
def padding_at_the_end(lab, draw):
    """Is True for real tokens and False for padding, whatever the padding id is."""
    seen = {}
    for pad in (0, 3, -1):
        ids = sentences(draw, pad, 3, 7)
        seen[f"pad={pad}"] = lab.padding_mask(ids, pad)
    return seen


@exercise.check(points=0.5)
def padding_in_front(lab, draw):
    """Padding may be in front, as in batches for generation; the ids stay unchanged."""
    ids = draw.integers(2, 9, 3, 6).clone()
    ids[0, :2] = ids[2, :4] = 11
    before = ids.clone()
    mask = lab.padding_mask(ids, 11)
    return {"mask": mask, "ids unchanged": torch.equal(ids, before)}


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


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, one token, and ids as large as a real vocabulary's."""

    def ask(B, Lk):
        return lab.padding_mask(draw.integers(0, 3, B, Lk), 2)

    large = draw.choice([80.0, 300.0, 50_256.0], 3, 7).long()
    larger = draw.integers(2**24, 2**24 + 3, 3, 7)
    return {
        "sizes": draw.each_size(ask, B=2, Lk=5),
        "padding is 50,256": lab.padding_mask(large, 50_256),
        # The first whole number that float32 does not have.
        "padding is 16,777,217": lab.padding_mask(larger, 2**24 + 1),
        # The same in their last 16 and 32 bits.
        "ids that are 65,536 apart": lab.padding_mask(5 + 2**16 * draw.integers(0, 3, 3, 7), 5),
        "ids that are 2^32 apart": lab.padding_mask(5 + 2**32 * draw.integers(0, 3, 3, 7), 5),
    }


@exercise.check(points=0.5, hidden=True)
def padding_anywhere(lab, draw):
    """Padding may be at the front or in between, fill a sentence, or not occur at all."""
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
        "no padding at all": lab.padding_mask(ids[3:4].clone(), pad),
        "one token": lab.padding_mask(ids[:, :1].clone(), pad),
    }


exercise.promises(
    {
        "No query attends to padding: the mask is True for real tokens, in all heads": (
            "padding_at_the_end padding_in_front padding_anywhere keys_and_not_queries"
        ),
        "ids: (B, Lk), int64, the tokens of each sequence, padded to one length.": (
            "other_sizes padding_anywhere"
        ),
        "pad: the id of the padding token, any number.": "padding_at_the_end other_sizes",
        "(B, 1, 1, Lk), torch.bool: True where the key is not padding.": (
            "shape_and_dtype other_sizes"
        ),
        "The two axes of length 1 broadcast over heads and queries.": "keys_and_not_queries",
        "Queries that are padding themselves are not masked.": "keys_and_not_queries",
        "`ids` stays unchanged.": "padding_in_front",
    }
)


@exercise.also_right
def not_equal_with_axes(ids, pad):
    real = ids != pad
    return real[:, None, None, :]


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


wrong = exercise.edits(not_equal_with_axes)

wrong(
    "two_axes",
    "[:, None, None, :]",
    "",
    "Your mask has the shape (B, Lk). torch aligns it with scores of shape (B, h, Lq, Lk) from the "
    "right: which axis would B meet?",
)
wrong(
    "ids_in_a_byte",
    "real = ids != pad",
    "real = ids.to(torch.int8) != torch.tensor(pad).to(torch.int8)",
    "You store the ids in numbers of 8 bits, which end at 127. How many tokens does a real "
    "vocabulary have?",
)
for bits in (16, 32):
    wrong(
        f"ids_in_{bits}_bits",
        "real = ids != pad",
        f"real = ids.to(torch.int{bits}) != torch.tensor(pad).to(torch.int{bits})",
        "You compare only the last bits of the ids (`.short()`, `.int()`, or a dtype of that "
        "name), in which two ids may be equal. Which dtype do the ids have?",
    )
wrong(
    "ids_as_floats",
    "real = ids != pad",
    "real = ids.float() != float(pad)",
    "You compare ids as float32, in which neighbours above 16,777,216 are equal. Which dtype has "
    "every whole number that an id may be?",
)
SQUEEZED = (
    "Your mask loses an axis if there is only one sentence or one token. Which axes does the task "
    "promise, whatever their lengths?"
)
wrong("squeezed", "[:, None, None, :]", "[:, None, None, :].squeeze(0)", SQUEEZED)
wrong("squeezed_first", "[:, None, None, :]", ".squeeze()[..., None, None, :]", SQUEEZED)
wrong(
    "three_axes",
    "[:, None, None, :]",
    "[:, None, :]",
    "Your mask has three axes, so its B would meet the heads of scores of shape (B, h, Lq, Lk). "
    "How many axes of length 1 are needed, and where?",
)
wrong(
    "inverted",
    "!=",
    "==",
    "Your mask is inverted: it is True for padding. What does True mean here, as in torch's "
    "`scaled_dot_product_attention`?",
)
wrong(
    "tilde_before_the_comparison",
    "ids != pad",
    "~ids == pad",
    "`~` stands before the ids and changes their bits, before anything is compared. What should be "
    "inverted, the ids or the answer of the comparison?",
)
wrong(
    "nothing_hidden",
    "ids != pad",
    "torch.ones_like(ids, dtype=torch.bool)",
    "Your mask is True everywhere. Which line compares ids with `pad`? (`is not` asks whether two "
    "names are one and the same object, and not whether two numbers are equal.)",
)
wrong(
    "queries_masked",
    "[:, None, None, :]",
    "[:, None, :, None]",
    "You mask the queries that are padding, not the keys, so real tokens still look at padding. In "
    "scores of shape (B, h, Lq, Lk), along which axis are the tokens that are looked at?",
)
wrong(
    "queries_and_keys",
    "real[:, None, None, :]",
    "(real[:, :, None] & real[:, None, :])[:, None]",
    "Your mask depends on queries as well as keys: it hides everything from padded queries. Which "
    "of the two does the task ask about?",
)
wrong(
    "always_zero",
    "!= pad",
    "!= 0",
    "You search for the id 0, whatever `pad` is. Which tokenizer says that padding is 0?",
)
SMALLER_OR_LARGER = (
    "Besides padding, your mask hides the ids on one side of it. A start token often has such an "
    "id, and it is a real token. Which ids are not padding?"
)
wrong("start_token_masked", "!=", ">", SMALLER_OR_LARGER)
wrong("only_smaller_ids", "!=", "<", SMALLER_OR_LARGER)
wrong(
    "negative_ids_replaced",
    "ids != pad",
    "ids.clamp(min=0) != max(pad, 0)",
    "If the padding id is negative, your mask hides a real token, too: you replace negative ids by "
    "another one first. Which real token has that id?",
)
NUMBERS = (
    "Your mask holds numbers, not True and False. What does `~` do to a float, and to an integer?"
)
wrong("numbers", "real = ids != pad", "real = (ids != pad).long()", NUMBERS)
wrong("numbers_of_floats", "real = ids != pad", "real = (ids != pad).float()", NUMBERS)
wrong("numbers_of_a_byte", "real = ids != pad", "real = (ids != pad).byte()", NUMBERS)
OTHER_AXES = (
    "Your mask has four axes, but its batch or its keys are on the wrong ones. Scores have the "
    "shape (B, h, Lq, Lk): which axes of your mask have to be 1?"
)
wrong("batch_among_the_queries", "[:, None, None, :]", "[None, None]", OTHER_AXES)
wrong("keys_among_the_heads", "[:, None, None, :]", "[:, :, None, None]", OTHER_AXES)
for name, axes in (("keys", "(1, 1, 1, -1)"), ("sentences", "(-1, 1, 1, 1)")):
    wrong(
        f"all_tokens_among_the_{name}",
        "[:, None, None, :]",
        f".reshape{axes}",
        "All tokens of all sentences stand along one axis of your mask, so it does not know which "
        "sentence a token belongs to. Which axis keeps the sentences of a batch apart?",
    )
wrong(
    "additive",
    "real = ids != pad",
    "real = torch.zeros(ids.shape).masked_fill(ids == pad, -torch.inf)",
    "Your mask holds numbers to be added to scores, which is the task of 5.4. Which dtype "
    "does this step ask for?",
)
wrong(
    "zero_hidden_too",
    "ids != pad",
    "(ids != pad) & (ids != 0)",
    "Besides padding, your mask hides the id 0. When is 0 the padding id, and when is it a token "
    "like any other?",
)
wrong(
    "only_at_the_end",
    "ids != pad",
    "(ids != pad).flip(1).cumsum(1).flip(1) > 0",
    "Your mask hides padding only at the end. On which side do batches for generation have their "
    "padding?",
)
ONE_FOR_ALL = (
    "All your sentences get the same mask, made from one of them or from all together. May two "
    "sentences have their padding at different places?"
)
SAME_FOR_ALL = {
    "hidden_if_padding_anywhere": "(ids != pad).all(0).expand(ids.shape)",
    "hidden_if_padding_everywhere": "(ids != pad).any(0).expand(ids.shape)",
    "first_sentence_for_all": "(ids[:1] != pad).expand(ids.shape)",
    "one_row": "(ids != pad).all(0, keepdim=True)",
}
for name, real in SAME_FOR_ALL.items():
    wrong(name, "ids != pad", real, ONE_FOR_ALL)
wrong(
    "only_in_front",
    "ids != pad",
    "(ids != pad).cumsum(1) > 0",
    "Your mask hides padding only in front of the first real token. On which side do batches for "
    "training have their padding?",
)
wrong(
    "whole_sentence_hidden",
    "ids != pad",
    "(ids != pad).all(1, keepdim=True).expand(ids.shape)",
    "A sentence with padding is hidden as a whole in your mask. Which of its tokens are real?",
)
wrong(
    "spelled_out",
    "[:, None, None, :]",
    "[:, None, None, :].expand(-1, 1, ids.shape[1], -1)",
    "Your mask has its own row for every query. That is not wrong in attention, but the task asks "
    "for axes of length 1: over what do these broadcast?",
)
wrong.several(
    "in_place",
    {"    real": "    ids.masked_fill_(ids == pad, -12)\n    real", "!= pad": "!= -12"},
    "The ids that you were given have changed. Which line writes into them, and what makes a new "
    "tensor?",
)
wrong(
    "none_without_padding",
    "return real",
    "return None if real.all() else real",
    "For a batch without padding you return None. What should a mask that hides nothing look like?",
)
for name, shown in (
    ("everything", "real |= ~real.any(1, keepdim=True)"),
    ("first_key", "real[:, 0] |= ~real.any(1)"),
):
    wrong(
        f"{name}_for_padding_alone",
        "    return real",
        f"    {shown}\n    return real",
        "Your mask allows keys in a sentence that is all padding. What softmax makes of such a "
        "sentence is a later step: which of its keys are real?",
    )


BY_LENGTH = (
    "Your mask takes everything behind the first padding token for padding (or counts tokens and "
    "takes the first ones for real). Where else may padding be?"
)
wrong("until_the_first_padding", "ids != pad", "(ids == pad).cumsum(1) == 0", BY_LENGTH)


@exercise.mistake(BY_LENGTH)
def by_length(ids, pad):
    lengths = (ids != pad).sum(1, keepdim=True)
    return (torch.arange(ids.shape[1]) < lengths)[:, None, None, :]


@exercise.mistake(
    "Your mask always allows the first key, so that no row is all False. That is a task for "
    "softmax, later: is the first token always a real one?"
)
def first_key_kept(ids, pad):
    mask = (ids != pad)[:, None, None, :]
    mask[..., 0] = True
    return mask


@exercise.mistake(
    "You allow the first padding token of each sentence, perhaps as its end. An end token has its "
    "own id here: what does `pad` stand for?"
)
def first_padding_kept(ids, pad):
    real = ids != pad
    first = ~real & ((~real).cumsum(1) == 1)
    return (real | first)[:, None, None, :]
