"""combine: several masks at once; a key must be allowed by all of them."""

from __future__ import annotations

import torch

from attnlab.masks import causal_mask, combine, padding_mask
from gradekit.exercise import Exercise

exercise = Exercise(combine, uses=[causal_mask, padding_mask])


def random_mask(draw, *shape):
    """True in about two places of three."""
    return draw.uniform(*shape) > 0.35


def kept(masks):
    """The masks, each with a copy of its present entries."""
    return [(mask, mask.clone()) for mask in masks]


def unchanged(pairs):
    return [bool((mask == before).all()) for mask, before in pairs]


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Is boolean and has the shape that the masks broadcast to."""
    out = lab.combine(random_mask(draw, 5, 7), random_mask(draw, 2, 1, 1, 7))
    three = lab.combine(
        random_mask(draw, 3, 1, 1), random_mask(draw, 2, 1, 1, 7), random_mask(draw, 5, 7)
    )
    open_to_all = lab.combine(torch.ones(2, 1, 1, 7, dtype=torch.bool), random_mask(draw, 5, 7))
    closed = lab.combine(torch.zeros(5, 7, dtype=torch.bool), random_mask(draw, 2, 1, 1, 7))
    return {
        "shape": list(out.shape),
        "shape of three": list(three.shape),
        "shape with a mask that allows everything": list(open_to_all.shape),
        "shape with a mask that allows nothing": list(closed.shape),
        "dtype": str(out.dtype).removeprefix("torch."),
    }


@exercise.check(points=2)
def causal_and_padding(lab, draw):
    """With a causal and a padding mask, only earlier tokens that are real are allowed."""
    pad = 9
    ids = draw.integers(0, 7, 2, 5)
    ids = ids.masked_fill(torch.arange(5) >= torch.tensor([[5], [int(draw.integers(1, 5))]]), pad)
    padding = lab.padding_mask(ids, pad)
    return {
        "five queries": lab.combine(lab.causal_mask(5), padding),
        "three queries, five keys": lab.combine(lab.causal_mask(3, 5), padding),
        "the other order": lab.combine(padding, lab.causal_mask(5)),
    }


@exercise.check(points=1)
def any_number(lab, draw):
    """Takes one mask, two masks or four, even a mask that allows nothing."""
    masks = [random_mask(draw, 3, 6) for _ in range(4)]
    seen = {f"{n}": lab.combine(*masks[:n]) for n in (1, 2, 4)}
    nothing = torch.zeros(3, 6, dtype=torch.bool)
    return {**seen, "two, of which one allows nothing": lab.combine(masks[0], nothing)}


@exercise.check(points=1.5, hidden=True)
def as_many_sentences_as_tokens(lab, draw):
    """Gets the axes right, even if batch, heads and tokens happen to be equally many."""
    T = 4
    padding, causal = random_mask(draw, T, 1, 1, T), lab.causal_mask(T)
    heads = random_mask(draw, 1, T, 1, 1)
    one_key = torch.tensor([True, False]).view(2, 1, 1, 1)
    return {
        "two": lab.combine(causal, padding),
        "three": lab.combine(padding, causal, heads),
        "one axis": lab.combine(causal, random_mask(draw, T)),
        "one query and one key": lab.combine(torch.ones(1, 1, dtype=torch.bool), one_key, None),
    }


@exercise.check(points=1)
def none_among_masks(lab, draw):
    """None allows everything, whether it comes first, in between or last."""
    one, two = random_mask(draw, 3, 5), random_mask(draw, 2, 1, 1, 5)
    return {
        "None first": lab.combine(None, one, two),
        "None in between": lab.combine(one, None, two),
        "None last": lab.combine(one, None),
    }


@exercise.check(points=0.5)
def nothing_given(lab, draw):
    """Without any mask, or with None alone, the result is None."""
    return {
        "nothing but None": lab.combine(None, None),
        "no mask": lab.combine(),
    }


@exercise.check(points=1, hidden=True)
def arguments_kept(lab, draw):
    """Leaves the given masks unchanged."""
    masks = [random_mask(draw, 2, 3, 5, 7), random_mask(draw, 5, 7), random_mask(draw, 2, 1, 1, 7)]
    pairs = kept(masks)
    out = lab.combine(*masks)
    again = lab.combine(*masks[1:], masks[0])
    others = [random_mask(draw, *mask.shape) for mask in masks]
    return {
        "other masks of the same shapes": lab.combine(*others),
        "result": out,
        "result, other order": again,
        "unchanged": unchanged(pairs),
    }


exercise.promises(
    {
        "A query may attend to a key if every mask allows it.": "causal_and_padding any_number",
        "masks: any number of boolean masks whose shapes broadcast together": (
            "any_number as_many_sentences_as_tokens"
        ),
        "None is a mask that allows everything.": "none_among_masks",
        "The masks stay unchanged.": "arguments_kept",
        "Boolean, the shape that the masks' shapes broadcast to.": (
            "shape_and_dtype as_many_sentences_as_tokens"
        ),
        "None if there is no mask, or if all are None.": "nothing_given",
    }
)
