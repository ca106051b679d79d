"""Other right versions of the three functions; the mistakes edit the first ones."""

from __future__ import annotations

import math  # noqa: F401 - a mistake uses it

import torch

from . import exercise


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
