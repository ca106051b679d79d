"""conventions: the same mask as torch's modules and other people's code expect it."""

from __future__ import annotations

import math

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.checking.raised import raised_by
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


def attend(module, x, **given):
    """What torch gives for these masks; its error says nothing about another function's masks."""
    try:
        out, weights = module(x, x, x, **given)
    except Exception as error:  # torch refuses the mask
        return raised_by(error)
    return {"outputs": out, "weights": weights}


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
        "to_mha_mask, dtype for (5, 7)": dtype_of(flat),
        "to_mha_mask, dtype for (2, 1, 5, 7)": dtype_of(deep),
        "to_key_padding_mask, dtype": dtype_of(keys),
    }


@exercise.check(points=0.5)
def in_torch_attention(lab, draw):
    """torch's MultiheadAttention gives the right outputs and weights with your masks."""
    module = torch_attention(draw, 6, 3)
    x, mask = draw.normal(2, 5, 6), random_mask(draw, 5, 5)
    keys = random_mask(draw, 2, 1, 1, 5)
    both = alike(lab.to_mha_mask(lab.causal_mask(5), 3), lab.to_key_padding_mask(keys.clone()))
    return {
        "attn_mask": attend(module, x, attn_mask=lab.to_mha_mask(mask, 3)),
        "key_padding_mask": attend(module, x, key_padding_mask=lab.to_key_padding_mask(keys)),
        "both": attend(module, x, attn_mask=both[0], key_padding_mask=both[1]),
    }


@exercise.check(points=0.5)
def back_from_numbers(lab, draw):
    """`from_additive` turns 0 and -inf back into True and False, in the same shape."""
    mask = random_mask(draw, 2, 1, 3, 5)
    back = lab.from_additive(torch.zeros(2, 1, 3, 5).masked_fill(~mask, -math.inf))
    return {"shape": list(back.shape), "dtype": dtype_of(back), "mask": back}


@exercise.check(points=0.5)
def masks_kept(lab, draw):
    """Leaves the given masks and numbers unchanged."""
    given = {
        "mask of two axes": random_mask(draw, 5, 7),
        "one mask for all heads": random_mask(draw, 2, 1, 5, 7),
        "one mask for each head": random_mask(draw, 2, 3, 5, 7),
        "padding mask": random_mask(draw, 2, 1, 1, 7),
        "numbers": torch.zeros(4, 7).masked_fill(~random_mask(draw, 4, 7), -math.inf),
    }
    before = {name: mask.clone() for name, mask in given.items()}
    *masks, padding, bias = given.values()
    for each in masks:
        lab.to_mha_mask(each, 3)
    lab.to_key_padding_mask(padding)
    lab.from_additive(bias)
    return {f"{name} unchanged": torch.equal(mask, before[name]) for name, mask in given.items()}


@exercise.check(points=0.5)
def a_mask_for_each_sentence(lab, draw):
    """Sentences and heads keep their own masks, in the order that torch expects."""
    module = torch_attention(draw, 6, 3)
    x, shared = draw.normal(2, 5, 6), random_mask(draw, 2, 1, 5, 5)
    heads, flat = random_mask(draw, 2, 3, 5, 5), random_mask(draw, 5, 7)
    seen = {}
    for name, mask in (("one for all heads", shared), ("one for each head", heads)):
        given, attended = lab.to_mha_mask(mask, 3), None
        if given.shape == (6, 5, 5):  # torch stops at any other
            attended = attend(module, x, attn_mask=given, average_attn_weights=False)
        seen[name] = {"mask": given, "torch": attended}
    wide = random_mask(draw, 4, 1, 3, 5)
    return {
        **seen,
        "four sentences, two heads": lab.to_mha_mask(wide, 2),
        "keys of one sentence": lab.to_key_padding_mask(random_mask(draw, 1, 1, 1, 5)),
        "one key of two sentences": lab.to_key_padding_mask(random_mask(draw, 2, 1, 1, 1)),
        "mask of two axes": lab.to_mha_mask(flat, 3),
        "a query without keys": lab.to_mha_mask(flat & (torch.arange(5) != 2)[:, None], 3),
        "a sentence of padding": lab.to_key_padding_mask(
            torch.tensor([True, False])[:, None, None, None] & random_mask(draw, 2, 1, 1, 5)
        ),
        "one sentence, two heads": lab.to_mha_mask(random_mask(draw, 1, 1, 3, 5), 2),
        "one query, two heads": lab.to_mha_mask(random_mask(draw, 4, 1, 1, 5), 2),
        "one query and one head": lab.to_mha_mask(random_mask(draw, 4, 1, 1, 5), 1),
    }


@exercise.check(points=0.5)
def back_from_half_precision(lab, draw):
    """`from_additive` recognises the lowest finite number of half precision."""
    mask, seen = random_mask(draw, 4, 7), {}
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        lowest = torch.finfo(dtype).min
        bias = torch.zeros(4, 7, dtype=dtype).masked_fill(~mask, lowest)
        seen[f"the lowest {name}"] = lab.from_additive(bias)
    return seen


@exercise.check(points=0.5, hidden=True)
def numbers_of_all_kinds(lab, draw):
    """`from_additive` recognises every low number in common use, in each dtype."""
    mask = random_mask(draw, 4, 7)
    seen = {}
    for low in (-math.inf, -1e9, -1e4, -3e38):
        bias = torch.zeros(4, 7).masked_fill(~mask, low)
        seen[f"{low:g}"] = lab.from_additive(bias)
    for dtype in (torch.float16, torch.bfloat16):
        bias = torch.zeros(4, 7, dtype=dtype).masked_fill(~mask, -1e4)
        seen[f"-10000 in {dtype}"] = lab.from_additive(bias)
    seen["everything allowed"] = lab.from_additive(torch.zeros(2, 3))
    seen["nothing allowed"] = lab.from_additive(torch.full((2, 3), -1e9))
    seen["there and back"] = lab.from_additive(lab.to_additive(mask, torch.bfloat16))
    return seen


@exercise.check(points=2, hidden=True, chained=True)
def your_own_masks(lab, draw):
    """All together: your causal and padding masks, combined, in your softmax and in torch's."""
    pad, scores = 8, draw.normal(2, 3, 5, 5)
    ids = draw.integers(0, 7, 2, 5).masked_fill(torch.arange(5) < torch.tensor([[0], [2]]), pad)
    some = random_mask(draw, 5, 5)
    one_empty = some & (torch.arange(5) != 2)[:, None]
    # Each step alone comes first, so that the first difference is in the step at fault.
    alone = {
        "your `causal_mask` (5.1)": lab.causal_mask(5),
        "your `causal_mask` (5.1), with more keys": lab.causal_mask(3, 5),
        "your `padding_mask` (5.2)": lab.padding_mask(ids.clone(), pad),
        "your `combine` (5.3)": lab.combine(some.clone(), random_mask(draw, 2, 1, 1, 5)),
        "your `to_additive` (5.4)": lab.to_additive(some.clone(), torch.float64),
        "your `safe_softmax` (5.5)": lab.safe_softmax(scores.clone(), one_empty.clone()),
        "gradients of your `safe_softmax` (5.5)": draw.gradients(
            lambda s: lab.safe_softmax(s, one_empty.clone()), scores
        ),
    }
    mask = lab.combine(lab.causal_mask(5), lab.padding_mask(ids, pad))
    module, x = torch_attention(draw, 6, 3), draw.normal(1, 5, 6)
    return {
        **alone,
        "mask": mask,
        "weights": lab.safe_softmax(scores, mask),
        "gradients": draw.gradients(lambda s: lab.safe_softmax(s, mask), scores),
        "the same by numbers": torch.softmax(scores + lab.to_additive(mask, torch.float64), -1)[0],
        "there and back": lab.from_additive(lab.to_additive(mask, torch.float32)),
        "key padding": lab.to_key_padding_mask(lab.padding_mask(ids, pad)),
        "torch": attend(module, x, attn_mask=lab.to_mha_mask(mask, 3)[:3]),
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
            "a_mask_for_each_sentence masks_kept"
        ),
        "A padding mask as the `key_padding_mask` of torch.nn.MultiheadAttention: True =": (
            "in_torch_attention"
        ),
        "mask: (B, 1, 1, Lk), boolean, True = may attend, as `padding_mask` makes it.": (
            "a_mask_for_each_sentence in_torch_attention"
        ),
        "(B, Lk), boolean: True where the key must be ignored. `mask` stays unchanged.": (
            "shapes_and_dtypes a_mask_for_each_sentence masks_kept"
        ),
        "The boolean mask for numbers that are added to scores.": "back_from_numbers",
        "bias: any shape and floating dtype": "back_from_half_precision numbers_of_all_kinds",
        "Boolean, the shape of `bias`, True = may attend. `bias` stays unchanged.": (
            "back_from_numbers masks_kept"
        ),
    }
)
