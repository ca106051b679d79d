"""Other right versions of `DecoderLayer`; the mistakes edit the first two."""

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
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.residual1 = Residual(d_model, dropout, norm)
        self.residual2 = Residual(d_model, dropout, norm)
        self.residual3 = Residual(d_model, dropout, norm)

    def forward(self, x, memory, *, target_mask=None, memory_mask=None):
        x = self.residual1(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.residual2(x, lambda y: self.cross_attention(y, memory, memory, memory_mask))
        return self.residual3(x, lambda y: self.feed_forward(y))


@exercise.also_right
class ThreeNorms(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.multihead_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.norm_first = norm == "pre"

    def attend(self, x, mask):
        return self.drop(self.self_attn(x, x, x, mask))

    def look(self, x, memory, mask):
        return self.drop(self.multihead_attn(x, memory, memory, mask))

    def transform(self, x):
        return self.drop(self.linear2(self.drop(F.relu(self.linear1(x)))))

    def forward(self, x, memory, *, target_mask=None, memory_mask=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), target_mask)
            x = x + self.look(self.norm2(x), memory, memory_mask)
            x = x + self.transform(self.norm3(x))
            return x
        x = self.norm1(x + self.attend(x, target_mask))
        x = self.norm2(x + self.look(x, memory, memory_mask))
        x = self.norm3(x + self.transform(x))
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
        attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.self_attn, self.src_attn = copy.deepcopy(attention), attention
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        )
        self.sublayer = nn.ModuleList(Connection(d_model, dropout, norm == "pre") for _ in range(3))

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        m = memory
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, target_mask))
        x = self.sublayer[1](x, lambda x: self.src_attn(x, m, m, memory_mask))
        return self.sublayer[2](x, self.feed_forward)


@exercise.also_right
class TorchsAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.h = num_heads
        self.self_attn = nn.MultiheadAttention(d_model, num_heads, dropout, batch_first=True)
        self.encoder_attn = nn.MultiheadAttention(d_model, num_heads, dropout, batch_first=True)
        self.self_attn_layer_norm = nn.LayerNorm(d_model)
        self.encoder_attn_layer_norm = nn.LayerNorm(d_model)
        self.final_layer_norm = nn.LayerNorm(d_model)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout, self.normalize_before = dropout, norm == "pre"

    def attend(self, attention, q, k, mask):
        if mask is not None:
            mask = mask.expand(len(q), self.h, q.shape[1], k.shape[1])
            mask = mask.logical_not().flatten(0, 1)  # (B * h, Lq, Lk)
        return self.drop(attention(q, k, k, attn_mask=mask)[0])

    def drop(self, x):
        return F.dropout(x, self.dropout, training=self.training)

    def before(self, norm, x):
        return norm(x) if self.normalize_before else x

    def after(self, norm, x):
        return x if self.normalize_before else norm(x)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        residual, x = x, self.before(self.self_attn_layer_norm, x)
        x = residual + self.attend(self.self_attn, x, x, target_mask)
        residual = x = self.after(self.self_attn_layer_norm, x)
        x = self.before(self.encoder_attn_layer_norm, x)
        x = residual + self.attend(self.encoder_attn, x, memory, memory_mask)
        residual = x = self.after(self.encoder_attn_layer_norm, x)
        x = self.before(self.final_layer_norm, x)
        x = residual + self.drop(self.fc2(self.drop(F.relu(self.fc1(x)))))
        return self.after(self.final_layer_norm, x)


class ScoresByHand(nn.Module):
    """An attention with its own softmax: queries from one text, keys and values from another."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )
        self.h, self.drop = num_heads, nn.Dropout(dropout)

    def forward(self, x, y, mask):
        q, k, v = (
            layer(z).unflatten(-1, (self.h, -1))
            for layer, z in ((self.query, x), (self.key, y), (self.value, y))
        )
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        found = torch.einsum("bhij,bjhd->bihd", self.drop(torch.softmax(scores, -1)), v)
        return self.output(found.flatten(2))


@exercise.also_right
class NormsByPart(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__()
        self.cross_attn = ScoresByHand(d_model, num_heads, dropout)
        self.attn = ScoresByHand(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.ffn_norm = LayerNorm(d_model)
        self.cross_attn_norm = LayerNorm(d_model)
        self.attn_norm = LayerNorm(d_model)
        self.drop, self.pre = nn.Dropout(dropout), norm == "pre"

    def forward(self, x, memory, *, target_mask=None, memory_mask=None):
        steps = (
            (self.attn_norm, lambda y: self.attn(y, y, target_mask)),
            (self.cross_attn_norm, lambda y: self.cross_attn(y, memory, memory_mask)),
            (self.ffn_norm, self.ffn),
        )
        for norm, sublayer in steps:
            added = self.drop(sublayer(norm(x) if self.pre else x))
            x = x + added if self.pre else norm(x + added)
        return x
