"""Other right ways to stack three weights, and to cut their product."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from . import exercise


@exercise.also_right(of="fuse_qkv")
def by_cat(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W = torch.cat((W_q, W_k, W_v))  # (d_q + d_k + d_v, d_model)
    if b_q is None and b_k is None and b_v is None:
        return W, None
    pairs = (W_q, b_q), (W_k, b_k), (W_v, b_v)
    biases = [w.new_zeros(len(w)) if b is None else b for w, b in pairs]
    return W, torch.cat(biases)


@exercise.also_right(of="fuse_qkv")
def by_vstack(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W = torch.vstack([W_q, W_k, W_v])
    if b_q is None and b_k is None and b_v is None:
        return W, None
    b = torch.zeros(W.shape[0], dtype=W.dtype, device=W.device)
    start = 0
    for weight, bias in ((W_q, b_q), (W_k, b_k), (W_v, b_v)):
        end = start + weight.shape[0]
        if bias is not None:
            b[start:end] = bias
        start = end
    return W, b


@exercise.also_right(of="fuse_qkv")
def by_concatenate(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    given = [b_q, b_k, b_v]
    W = torch.concatenate((W_q, W_k, W_v), dim=0)
    if given.count(None) == 3:
        return W, None
    for i, weight in enumerate((W_q, W_k, W_v)):
        if given[i] is None:
            given[i] = torch.zeros_like(weight[:, 0])
    return W, torch.hstack(given)


@exercise.also_right(of="project_fused")
def by_split(x, W, b, sizes):
    fused = F.linear(x, W, b)  # (..., T, d_q + d_k + d_v)
    q, k, v = fused.split(list(sizes), dim=-1)
    return q, k, v


@exercise.also_right(of="project_fused")
def by_slices(x, W, b, sizes):
    out = torch.matmul(x, W.T)
    if b is not None:
        out = out + b
    n_q, n_k, n_v = sizes
    return out[..., :n_q], out[..., n_q : n_q + n_k], out[..., n_q + n_k : n_q + n_k + n_v]


@exercise.also_right(of="project_fused")
def by_einsum(x, W, b, sizes):
    out = torch.einsum("...i,oi->...o", x, W)
    return torch.split(out if b is None else out + b, list(sizes), dim=-1)


@exercise.also_right(of="project_fused")
def by_a_layer(x, W, b, sizes):
    layer = torch.nn.Linear(W.shape[1], W.shape[0], bias=b is not None)
    state = {"weight": W} if b is None else {"weight": W, "bias": b}
    out = torch.func.functional_call(layer, state, (x,))
    return torch.tensor_split(out, (sizes[0], sizes[0] + sizes[1]), dim=-1)
