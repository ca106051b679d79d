"""Other right versions of the three functions; the mistakes edit those written step by step."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from attnlab.sampling import sample

from . import exercise


@exercise.also_right(of="positions_and_mask")
def counted_and_compared(valid, T):
    L = valid.shape[1]
    done = L - T
    positions = valid.long().cumsum(dim=1) - 1
    positions = positions.clamp(min=0)
    positions = positions[:, done:]
    keys = torch.arange(L)
    queries = torch.arange(done, L)
    causal = keys[None, :] <= queries[:, None]
    mask = causal[None] & valid[:, None, :]
    return positions, mask.unsqueeze(1)


@exercise.also_right(of="positions_and_mask")
def minus_the_filling(valid, T):
    B, L = valid.shape
    filling = (~valid).sum(1, keepdim=True)
    positions = torch.arange(L).expand(B, L) - filling
    positions = torch.maximum(positions, torch.zeros_like(positions))
    mask = torch.ones(B, 1, L, L, dtype=torch.bool).tril()
    mask = torch.logical_and(mask, valid.view(B, 1, 1, L))
    return positions[:, L - T :], mask[:, :, L - T :]


@exercise.also_right(of="cached_attention")
def step_by_step(attention, x, past, mask):
    B, T, d = x.shape
    h = attention.num_heads
    q = attention.q_proj(x).view(B, T, h, d // h).transpose(1, 2)
    k = attention.k_proj(x).view(B, T, h, d // h).transpose(1, 2)
    v = attention.v_proj(x).view(B, T, h, d // h).transpose(1, 2)
    if past is not None:
        k = torch.cat([past[0], k], dim=2)
        v = torch.cat([past[1], v], dim=2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d // h)
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, d)
    return attention.out_proj(out), (k, v)


@exercise.also_right(of="cached_attention")
def with_the_fused_kernel(attention, x, past, mask):
    def heads(y):
        return y.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)

    q, k, v = heads(attention.q_proj(x)), heads(attention.k_proj(x)), heads(attention.v_proj(x))
    if past is not None:
        k, v = (torch.cat(pair, -2) for pair in zip(past, (k, v), strict=True))
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    found = found * mask.any(-1, keepdim=True)
    return attention.out_proj(found.transpose(1, 2).flatten(2)), (k, v)


@exercise.also_right(of="generate")
@torch.no_grad()
def one_loop(model, prompt, max_new_tokens, *, valid=None, eos=None, **how_to_sample):
    if prompt.size(1) + max_new_tokens > model.cfg.context:
        raise ValueError("longer than the context")
    before = model.training
    model.eval()
    tokens = prompt
    state = None
    over = torch.zeros(prompt.shape[0], dtype=torch.bool)
    for step in range(max_new_tokens):
        new = tokens if step == 0 else tokens[:, -1:]
        logits, state = model(new, state, valid=valid if step == 0 else None)
        token = sample(logits[:, -1], **how_to_sample)
        if eos is not None:
            token[over] = eos
            over |= token == eos
        tokens = torch.cat([tokens, token.unsqueeze(1)], dim=1)
    model.train(before)
    return tokens[:, prompt.shape[1] :]


@exercise.also_right(of="generate")
def prefill_first(model, prompt, max_new_tokens, *, valid=None, eos=None, **how_to_sample):
    """The prompt before the loop; stops when all rows have ended; a table is filled."""
    B, P = prompt.shape
    if not P + max_new_tokens <= model.cfg.context:
        raise ValueError(f"{P} and {max_new_tokens} tokens")
    table = torch.full((B, max_new_tokens), 0 if eos is None else eos)
    if max_new_tokens == 0:
        return table
    mode, going = model.training, torch.ones(B, dtype=torch.bool)
    model.train(False)
    with torch.inference_mode():
        logits, state = model(prompt, valid=valid, last_only=True)
        for n in range(max_new_tokens):
            drawn = sample(logits[:, -1, :], **how_to_sample)
            table[:, n] = torch.where(going, drawn, table[:, n])
            if eos is not None:
                going = going & (drawn != eos)
                if not going.any():
                    break
            if n + 1 < max_new_tokens:
                logits, state = model(table[:, n : n + 1], state)
    model.train(mode)
    return table
