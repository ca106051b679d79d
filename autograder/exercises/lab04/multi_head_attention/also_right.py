"""Other right versions: other layouts of the weights, other ways to mask."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.multihead import merge_heads, split_heads

from . import exercise


@exercise.also_right
class FourLayers(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        if None in (d_k, d_v) and d_model % num_heads:
            raise ValueError("the features cannot be divided evenly")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias)
        self.k_proj = nn.Linear(d_model, num_heads * self.d_k, bias)
        self.v_proj = nn.Linear(d_model, num_heads * self.d_v, bias)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        projected = self.q_proj(q), self.k_proj(k), self.v_proj(v)  # each (B, L, h * d)
        queries, keys, values = (split_heads(x, self.num_heads) for x in projected)  # (B, h, L, d)
        scores = queries @ keys.mT / math.sqrt(self.d_k)  # (B, h, Lq, Lk)
        allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)
        found = self.dropout(weights) @ values  # (B, h, Lq, d_v)
        out = self.out_proj(merge_heads(found))  # (B, Lq, d_model)
        return (out, weights) if need_weights else out


def chosen(d_model, num_heads, d_k, d_v):
    """d_k and d_v according to the task; right versions share this part."""
    if d_model % num_heads and (d_k is None or d_v is None):
        raise ValueError("the features cannot be divided evenly")
    size = d_model // num_heads
    return (size if d_k is None else d_k), (size if d_v is None else d_v)


@exercise.also_right(about="keeps its layers in a list")
class LayersInAList(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.d_k, self.d_v = chosen(d_model, num_heads, d_k, d_v)
        self.h = self.num_heads = num_heads
        widths = (num_heads * self.d_k, num_heads * self.d_k, num_heads * self.d_v)
        self.linears = nn.ModuleList([nn.Linear(d_model, w, bias=bias) for w in widths])
        self.linears.append(nn.Linear(widths[2], d_model, bias=bias))
        self.attn = None
        self.drop = nn.Dropout(p=dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        n = q.size(0)
        q, k, v = [
            layer(x).view(n, -1, self.h, layer.out_features // self.h).transpose(1, 2)
            for layer, x in zip(self.linears, (q, k, v), strict=False)
        ]
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        self.attn = scores.softmax(dim=-1)
        if mask is not None:
            self.attn = self.attn * mask
        x = torch.matmul(self.drop(self.attn), v)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_v)
        return (self.linears[-1](x), self.attn) if need_weights else self.linears[-1](x)


@exercise.also_right(about="puts the heads into the batch")
class HeadsInTheBatch(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.W_q = nn.Linear(d_model, num_heads * d_k, bias=bias)
        self.W_k = nn.Linear(d_model, num_heads * d_k, bias=bias)
        self.W_v = nn.Linear(d_model, num_heads * d_v, bias=bias)
        self.W_o = nn.Linear(num_heads * d_v, d_model, bias=bias)
        self.p = dropout

    def apart(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def forward(self, q, k, v, mask=None, need_weights=False):
        shape = (len(q), self.num_heads, q.shape[1], k.shape[1])
        q, k, v = self.apart(self.W_q(q)), self.apart(self.W_k(k)), self.apart(self.W_v(v))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            forbidden = ~mask.expand(shape).reshape(scores.shape)
            scores = scores.masked_fill(forbidden, -1e15)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(forbidden, 0.0)
        found = torch.bmm(F.dropout(weights, self.p, self.training), v)
        found = found.reshape(*shape[:3], -1).permute(0, 2, 1, 3)
        out = self.W_o(found.reshape(found.shape[0], found.shape[1], -1))
        return (out, weights.reshape(shape)) if need_weights else out


@exercise.also_right(about="has one layer for queries, keys and values")
class FusedLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.n_head, self.sizes = num_heads, (num_heads * d_k, num_heads * d_k, num_heads * d_v)
        self.c_attn = nn.Linear(d_model, sum(self.sizes), bias=bias)
        self.c_proj = nn.Linear(num_heads * d_v, d_model, bias=bias)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        B, T, _ = q.size()
        q = self.c_attn(q).split(self.sizes, dim=2)[0]
        k = self.c_attn(k).split(self.sizes, dim=2)[1]
        v = self.c_attn(v).split(self.sizes, dim=2)[2]
        q, k, v = (x.view(B, x.size(1), self.n_head, -1).transpose(1, 2) for x in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), torch.finfo(att.dtype).min)
        att = F.softmax(att, dim=-1)
        if mask is not None:
            att = torch.where(mask, att, torch.zeros_like(att))
        y = self.attn_dropout(att) @ v
        y = self.c_proj(y.transpose(1, 2).contiguous().view(B, T, -1))
        return (y, att) if need_weights else y


@exercise.also_right(about="calls its layers key, query, value and proj")
class KeyQueryValueProj(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.key = nn.Linear(d_model, d_k * num_heads, bias)
        self.query = nn.Linear(d_model, d_k * num_heads, bias)
        self.value = nn.Linear(d_model, d_v * num_heads, bias)
        self.proj = nn.Linear(d_v * num_heads, d_model, bias)
        self.drop, self.n = nn.Dropout(dropout), num_heads

    def forward(self, q, k, v, mask=None, need_weights=False):
        q = split_heads(self.query(q), self.n)
        k = split_heads(self.key(k), self.n)
        v = split_heads(self.value(v), self.n)
        if self.training and self.drop.p > 0:
            att = scaled_dot_product_attention(q, k, v, mask)[1]
            y = self.drop(att) @ v
        else:
            y, att = scaled_dot_product_attention(q, k, v, mask)
        y = self.proj(merge_heads(y))
        if need_weights:
            return y, att
        return y


@exercise.also_right(about="keeps its weights in one parameter")
class StackedParameter(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.dropout = dropout
        self.sizes = [num_heads * d_k, num_heads * d_k, num_heads * d_v]
        self.in_proj_weight = nn.Parameter(torch.randn(sum(self.sizes), d_model) * 0.02)
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(sum(self.sizes)))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = nn.Linear(num_heads * d_v, d_model, bias=bias)

    def forward(self, q, k, v, mask=None, need_weights=False):
        W = self.in_proj_weight.split(self.sizes)
        b = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.split(self.sizes)
        q, k, v = (
            F.linear(x, W[i], b[i]).unflatten(-1, (self.num_heads, -1))
            for i, x in enumerate((q, k, v))
        )
        logits = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if mask is None:
            A = torch.softmax(logits, -1)
        else:
            A = torch.nan_to_num(torch.softmax(logits.where(mask, -1e30), -1) * mask)
        dropped = A
        if self.training and self.dropout:
            keep = torch.empty_like(A).bernoulli_(1 - self.dropout)
            dropped = A * keep / (1 - self.dropout)
        o = torch.einsum("bhqk,bkhd->bqhd", dropped, v).flatten(-2)
        return (self.out_proj(o), A) if need_weights else self.out_proj(o)


class OneHead(nn.Module):
    """One head with its own layers."""

    def __init__(self, d_model, d_k, d_v, bias, dropout):
        super().__init__()
        self.query = nn.Linear(d_model, d_k, bias)
        self.key = nn.Linear(d_model, d_k, bias)
        self.value = nn.Linear(d_model, d_v, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask):
        q, k, v = self.query(q), self.key(k), self.value(v)
        _, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.dropout(weights) @ v, weights


@exercise.also_right(about="has a module for each head")
class HeadsAsModules(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        heads = [OneHead(d_model, d_k, d_v, bias, dropout) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)
        self.proj = nn.Linear(num_heads * d_v, d_model, bias)

    def forward(self, q, k, v, mask=None, need_weights=False):
        masks = [None] * len(self.heads)
        if mask is not None:
            masks = mask.expand(len(q), len(masks), q.shape[1], k.shape[1]).unbind(1)
        answers = [head(q, k, v, m) for head, m in zip(self.heads, masks, strict=True)]
        out = self.proj(torch.cat([found for found, _ in answers], dim=-1))
        return (out, torch.stack([w for _, w in answers], 1)) if need_weights else out


@exercise.also_right(about="has parameters and no layers")
class RawParameters(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.bias = bias
        for letter, rows, columns in (
            ("q", d_model, num_heads * d_k), ("k", d_model, num_heads * d_k),
            ("v", d_model, num_heads * d_v), ("o", num_heads * d_v, d_model),
        ):  # fmt: skip
            setattr(self, f"W_{letter}", nn.Parameter(torch.randn(rows, columns) / rows**0.5))
            if bias:
                setattr(self, f"b_{letter}", nn.Parameter(torch.zeros(columns)))
        self.dropout = nn.Dropout(dropout)

    def apply_to(self, x, letter):
        x = x @ getattr(self, f"W_{letter}")
        return x + getattr(self, f"b_{letter}") if self.bias else x

    def forward(self, q, k, v, mask=None, need_weights=False):
        q, k, v = (
            torch.stack(self.apply_to(x, letter).chunk(self.num_heads, -1), 1)
            for x, letter in ((q, "q"), (k, "k"), (v, "v"))
        )
        weights = scaled_dot_product_attention(q, k, v, mask)[1]
        found = self.dropout(weights) @ v
        out = self.apply_to(torch.cat(found.unbind(1), -1), "o")
        return (out, weights) if need_weights else out


@exercise.also_right(about="has weights with an axis for the heads")
class AnAxisForTheHeads(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        for letter, d in (("Q", d_k), ("K", d_k), ("V", d_v)):
            weight = nn.init.normal_(torch.empty(num_heads, d_model, d), std=d_model**-0.5)
            self.register_parameter(f"W_{letter}", nn.Parameter(weight))
            b = nn.Parameter(torch.zeros(num_heads, d)) if bias else None
            self.register_parameter(f"b_{letter}", b)
        self.W_O = nn.Parameter(torch.randn(num_heads, d_v, d_model) / d_model**0.5)
        self.b_O = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        q = torch.einsum("b t d, h d k -> b h t k", q, self.W_Q)
        k = torch.einsum("b t d, h d k -> b h t k", k, self.W_K)
        v = torch.einsum("b t d, h d k -> b h t k", v, self.W_V)
        if self.b_O is not None:
            q, k, v = q + self.b_Q[:, None], k + self.b_K[:, None], v + self.b_V[:, None]
        weights = scaled_dot_product_attention(q, k, v, mask)[1]
        z = torch.einsum("b h q k, b h k d -> b h q d", self.dropout(weights), v)
        out = torch.einsum("b h q d, h d m -> b q m", z, self.W_O)
        out = out if self.b_O is None else out + self.b_O
        return (out, weights) if need_weights else out


@exercise.also_right(about="has layers of its own for each head")
class LayersForEachHead(nn.Module):
    def __init__(self, d_model, num_heads, d_k=None, d_v=None, bias=True, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_k, self.d_v = d_k, d_v = chosen(d_model, num_heads, d_k, d_v)
        self.queries = nn.ModuleList(nn.Linear(d_model, d_k, bias) for _ in range(num_heads))
        self.keys = nn.ModuleList(nn.Linear(d_model, d_k, bias) for _ in range(num_heads))
        self.values = nn.ModuleList(nn.Linear(d_model, d_v, bias) for _ in range(num_heads))
        self.fc_out = nn.Linear(num_heads * d_v, d_model, bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None, need_weights=False):
        found, seen = 0, []
        pieces = self.fc_out.weight.chunk(len(self.queries), dim=1)
        for i, piece in enumerate(pieces):
            scores = self.queries[i](q) @ self.keys[i](k).mT * self.queries[i].out_features ** -0.5
            if mask is None:
                weights = scores.softmax(-1)
            else:
                mine = mask.expand(len(q), len(pieces), *scores.shape[1:])[:, i]
                weights = scores.where(mine, -1e20).softmax(-1) * mine
            seen.append(weights)
            found = found + self.drop(weights) @ self.values[i](v) @ piece.mT
        out = found if self.fc_out.bias is None else found + self.fc_out.bias
        return (out, torch.stack(seen, 1)) if need_weights else out
