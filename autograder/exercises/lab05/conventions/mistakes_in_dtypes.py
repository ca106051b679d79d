"""Versions of `to_mha_mask` whose result is no boolean, for one kind of shape or for both."""

from __future__ import annotations

from . import exercise
from .also_right import expanded_and_flattened

wrong = exercise.edits(expanded_and_flattened, of="to_mha_mask")

WHICH = {
    "": ("Your `attn_mask` holds", "{}"),
    "_for_two_axes": (
        "For masks of shape (Lq, Lk), your `attn_mask` holds",
        "({} if mask.ndim == 2 else ~mask)",
    ),
    "_for_four_axes": (
        "For masks with four axes, your `attn_mask` holds",
        "({} if mask.ndim == 3 else ~mask)",
    ),
}
ADDED = "torch.zeros(mask.shape{}).masked_fill(~mask, -math.inf)"
HOLDS = {
    "numbers to be added (0 and -inf). Which dtype does the task ask for?": {
        "attn_mask_of_numbers": ADDED.format(", dtype=torch.float64"),
        "attn_mask_of_floats": ADDED.format(""),
    },
    "1.0 and 0.0. torch takes floating-point numbers for numbers to be added to the scores: which "
    "dtype does the task ask for?": {
        "attn_mask_of_ones": "(~mask).float()",
        "attn_mask_of_ones_where_allowed": "mask.float()",
        "attn_mask_of_ones_in_float64": "(~mask).double()",
    },
    "whole numbers, 1 and 0. Which dtype does the task ask for?": {
        "attn_mask_of_whole_numbers": "1 - mask.int()",
        "attn_mask_of_whole_numbers_where_allowed": "mask.int()",
        "attn_mask_of_long_whole_numbers": "(~mask).long()",
        "attn_mask_of_bytes": "(~mask).byte()",
    },
}
for holds, codes in HOLDS.items():
    for name, code in codes.items():
        for which, (start, choice) in WHICH.items():
            new = choice.format(code)
            wrong(f"{name}{which}", "return ~mask", f"return {new}", f"{start} {holds}")
