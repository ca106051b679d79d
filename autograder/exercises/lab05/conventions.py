"""conventions: the same mask as torch's modules and other people's code expect it."""

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
    """True in about half of the places, and always for the first key."""
    mask = draw.uniform(*shape) > 0.5
    mask[..., 0] = True
    return mask


def alike(mask, keys):
    """Both masks as numbers if one of them holds numbers: torch wants both to be of one kind."""
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
    """torch's own multi-head attention, with weights from `draw`."""
    module = nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(draw.normal(*weight.shape))
    return module


@exercise.check(points=1)
def shapes_and_dtypes(lab, draw):
    """All masks are boolean tensors of the shapes that torch's modules expect."""
    flat = lab.to_mha_mask(random_mask(draw, 5, 7), 3)
    deep = lab.to_mha_mask(random_mask(draw, 2, 1, 5, 7), 3)
    keys = lab.to_key_padding_mask(random_mask(draw, 2, 1, 1, 7))
    return {
        "to_mha_mask, shape of (5, 7)": list(flat.shape),
        "to_mha_mask, shape of (2, 1, 5, 7), 3 heads": list(deep.shape),
        "to_key_padding_mask, shape": list(keys.shape),
        "dtypes": [dtype_of(out) for out in (flat, deep, keys)],
    }


@exercise.check(points=0.5)
def in_torch_attention(lab, draw):
    """torch's MultiheadAttention gives the right outputs and weights with your masks."""
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
    """`from_additive` turns 0 and -inf back into True and False, in the same shape."""
    mask = random_mask(draw, 2, 1, 3, 5)
    back = lab.from_additive(torch.zeros(2, 1, 3, 5).masked_fill(~mask, -math.inf))
    return {"shape": list(back.shape), "dtype": dtype_of(back), "mask": back}


@exercise.check(points=1)
def a_mask_for_each_sentence(lab, draw):
    """Sentences and heads keep their own masks, in the order that torch expects."""
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
        "mask unchanged": torch.equal(heads, kept),
    }


@exercise.check(points=1, hidden=True)
def numbers_of_all_kinds(lab, draw):
    """`from_additive` recognises every low number in common use, in each dtype."""
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


exercise.promises(
    {
        "The mask as the `attn_mask` of torch.nn.MultiheadAttention: True = must NOT attend.": (
            "in_torch_attention"
        ),
        "mask: (Lq, Lk), or (B, 1, Lq, Lk) or (B, num_heads, Lq, Lk)": (
            "in_torch_attention a_mask_for_each_sentence"
        ),
        "num_heads: the number of heads of the module.": "a_mask_for_each_sentence",
        "Boolean, True where the query must not attend to the key: (Lq, Lk) if `mask` has this "
        "shape": "shapes_and_dtypes",
        "all heads of the first sequence first. `mask` stays unchanged.": (
            "a_mask_for_each_sentence"
        ),
        "A padding mask as the `key_padding_mask` of torch.nn.MultiheadAttention: True =": (
            "in_torch_attention"
        ),
        "mask: (B, 1, 1, Lk), boolean, True = may attend, as `padding_mask` makes it.": (
            "a_mask_for_each_sentence in_torch_attention"
        ),
        "(B, Lk), boolean: True where the key must be ignored.": (
            "shapes_and_dtypes a_mask_for_each_sentence"
        ),
        "The boolean mask for numbers that are added to scores.": "back_from_numbers",
        "bias: any shape and floating dtype": "numbers_of_all_kinds",
        "Boolean, the shape of `bias`, True = may attend.": "back_from_numbers",
    }
)


@exercise.also_right(of="to_mha_mask")
def expanded_and_flattened(mask, num_heads):
    if mask.ndim == 4:
        mask = mask.expand(-1, num_heads, -1, -1).flatten(0, 1)  # (B * h, Lq, Lk)
    return ~mask


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
def first_of_two_axes(mask):
    return ~mask[:, 0, 0]


@exercise.also_right(of="to_key_padding_mask")
def squeezed(mask):
    return mask.squeeze(2).squeeze(1).logical_not()


@exercise.also_right(of="to_key_padding_mask")
def viewed(mask):
    return mask.reshape(mask.shape[0], mask.shape[-1]) == False  # noqa: E712


@exercise.also_right(of="from_additive")
def zero_is_allowed(bias):
    return bias == 0


@exercise.also_right(of="from_additive")
def not_negative(bias):
    return bias > -1.0


@exercise.also_right(of="from_additive")
def not_anything(bias):
    return ~(bias != 0)


wrong = exercise.edits(expanded_and_flattened, of="to_mha_mask")

wrong(
    "attn_mask_not_inverted",
    "~mask",
    "mask",
    "Your `attn_mask` is True where a query may attend, which is right for "
    "`scaled_dot_product_attention`. What does True mean for `nn.MultiheadAttention`?",
)
wrong(
    "sentences_first",
    ".flatten",
    ".transpose(0, 1).flatten",
    "Heads and sentences are in the wrong order: the first `num_heads` masks should belong to the "
    "first sentence. What do `repeat` and `repeat_interleave` make of (a, b)?",
)
wrong(
    "heads_forgotten",
    "mask.expand(-1, num_heads, -1, -1).flatten(0, 1)",
    "mask[:, 0]",
    "Your result has one mask for each sentence, but torch expects (B * num_heads, Lq, Lk). How "
    "many masks does each sentence need?",
)
wrong(
    "four_axes",
    ".flatten(0, 1)",
    "",
    "Your mask still has four axes. `nn.MultiheadAttention` takes two or three: which two become "
    "one?",
)
wrong(
    "first_head_for_all",
    "mask.expand",
    "mask[:, :1].expand",
    "You use the masks of the first head (or sentence) for all. Which of them may differ?",
)
wrong(
    "heads_repeated_again",
    ".expand(-1, num_heads, -1, -1)",
    ".repeat(1, num_heads, 1, 1)",
    "A mask that already has its own entry for each head becomes `num_heads` times as long. What "
    "does `expand` do with an axis that is not 1, and what does `repeat`?",
)
wrong.several(
    "three_axes_not_inverted",
    {"        mask = mask.expand": "        return mask.expand"},
    "Your `attn_mask` is inverted for masks of shape (Lq, Lk), but not for those with four axes. "
    "What does True mean for `nn.MultiheadAttention`, in both cases?",
)
wrong(
    "always_three_axes",
    "return ~mask",
    "return ~mask if mask.ndim == 3 else ~mask.expand(num_heads, -1, -1)",
    "A mask of shape (Lq, Lk) already fits all sentences and heads, but yours gets more axes. "
    "Which shape does the task ask for?",
)
wrong(
    "attn_mask_of_numbers",
    "return ~mask",
    "return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -math.inf)",
    "Your `attn_mask` holds numbers to be added (0 and -inf). Which dtype does the task ask for?",
)
wrong.several(
    "mask_inverted_in_place",
    {"    if mask": "    mask.logical_not_()\n    if mask", "~mask": "mask"},
    "Your code writes into the mask that it was given (`logical_not_`), but the caller still needs "
    "it. What does the same and makes a new tensor?",
)

wrong = exercise.edits(first_of_two_axes, of="to_key_padding_mask")

wrong(
    "key_padding_not_inverted",
    "~mask",
    "mask",
    "Your `key_padding_mask` is True for real tokens. What does its name say that True stands for?",
)
WITH_AXES = (
    "Your `key_padding_mask` still has axes of length 1. Which shape does `nn.MultiheadAttention` "
    "expect?"
)
wrong("key_padding_with_axes", "[:, 0, 0]", "", WITH_AXES)
wrong("key_padding_with_an_axis", "[:, 0, 0]", "[:, 0]", WITH_AXES)
wrong(
    "key_padding_as_floats",
    "~mask[:, 0, 0]",
    "(~mask[:, 0, 0]).float()",
    "Your `key_padding_mask` holds 1.0 and 0.0. torch takes floating-point numbers for numbers to "
    "be added to the scores: which dtype does the task ask for?",
)
wrong(
    "key_padding_of_the_first",
    "[:, 0, 0]",
    "[0, 0]",
    "Your `key_padding_mask` has lost its batch or key axis: which index belongs to which axis of "
    "(B, 1, 1, Lk)?",
)
wrong(
    "key_padding_squeezed",
    "[:, 0, 0]",
    ".squeeze()",
    "`squeeze()` without an axis drops every axis of length 1, even the batch axis if there is "
    "only one sentence. Which axes do you mean?",
)
wrong(
    "key_padding_of_numbers",
    "~mask[:, 0, 0]",
    "torch.zeros(mask[:, 0, 0].shape).masked_fill(~mask[:, 0, 0], -math.inf)",
    "Your `key_padding_mask` holds numbers to be added (0 and -inf). Which dtype does the task ask "
    "for?",
)

wrong = exercise.edits(zero_is_allowed, of="from_additive")

wrong(
    "lowest_is_forbidden",
    "bias == 0",
    "bias != bias.min()",
    "You take the lowest number in the tensor for the forbidding one, but if nothing is forbidden, "
    "that is 0. What do all conventions add where a query may attend?",
)
wrong(
    "infinity_only",
    "bias == 0",
    "~bias.isinf()",
    "You check whether a number is -inf, but some code forbids with -1e9, and some with the lowest "
    "finite number. What do all of them add where a query may attend?",
)
wrong(
    "below_a_billion",
    "bias == 0",
    "bias > -1e9",
    "You take numbers below -1e9, or below another limit, for forbidden, but nothing in float16 is "
    "that low. What do all conventions add where a query may attend?",
)
wrong(
    "lowest_of_the_dtype_only",
    "bias == 0",
    "bias > torch.finfo(bias.dtype).min",
    "You take only the dtype's lowest number (and -inf) for forbidden, but some code uses -1e9 or "
    "-1e4. What do all conventions add where a query may attend?",
)
wrong(
    "additive_not_inverted",
    "bias == 0",
    "bias.bool()",
    "Your result is True for low numbers (so is `.bool()`: every number but 0 is True). What does "
    "True mean in our masks?",
)
wrong(
    "exponentials",
    "bias == 0",
    "bias.exp()",
    "Your result holds numbers (perhaps exp of the bias), which are right to multiply with. Which "
    "dtype does the task ask for?",
)
