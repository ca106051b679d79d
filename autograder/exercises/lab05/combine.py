"""combine: several masks at once, a key must pass them all."""

from __future__ import annotations

import functools

import torch

from attnlab.masks import causal_mask, combine, padding_mask
from gradekit.exercise import Exercise

exercise = Exercise(combine, uses=[causal_mask, padding_mask])


def random_mask(draw, *shape):
    """True in about two places of three."""
    return draw.uniform(*shape) > 0.35


def kept(masks):
    """The masks with what they hold now."""
    return [(mask, mask.clone()) for mask in masks]


def unchanged(pairs):
    return [bool((mask == then).all()) for mask, then in pairs]


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Is boolean, in the shape that the masks broadcast to."""
    out = lab.combine(random_mask(draw, 5, 7), random_mask(draw, 2, 1, 1, 7))
    three = lab.combine(
        random_mask(draw, 3, 1, 1), random_mask(draw, 2, 1, 1, 7), random_mask(draw, 5, 7)
    )
    return {
        "shape": list(out.shape),
        "shape of three": list(three.shape),
        "dtype": str(out.dtype).removeprefix("torch."),
    }


@exercise.check(points=2)
def causal_and_padding(lab, draw):
    """A causal mask and a padding mask: only earlier tokens that are real."""
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
    """Takes one mask, two or four."""
    masks = [random_mask(draw, 3, 6) for _ in range(4)]
    return {f"{n}": lab.combine(*masks[:n]) for n in (1, 2, 4)}


@exercise.check(points=1.5, hidden=True)
def as_many_sentences_as_tokens(lab, draw):
    """Gets the axes right also where batch, heads and tokens happen to be equally many."""
    T = 4
    padding, causal = random_mask(draw, T, 1, 1, T), lab.causal_mask(T)
    heads = random_mask(draw, 1, T, 1, 1)
    return {
        "two": lab.combine(causal, padding),
        "three": lab.combine(padding, causal, heads),
        "one axis": lab.combine(causal, random_mask(draw, T)),
    }


@exercise.check(points=1.5, hidden=True)
def none_and_nothing(lab, draw):
    """None allows everything; without any mask the result is None."""
    one, two = random_mask(draw, 3, 5), random_mask(draw, 2, 1, 1, 5)
    return {
        "None first": lab.combine(None, one, two),
        "None in between": lab.combine(one, None, two),
        "None last": lab.combine(one, None),
        "nothing but None": lab.combine(None, None),
        "no mask": lab.combine(),
    }


@exercise.check(points=1, hidden=True)
def arguments_kept(lab, draw):
    """Leaves the masks that it was given as they were."""
    masks = [random_mask(draw, 2, 3, 5, 7), random_mask(draw, 5, 7), random_mask(draw, 2, 1, 1, 7)]
    pairs = kept(masks)
    out = lab.combine(*masks)
    again = lab.combine(*masks[1:], masks[0])
    others = [random_mask(draw, *mask.shape) for mask in masks]
    return {
        "other masks of the same shapes": lab.combine(*others),
        "result": out,
        "result, other order": again,
        "as they were": unchanged(pairs),
    }


@exercise.mistake(
    "In your result a query may attend where any of the masks allows it. May a query look at a "
    "later token because it is no padding?"
)
def any_instead_of_all(*masks):
    given = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_or, given) if given else None


@exercise.mistake(
    'You add the masks up, and True + True is 2 (or, made boolean again, an "or"). Which logical '
    "operator asks for both?"
)
def summed(*masks):
    given = [mask.long() for mask in masks if mask is not None]
    return sum(given) if given else None


@exercise.mistake(
    "Your result holds numbers (a product, or 0 and -inf to be added). The result is to be "
    "boolean, as the masks are."
)
def product_of_numbers(*masks):
    given = [mask.float() for mask in masks if mask is not None]
    return functools.reduce(torch.mul, given) if given else None


@exercise.mistake(
    "You add masks of very low numbers: two lowest numbers together are -inf, and a row of those "
    "becomes NaN in softmax. Boolean masks need no adding."
)
def lowest_numbers_added(*masks):
    lowest = torch.finfo(torch.float32).min
    given = [torch.zeros(m.shape).masked_fill(~m, lowest) for m in masks if m is not None]
    return sum(given) if given else None


@exercise.mistake(
    "You take the difference of two masks (exclusive or, or `!=`): where both allow a key it is "
    "forbidden. What is True and True?"
)
def exclusive_or(*masks):
    given = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_xor, given) if given else None


@exercise.mistake(
    "You dropped axes of length 1, so a padding mask (B, 1, 1, Lk) meets the queries with its B: "
    "where B equals Lq nothing complains. torch broadcasts the masks as they come."
)
def axes_of_one_dropped(*masks):
    given = [mask.squeeze() for mask in masks if mask is not None]
    return functools.reduce(torch.logical_and, given) if given else None


@exercise.mistake(
    "Your code writes into the first mask (`&=`, `logical_and_`), which the caller still needs: "
    "the causal mask of the next batch would have this batch's padding in it."
)
def first_mask_changed(*masks):
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    out = given[0]
    for mask in given[1:]:
        if out.shape == torch.broadcast_shapes(out.shape, mask.shape):
            out &= mask
        else:
            out = out & mask
    return out


@exercise.mistake(
    "Your code writes into the first mask (`&=`), and that is as large as it is: it cannot become "
    "the shape of both together. Which operator makes a new tensor?"
)
def grown_in_place(*masks):
    result = masks[0]
    for mask in masks[1:]:
        result &= mask
    return result


@exercise.mistake(
    "You expand each mask to the shape of the first one, which may be the smaller. Which shape "
    "do all of them broadcast to, and who works that out for you?"
)
def expanded_to_the_first(*masks):
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    return functools.reduce(lambda out, mask: out & mask.expand_as(out), given)


@exercise.mistake(
    "Your code stops at a None. It stands for a mask that allows everything: what is left to do "
    "for it?"
)
def stops_at_none(*masks):
    return functools.reduce(torch.logical_and, masks)


@exercise.mistake(
    "You take None for a mask that forbids everything, or return nothing when one of the masks is "
    "None. It allows everything."
)
def none_wins(*masks):
    if any(mask is None for mask in masks) or not masks:
        return None
    return functools.reduce(torch.logical_and, masks)


@exercise.mistake(
    "Without a mask your result is a tensor. The task asks for None there: code that gets no mask "
    "need not mask at all."
)
def true_for_nothing(*masks):
    given = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_and, given, torch.tensor(True))


@exercise.mistake(
    "Your result uses the first two masks; the others are lost. How many may be given?"
)
def two_at_most(*masks):
    given = [mask for mask in masks if mask is not None][:2]
    return functools.reduce(torch.logical_and, given) if given else None


@exercise.mistake(
    "Your result has True and False exchanged. With two masks that allow a key, what should the "
    "result say?"
)
def negated(*masks):
    given = [mask for mask in masks if mask is not None]
    return ~functools.reduce(torch.logical_and, given) if given else None


@exercise.mistake(
    "Python's `and` asks each mask for one yes or no, and a tensor of many has none. Which "
    "operator works entry by entry?"
)
def word_and(*masks):
    result = masks[0]
    for mask in masks[1:]:
        result = result and mask
    return result


@exercise.also_right
def by_reduce(*masks):
    given = [mask for mask in masks if mask is not None]
    return functools.reduce(torch.logical_and, given) if given else None


@exercise.also_right
def stacked(*masks):
    given = [mask for mask in masks if mask is not None]
    if len(given) == 0:
        return None
    return torch.stack(torch.broadcast_tensors(*given)).all(0)


@exercise.also_right
def nobody_forbids(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = ~mask if result is None else result | ~mask
    return None if result is None else ~result


@exercise.also_right
def smallest(*masks):
    given = [mask.int() for mask in masks if mask is not None]
    if not given:
        return None
    out = given[0]
    for mask in given[1:]:
        out = torch.minimum(out, mask)
    return out.bool()
