"""Other right versions of `to_additive`; most mistakes are edits of one of them."""

import torch

from . import exercise


@exercise.also_right
def zeros_and_the_lowest(mask, dtype):
    half = dtype in (torch.float16, torch.bfloat16)
    low = torch.finfo(dtype).min if half else -torch.inf
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, low)


@exercise.also_right
def by_where(mask, dtype):
    low = torch.finfo(dtype).min if torch.finfo(dtype).bits == 16 else float("-inf")
    zero = torch.tensor(0.0, dtype=dtype, device=mask.device)
    return torch.where(mask, zero, torch.tensor(low, dtype=dtype, device=mask.device))


@exercise.also_right
def by_logarithm(mask, dtype):
    bias = mask.to(dtype).log()
    if dtype in (torch.half, torch.bfloat16):
        bias = bias.clamp(min=torch.finfo(dtype).min)
    return bias


@exercise.also_right
def filled_by_index(mask, dtype):
    half = dtype not in (torch.float32, torch.float64)
    bias = torch.full_like(mask, torch.finfo(dtype).min if half else -torch.inf, dtype=dtype)
    return bias.masked_fill_(mask, 0)
