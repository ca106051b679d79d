"""Other right ways to split a tensor into heads, and to merge them."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right(of="split_heads")
def split_by_reshape(x, num_heads):
    B, T, D = x.size()
    if D % num_heads != 0:
        raise ValueError(f"D={D} is not divisible by num_heads={num_heads}")
    return x.reshape(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3).contiguous()


@exercise.also_right(of="split_heads")
def split_by_view(x, num_heads):
    B, _, D = x.shape
    if D % num_heads:
        raise ValueError
    return x.view(B, -1, num_heads, D // num_heads).transpose(1, 2)


@exercise.also_right(of="split_heads")
def split_by_chunks(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("not divisible")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@exercise.also_right(of="split_heads")
def split_by_slices(x, num_heads):
    size, rest = divmod(x.shape[2], num_heads)
    if rest != 0:
        raise ValueError("not divisible")
    return torch.cat([x[:, None, :, i * size : (i + 1) * size] for i in range(num_heads)], dim=1)


@exercise.also_right(of="merge_heads")
def merge_by_contiguous_view(x):
    B, H, T, d = x.size()
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


@exercise.also_right(of="merge_heads")
def merge_by_permute(x):
    return x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@exercise.also_right(of="merge_heads")
def merge_by_cat(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


@exercise.also_right(of="merge_heads")
def merge_by_cat_of_pieces(x):
    return torch.cat([piece.squeeze(1) for piece in x.split(1, dim=1)], dim=2)
