"""Wrong versions of `combine`, most of them edits of a right one."""

from __future__ import annotations

import functools

import torch

from . import exercise
from .also_right import by_reduce, one_after_the_other

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
    "product_of_long_numbers", {"[mask for": "[mask.long() for", "logical_and": "mul"}, NUMBERS
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
LAST_TWO = (
    "Your result uses only the last two masks. How many masks may be given, and what becomes of "
    "the earlier ones in your code?"
)
wrong("last_two_only", "is not None]", "is not None][-2:]", LAST_TWO)
wrong("last_two_arguments", "in masks if", "in masks[-2:] if", LAST_TWO)
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
FIRST_ALONE = (
    "Your result is the first mask alone, whatever the others forbid. After how many masks does "
    "your code return?"
)
wrong("first_one_only", "is not None]", "is not None][:1]", FIRST_ALONE)
wrong("first_argument_only", "in masks if", "in masks[:1] if", FIRST_ALONE)
wrong(
    "negated",
    "functools.reduce",
    "~functools.reduce",
    "Your result is inverted. If two masks allow a key, what should the result say?",
)
AT_NONE = (
    "Your code raises an error at a None, or at a None that comes first. It stands for a mask that "
    "allows everything: what is left to do for it?"
)
wrong(
    "stops_at_none",
    "[mask for mask in masks if mask is not None]",
    "masks",
    AT_NONE,
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
    "Your code writes into the first mask, or a copy of it (`&=`), which keeps its shape, so it "
    "cannot take the shape that all masks broadcast to. Which operator makes a new tensor?"
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
    AT_NONE,
)


wrong = exercise.edits(one_after_the_other)
IN_THE_LOOP = "if mask is not None:\n            result = mask if result is None else result & mask"
for name, both in {
    "second": "result & mask",
    "second_in_front": "mask & result",
    "second_by_name": "torch.logical_and(result, mask)",
    "second_by_name_in_front": "torch.logical_and(mask, result)",
}.items():
    expected = f"if True:\n            result = mask if result is None else {both}"
    wrong(f"none_not_expected_as_the_{name}", IN_THE_LOOP, expected, AT_NONE)
    wrong.several(
        f"none_first_not_expected_{name}",
        {
            "result = None": "result = masks[0]",
            "in masks:": "in masks[1:]:",
            "mask if result is None else result & mask": both,
        },
        AT_NONE,
    )


@exercise.mistake(
    "You multiply the masks, starting from the number 1. So your result holds numbers, and without "
    "any mask it is the number 1. Which operator combines two boolean masks?"
)
def product_from_one(*masks):
    result = 1
    for mask in masks:
        if mask is not None:
            result = result * mask
    return result


@exercise.mistake(
    "Once nothing is allowed any more, you leave out the masks that follow. Your entries are "
    "right, but which shape should the result have if a later mask has more axes?"
)
def stops_when_nothing_is_allowed(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask if result is None else result & mask
        if not result.any():
            break
    return result
