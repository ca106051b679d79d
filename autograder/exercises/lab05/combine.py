"""combine: several masks at once; a key must be allowed by all of them."""

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
    return {
        "shape": list(out.shape),
        "shape of three": list(three.shape),
        "shape with a mask that allows everything": list(open_to_all.shape),
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


@exercise.check(points=1.5)
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
        "None is a mask that allows everything.": "none_and_nothing",
        "The masks stay unchanged.": "arguments_kept",
        "Boolean, the shape that the masks' shapes broadcast to.": (
            "shape_and_dtype as_many_sentences_as_tokens"
        ),
        "None if there is no mask, or if all are None.": "none_and_nothing",
    }
)


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


wrong = exercise.edits(by_reduce)

wrong(
    "any_instead_of_all",
    "logical_and",
    "logical_or",
    "Your result allows a key as soon as any of the masks allows it. May a query look at a later "
    "token because it is not padding?",
)
wrong.several(
    "summed",
    {"[mask for": "[mask.long() for", "functools.reduce(torch.logical_and, given)": "sum(given)"},
    'You add up the masks, and True + True is 2 (or, made boolean again, an "or"). Which logical '
    "operator asks for both?",
)
NUMBERS = (
    "Your result holds numbers (a product, or 0 and -inf to be added). Which dtype do the masks "
    "have?"
)
wrong.several(
    "product_of_numbers", {"[mask for": "[mask.float() for", "logical_and": "mul"}, NUMBERS
)
wrong.several(
    "product_of_whole_numbers", {"[mask for": "[mask.int() for", "logical_and": "mul"}, NUMBERS
)
wrong.several(
    "lowest_numbers_added",
    {
        "    given = [mask for": (
            "    lowest = torch.finfo(torch.float32).min\n"
            "    given = [torch.zeros(mask.shape).masked_fill(~mask, lowest) for"
        ),
        "functools.reduce(torch.logical_and, given)": "sum(given)",
    },
    "You add masks of very low numbers: the sum of two lowest numbers is -inf, and a row of those "
    "becomes NaN in softmax. Which operator combines two boolean masks?",
)
wrong(
    "exclusive_or",
    "logical_and",
    "logical_xor",
    "You take the difference of two masks (exclusive or, or `!=`): a key that both allow becomes "
    "forbidden. What is True and True?",
)
wrong(
    "equal_entries",
    "logical_and",
    "eq",
    "You ask where two masks are equal (`==`), so a key that both forbid is allowed. What is False "
    "and False?",
)
OTHER_SHAPES = (
    "Your code expects masks of one shape: you stack them, or expand each to the shape of the "
    "first one, which may be the smaller one. Which operator on two masks broadcasts by itself?"
)
wrong(
    "stacked_without_broadcasting",
    "functools.reduce(torch.logical_and, given)",
    "torch.stack(given).all(0)",
    OTHER_SHAPES,
)
wrong(
    "axes_of_one_dropped",
    "[mask for",
    "[mask.squeeze() for",
    "You drop axes of length 1, so the B of a padding mask (B, 1, 1, Lk) meets the queries, and if "
    "B equals Lq there is no error. What do those axes of length 1 do in torch?",
)
wrong(
    "none_wins",
    "if given else None",
    "if given and len(given) == len(masks) else None",
    "You take None for a mask that forbids everything, or return None if one of the masks is None. "
    "What does None stand for in the task?",
)
wrong.several(
    "true_for_nothing",
    {
        "torch.logical_and, given)": "torch.logical_and, given, torch.tensor(True))",
        " if given else None": "",
    },
    "Without a mask you return a tensor. What does the task ask for there, so that code without a "
    "mask can skip masking?",
)
NOTHING = (
    "Without a mask, or if all are None, your code raises an error. What does the task ask for "
    "there?"
)
wrong("nothing_is_an_error", " if given else None", "", NOTHING)
wrong(
    "nothing_has_no_first",
    "functools.reduce(torch.logical_and, given) if given else None",
    "functools.reduce(torch.logical_and, given[1:], given[0])",
    NOTHING,
)
wrong(
    "two_at_most",
    "is not None]",
    "is not None][:2]",
    "Your result uses only the first two masks. How many masks may be given?",
)
wrong(
    "first_and_last",
    "torch.logical_and, given)",
    "torch.logical_and, (given[0], given[-1]))",
    "Your result uses only the first and the last mask. How many masks may be given?",
)
wrong(
    "all_forbidding_left_out",
    "is not None]",
    "is not None and mask.any()]",
    "You leave out a mask that forbids everything. If every mask must allow a key, which keys are "
    "still allowed?",
)
wrong(
    "all_allowing_left_out",
    "is not None]",
    "is not None and not mask.all()]",
    "You leave out a mask that allows everything. It changes no entry: does it change the shape?",
)
wrong(
    "last_one_only",
    "is not None]",
    "is not None][-1:]",
    "Your result is the last mask alone: each mask replaces the one before. What must be left of "
    "the earlier ones?",
)
wrong(
    "negated",
    "functools.reduce",
    "~functools.reduce",
    "Your result is inverted. If two masks allow a key, what should the result say?",
)
wrong(
    "stops_at_none",
    "[mask for mask in masks if mask is not None]",
    "masks",
    "Your code raises an error at a None. It stands for a mask that allows everything: what is "
    "left to do for it?",
)
wrong(
    "none_counted",
    "functools.reduce(torch.logical_and, given)",
    "(sum(mask.int() for mask in given) == len(masks))",
    "With a None among the masks, your result allows nothing: None votes against, or it is counted "
    "but has no vote. What does None stand for in the task?",
)
wrong(
    "first_one_decides",
    "if given else None",
    "if given and masks[0] is not None else None",
    "If the first mask is None, so is your result, whatever follows. What do the masks behind it "
    "still forbid?",
)
wrong(
    "always_four_axes",
    "[mask for",
    "[mask[(None,) * (4 - mask.ndim)] for",
    "Your result has four axes even if the masks have two. Which shape does the task promise?",
)
TRUTH_OF_A_TENSOR = (
    "Python's `if`, `and`, `or` and `not` ask a mask for a single yes or no, but a tensor has many "
    "entries. Which of your lines asks in this way?"
)
wrong("masks_asked", "if mask is not None", "if mask", TRUTH_OF_A_TENSOR)


@exercise.mistake(
    "Your code writes into the first mask (`&=`, `logical_and_`), but the caller still needs it: "
    "the causal mask of the next batch would contain this batch's padding. Which operator makes a "
    "new tensor instead?"
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
    "Your code writes into the first mask (`&=`), which keeps its shape, so it cannot take the "
    "shape that all masks broadcast to. Which operator makes a new tensor?"
)
def grown_in_place(*masks):
    result = masks[0]
    for mask in masks[1:]:
        result &= mask
    return result


@exercise.mistake(
    "Your loop ends at the first None, and the masks behind it are lost. What is left to do for a "
    "None, and for the masks that follow?"
)
def ends_at_none(*masks):
    result = None
    for mask in masks:
        if mask is None:
            break
        result = mask if result is None else result & mask
    return result


@exercise.mistake(OTHER_SHAPES)
def expanded_to_the_first(*masks):
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    return functools.reduce(lambda out, mask: out & mask.expand_as(out), given)


@exercise.mistake(TRUTH_OF_A_TENSOR)
def word_and(*masks):
    result = masks[0]
    for mask in masks[1:]:
        result = result and mask
    return result


wrong.several(
    "none_not_expected",
    {
        "    given = [mask for mask in masks if mask is not None]\n": "",
        "functools.reduce(torch.logical_and, given) if given else None": (
            "functools.reduce(lambda one, other: one & other, masks) if masks else None"
        ),
    },
    "Your code raises an error at a None. It stands for a mask that allows everything: what is "
    "left to do for it?",
)
