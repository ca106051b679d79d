"""Other right versions of `EncoderLayer`; the mistakes edit the first two."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.layers import FeedForward, LayerNorm, Residual
from attnlab.multihead import MultiHeadAttention

from . import exercise


@exercise.also_right
class WithResiduals(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.residual1 = Residual(d_model, dropout, norm)
        self.residual2 = Residual(d_model, dropout, norm)

    def forward(self, x, mask=None):
        x = self.residual1(x, lambda y: self.self_attention(y, y, y, mask))
        return self.residual2(x, lambda y: self.feed_forward(y))


@exercise.also_right
class TwoNorms(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.drop1 = nn.Dropout(dropout)
        self.drop2 = nn.Dropout(dropout)
        self.norm_first = norm == "pre"

    def attend(self, x, mask):
        return self.drop1(self.self_attn(x, x, x, mask))

    def transform(self, x):
        return self.drop2(self.linear2(self.drop(F.relu(self.linear1(x)))))

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            x = x + self.transform(self.norm2(x))
            return x
        x = self.norm1(x + self.attend(x, mask))
        x = self.norm2(x + self.transform(x))
        return x


class Connection(nn.Module):
    """A residual with a normalisation and dropout, around any sublayer."""

    def __init__(self, size, dropout, pre):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        self.pre = pre

    def forward(self, x, sublayer):
        added = self.dropout(sublayer(self.norm(x) if self.pre else x))
        return x + added if self.pre else self.norm(x + added)


@exercise.also_right
class ConnectionsInAList(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.size = d_model
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        )
        one = Connection(d_model, dropout, norm == "pre")
        self.sublayer = nn.ModuleList([one, copy.deepcopy(one)])

    def forward(self, x, mask=None):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask=mask))
        return self.sublayer[1](x, self.feed_forward)


@exercise.also_right
class FourLayersOfItsOwn(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d_model, d_model) for name in ("query", "key", "value", "output")}
        )
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        self.attention_norm = nn.LayerNorm(d_model)
        self.ffn_norm = nn.LayerNorm(d_model)
        self.h, self.p, self.norm = num_heads, dropout, norm

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def attend(self, x, mask):
        B, S, D = x.shape
        q, k, v = (
            self.attention[name](x).view(B, S, self.h, D // self.h).permute(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / (D // self.h) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        found = torch.einsum("bhij,bhjd->bihd", self.drop(scores.softmax(-1)), v)
        return self.drop(self.attention["output"](found.reshape(B, S, D)))

    def network(self, x):
        return self.drop(self.mlp["fc2"](self.drop(self.mlp["fc1"](x).clamp(min=0))))

    def forward(self, x, mask=None):
        before = self.attention_norm if self.norm == "pre" else nn.Identity()
        after = nn.Identity() if self.norm == "pre" else self.attention_norm
        x = after(x + self.attend(before(x), mask))
        before = self.ffn_norm if self.norm == "pre" else nn.Identity()
        after = nn.Identity() if self.norm == "pre" else self.ffn_norm
        return after(x + self.network(before(x)))


@exercise.also_right
class TorchsAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.h = num_heads
        self.attn = nn.MultiheadAttention(d_model, num_heads, dropout, batch_first=True)
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.mlp = FeedForward(d_model, d_ff, dropout)
        self.resid_dropout = nn.Dropout(dropout)
        self.pre = norm == "pre"

    def forward(self, x, mask=None):
        if mask is not None:
            every = mask.expand(len(x), self.h, x.shape[1], x.shape[1])
            mask = every.logical_not().reshape(-1, x.shape[1], x.shape[1])
        y = self.ln_1(x) if self.pre else x
        y, _ = self.attn(y, y, y, attn_mask=mask, need_weights=False)
        x = x + self.resid_dropout(y)
        x = x if self.pre else self.ln_1(x)
        x = x + self.resid_dropout(self.mlp(self.ln_2(x) if self.pre else x))
        return x if self.pre else self.ln_2(x)


class PreOrPost:
    """The arithmetic of a residual; the layer keeps the norms."""

    def wrap(self, x, norm, drop, f):
        if self.prenorm:
            return x + drop(f(norm(x)))
        return norm(torch.add(x, drop(f(x))))


@exercise.also_right
class WithAMixin(PreOrPost, nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        nn.Module.__init__(self)
        self.prenorm = {"pre": True, "post": False}[norm]
        self.norm_ff = LayerNorm(d_model)
        self.norm_attn = LayerNorm(d_model)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.mha = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.drops = nn.ModuleList([nn.Dropout(dropout) for _ in range(2)])

    def forward(self, x, mask=None):
        def attend(y):
            out, _ = self.mha(y, y, y, mask, need_weights=True)
            return out

        for norm, drop, f in zip(
            (self.norm_attn, self.norm_ff), self.drops, (attend, self.ffn), strict=True
        ):
            x = self.wrap(x, norm, drop, f)
        return x


@exercise.also_right
class CutHeadByHead(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.h = num_heads
        self.qkv_proj, self.o_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.network = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        )
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm == "pre"

    def attend(self, x, mask):
        heads = self.qkv_proj(x).unflatten(-1, (self.h, -1)).transpose(1, 2)  # (B, h, S, 3 d_k)
        q, k, v = heads.chunk(3, -1)  # each (B, h, S, d_k)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -9e15)
        return self.o_proj((self.dropout(scores.softmax(-1)) @ v).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.attend(self.norm1(x), mask))
            return x + self.dropout(self.network(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attend(x, mask)))
        return self.norm2(x + self.dropout(self.network(x)))
