"""conventions: the same mask as torch's modules and other people's code want it."""

from __future__ import annotations

import math

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.masks import (
    causal_mask,
    combine,
    from_additive,
    padding_mask,
    safe_softmax,
    to_additive,
    to_key_padding_mask,
    to_mha_mask,
)
from gradekit.exercise import Exercise

exercise = Exercise(
    to_mha_mask,
    to_key_padding_mask,
    from_additive,
    uses=[causal_mask, padding_mask, combine, to_additive, safe_softmax],
)


def random_mask(draw, *shape):
    """True in about half of the places, and for the first key always."""
    mask = draw.uniform(*shape) > 0.5
    mask[..., 0] = True
    return mask


def alike(mask, keys):
    """Both masks as numbers where one of them is: torch wants the two to be of one kind."""
    if mask.dtype == keys.dtype or not (mask.is_floating_point() or keys.is_floating_point()):
        return mask, keys
    numbers = [
        given.double()
        if given.is_floating_point()
        else torch.zeros(given.shape, dtype=torch.float64).masked_fill(given, -math.inf)
        for given in (mask, keys)
    ]
    return numbers[0], numbers[1]


def torch_attention(draw, width, heads):
    """torch's own multi-head attention with weights from `draw`."""
    module = nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(draw.normal(*weight.shape))
    return module


@exercise.check(points=1)
def shapes_and_dtypes(lab, draw):
    """Boolean tensors of the shapes that torch's modules ask for."""
    flat = lab.to_mha_mask(random_mask(draw, 5, 7), 3)
    deep = lab.to_mha_mask(random_mask(draw, 2, 1, 5, 7), 3)
    keys = lab.to_key_padding_mask(random_mask(draw, 2, 1, 1, 7))
    return {
        "to_mha_mask, shape of (5, 7)": list(flat.shape),
        "to_mha_mask, shape of (2, 1, 5, 7), 3 heads": list(deep.shape),
        "to_key_padding_mask, shape": list(keys.shape),
        "dtypes": [dtype_of(out) for out in (flat, deep, keys)],
    }


@exercise.check(points=1)
def in_torch_attention(lab, draw):
    """torch's MultiheadAttention does with your masks what it should."""
    module = torch_attention(draw, 6, 3)
    x, mask = draw.normal(2, 5, 6), random_mask(draw, 5, 5)
    keys = random_mask(draw, 2, 1, 1, 5)

    def attend(**masks):
        out, weights = module(x, x, x, **masks)
        return {"outputs": out, "weights": weights}

    both = alike(lab.to_mha_mask(lab.causal_mask(5), 3), lab.to_key_padding_mask(keys))
    return {
        "attn_mask": attend(attn_mask=lab.to_mha_mask(mask, 3)),
        "key_padding_mask": attend(key_padding_mask=lab.to_key_padding_mask(keys)),
        "both": attend(attn_mask=both[0], key_padding_mask=both[1]),
    }


@exercise.check(points=0.5)
def back_from_numbers(lab, draw):
    """`from_additive` leads from 0 and -inf back to True and False, in the same shape."""
    mask = random_mask(draw, 2, 1, 3, 5)
    back = lab.from_additive(torch.zeros(2, 1, 3, 5).masked_fill(~mask, -math.inf))
    return {"shape": list(back.shape), "dtype": dtype_of(back), "mask": back}


@exercise.check(points=1, hidden=True)
def a_mask_for_each_sentence(lab, draw):
    """Sentences and heads keep their own masks, in the order that torch wants."""
    module = torch_attention(draw, 6, 3)
    x, shared = draw.normal(2, 5, 6), random_mask(draw, 2, 1, 5, 5)
    heads = random_mask(draw, 2, 3, 5, 5)
    kept = heads.clone()
    seen = {}
    for name, mask in (("one for all heads", shared), ("one for each head", heads)):
        given = lab.to_mha_mask(mask, 3)
        out, weights = module(x, x, x, attn_mask=given, average_attn_weights=False)
        seen[name] = {"mask": given, "outputs": out, "weights": weights}
    wide = random_mask(draw, 4, 1, 3, 5)
    return {
        **seen,
        "four sentences, two heads": lab.to_mha_mask(wide, 2),
        "keys of one sentence": lab.to_key_padding_mask(random_mask(draw, 1, 1, 1, 5)),
        "one key of two sentences": lab.to_key_padding_mask(random_mask(draw, 2, 1, 1, 1)),
        "mask as it was": torch.equal(heads, kept),
    }


@exercise.check(points=0.5, hidden=True)
def numbers_of_all_kinds(lab, draw):
    """`from_additive` knows every low number that is in use, in each dtype."""
    mask = random_mask(draw, 4, 7)
    seen = {}
    for low in (-math.inf, -1e9, -1e4, -3e38):
        bias = torch.zeros(4, 7).masked_fill(~mask, low)
        seen[f"{low:g}"] = lab.from_additive(bias)
    half = torch.zeros(4, 7).half().masked_fill(~mask, torch.finfo(torch.half).min)
    seen["float16"] = lab.from_additive(half)
    seen["everything allowed"] = lab.from_additive(torch.zeros(2, 3))
    seen["nothing allowed"] = lab.from_additive(torch.full((2, 3), -1e9))
    seen["there and back"] = lab.from_additive(lab.to_additive(mask, torch.bfloat16))
    return seen


@exercise.check(points=2, hidden=True, chained=True)
def your_own_masks(lab, draw):
    """All together: your causal and padding masks, combined, in your softmax and in torch's."""
    pad, scores = 8, draw.normal(2, 3, 5, 5)
    ids = draw.integers(0, 7, 2, 5).masked_fill(torch.arange(5) < torch.tensor([[0], [2]]), pad)
    mask = lab.combine(lab.causal_mask(5), lab.padding_mask(ids, pad))
    module, x = torch_attention(draw, 6, 3), draw.normal(1, 5, 6)
    out, weights = module(x, x, x, attn_mask=lab.to_mha_mask(mask, 3)[:3])
    return {
        "mask": mask,
        "weights": lab.safe_softmax(scores, mask),
        "gradients": draw.gradients(lambda s: lab.safe_softmax(s, mask), scores),
        "the same by numbers": torch.softmax(scores + lab.to_additive(mask, torch.float64), -1)[0],
        "there and back": lab.from_additive(lab.to_additive(mask, torch.float32)),
        "key padding": lab.to_key_padding_mask(lab.padding_mask(ids, pad)),
        "torch's weights": weights,
        "torch's outputs": out,
    }


@exercise.mistake(
    "Your attn_mask is True where a query may attend. For nn.MultiheadAttention True means the "
    "opposite of what it means for scaled_dot_product_attention.",
    of="to_mha_mask",
)
def attn_mask_not_inverted(mask, num_heads):
    return mask.expand(-1, num_heads, -1, -1).flatten(0, 1) if mask.ndim == 4 else mask


@exercise.mistake(
    "Heads and sentences are in the wrong order: the first num_heads masks are to belong to the "
    "first sentence. What do `repeat` and `repeat_interleave` make of (a, b)?",
    of="to_mha_mask",
)
def sentences_first(mask, num_heads):
    if mask.ndim == 4:
        mask = mask.expand(-1, num_heads, -1, -1).transpose(0, 1).flatten(0, 1)
    return ~mask


@exercise.mistake(
    "Your mask has one entry for each sentence. torch wants one for each sentence and head: "
    "(B * num_heads, Lq, Lk).",
    of="to_mha_mask",
)
def heads_forgotten(mask, num_heads):
    return ~(mask[:, 0] if mask.ndim == 4 else mask)


@exercise.mistake(
    "Your mask still has four axes. nn.MultiheadAttention takes two or three: which two become "
    "one?",
    of="to_mha_mask",
)
def four_axes(mask, num_heads):
    return ~(mask.expand(-1, num_heads, -1, -1) if mask.ndim == 4 else mask)


@exercise.mistake(
    "The masks of the first head (or sentence) are used for all. Which of them may differ?",
    of="to_mha_mask",
)
def first_head_for_all(mask, num_heads):
    if mask.ndim == 4:
        mask = mask[:, :1].expand(-1, num_heads, -1, -1).flatten(0, 1)
    return ~mask


@exercise.mistake(
    "A mask of shape (Lq, Lk) is right for all sentences and heads as it is; yours gets more axes. "
    "What does the task want back?",
    of="to_mha_mask",
)
def always_three_axes(mask, num_heads):
    if mask.ndim == 2:
        return ~mask.expand(num_heads, -1, -1)
    return ~mask.expand(-1, num_heads, -1, -1).flatten(0, 1)


@exercise.mistake(
    "Your mask is one to be added (0 and -inf). The task asks for booleans.",
    of="to_mha_mask",
)
def attn_mask_of_numbers(mask, num_heads):
    hidden = to_mha_mask(mask, num_heads)
    return torch.zeros(hidden.shape, dtype=torch.float64).masked_fill(hidden, -math.inf)


@exercise.mistake(
    "Your code writes into the mask that it was given (`logical_not_`). The caller still needs it.",
    of="to_mha_mask",
)
def mask_inverted_in_place(mask, num_heads):
    mask.logical_not_()
    return mask.expand(-1, num_heads, -1, -1).flatten(0, 1) if mask.ndim == 4 else mask


@exercise.mistake(
    "Your key_padding_mask is True for real tokens. Its name says what True stands for.",
    of="to_key_padding_mask",
)
def key_padding_not_inverted(mask):
    return mask[:, 0, 0]


@exercise.mistake(
    "Your key_padding_mask still has its axes of length 1. nn.MultiheadAttention wants (B, Lk).",
    of="to_key_padding_mask",
)
def key_padding_with_axes(mask):
    return ~mask


@exercise.mistake(
    "Your key_padding_mask has lost a batch or key axis: which index belongs to which axis of (B, "
    "1, "
    "1, Lk)?",
    of="to_key_padding_mask",
)
def key_padding_of_the_first(mask):
    return ~mask[0, 0]


@exercise.mistake(
    "`squeeze()` without an axis drops every axis of length 1, also that of a batch with a single "
    "sentence. Which axes do you mean?",
    of="to_key_padding_mask",
)
def key_padding_squeezed(mask):
    return ~mask.squeeze()


@exercise.mistake(
    "Your key_padding_mask is one to be added (0 and -inf). The task asks for booleans.",
    of="to_key_padding_mask",
)
def key_padding_of_numbers(mask):
    return torch.zeros(mask[:, 0, 0].shape).masked_fill(~mask[:, 0, 0], -math.inf)


@exercise.mistake(
    "You take the lowest number that occurs for the forbidding one. Where nothing is forbidden, "
    "that is 0. What do all of them add where a query may attend?",
    of="from_additive",
)
def lowest_is_forbidden(bias):
    return bias != bias.min()


@exercise.mistake(
    "You ask whether a number is -inf. Some code forbids with -1e9, some with the lowest finite "
    "number: what do all of them add where a query may attend?",
    of="from_additive",
)
def infinity_only(bias):
    return ~bias.isinf()


@exercise.mistake(
    "You take numbers below -1e9 for forbidden, or below another limit. In float16 nothing is as "
    "low as that. What do all of them add where a query may attend?",
    of="from_additive",
)
def below_a_billion(bias):
    return bias > -1e9


@exercise.mistake(
    "Your result is True where the number is low (`.bool()` is, too: every number but 0 is True). "
    "Here True means that the query may attend.",
    of="from_additive",
)
def additive_not_inverted(bias):
    return bias.bool()


@exercise.mistake(
    "Your result holds numbers (exp of the bias, perhaps): right to multiply with, but the task "
    "asks "
    "for booleans.",
    of="from_additive",
)
def exponentials(bias):
    return bias.exp()


@exercise.also_right(of="to_mha_mask")
def by_repeating(mask, num_heads):
    if mask.dim() == 2:
        return torch.logical_not(mask)
    if mask.shape[1] == 1:
        return mask[:, 0].repeat_interleave(num_heads, dim=0) == 0
    return mask.reshape(-1, *mask.shape[2:]) == 0


@exercise.also_right(of="to_mha_mask")
def by_broadcasting(mask, num_heads):
    if mask.ndim == 2:
        return ~mask
    B, _, Lq, Lk = mask.shape
    return (~mask).broadcast_to(B, num_heads, Lq, Lk).reshape(B * num_heads, Lq, Lk)


@exercise.also_right(of="to_key_padding_mask")
def squeezed(mask):
    return mask.squeeze(2).squeeze(1).logical_not()


@exercise.also_right(of="to_key_padding_mask")
def viewed(mask):
    return mask.reshape(mask.shape[0], mask.shape[-1]) == False  # noqa: E712


@exercise.also_right(of="from_additive")
def not_negative(bias):
    return bias > -1.0


@exercise.also_right(of="from_additive")
def not_anything(bias):
    return ~(bias != 0)
