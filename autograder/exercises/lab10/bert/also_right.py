"""Other right versions of the three classes; the mistakes edit the first of each."""

from __future__ import annotations

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.bert import BertLayer, BertOutput, MLMHead
from attnlab.multihead import MultiHeadAttention

from . import exercise


@exercise.also_right(of="BertLayer")
class PlainLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.attention = MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)
        self.norm1 = nn.LayerNorm(d, eps=cfg.norm_eps)
        self.norm2 = nn.LayerNorm(d, eps=cfg.norm_eps)
        self.linear1 = nn.Linear(d, cfg.d_ff)
        self.linear2 = nn.Linear(cfg.d_ff, d)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, mask=None):
        a = self.attention(x, x, x, mask)
        x = self.norm1(x + self.drop(a))
        h = F.gelu(self.linear1(x))
        h = self.linear2(h)
        return self.norm2(x + self.drop(h))


@exercise.also_right(of="BertLayer")
class TorchsAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d, p = cfg.d_model, cfg.dropout
        self.self_attn = nn.MultiheadAttention(d, cfg.num_heads, dropout=p, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(d, cfg.d_ff), nn.GELU(), nn.Linear(cfg.d_ff, d))
        self.attn_norm = nn.LayerNorm(d, cfg.norm_eps)
        self.ffn_norm = nn.LayerNorm(d, cfg.norm_eps)
        self.p = p

    def forward(self, x, mask=None):
        padding = None if mask is None else ~mask[:, 0, 0]
        found, _ = self.self_attn(x, x, x, key_padding_mask=padding, need_weights=False)
        x = self.attn_norm(x + F.dropout(found, self.p, self.training))
        return self.ffn_norm(x + F.dropout(self.ffn(x), self.p, self.training))


@exercise.also_right(of="BertLayer")
class FromScratch(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.h = cfg.num_heads
        self.attention = nn.ModuleDict(
            {name: nn.Linear(d, d) for name in ("query", "key", "value", "output")}
        )
        self.fc1, self.fc2 = nn.Linear(d, cfg.d_ff), nn.Linear(cfg.d_ff, d)
        self.ln1, self.ln2 = (nn.LayerNorm(d, eps=cfg.norm_eps) for _ in range(2))
        self.drop1, self.drop2, self.drop3 = (nn.Dropout(cfg.dropout) for _ in range(3))

    def forward(self, x, mask=None):
        B, T, d = x.shape
        q, k, v = (
            self.attention[name](x).view(B, T, self.h, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.h)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        found = (self.drop1(scores.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, d)
        x = self.ln1(self.drop2(self.attention["output"](found)) + x)
        y = self.fc1(x)
        y = y * 0.5 * (1.0 + torch.erf(y / math.sqrt(2.0)))
        return self.ln2(self.drop3(self.fc2(y)) + x)


class AddAndNorm(nn.Module):
    """A linear layer's output is added to x, and the sum normalised."""

    def __init__(self, cfg, features):
        super().__init__()
        self.dense = nn.Linear(features, cfg.d_model)
        self.LayerNorm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, found, x):
        return self.LayerNorm(self.dropout(self.dense(found)) + x)


class QueriesKeysValues(nn.Module):
    """Attention without its last projection."""

    def __init__(self, cfg):
        super().__init__()
        self.h, self.p = cfg.num_heads, cfg.dropout
        self.query, self.key, self.value = (nn.Linear(cfg.d_model, cfg.d_model) for _ in range(3))

    def forward(self, x, mask):
        parts = (part(x).unflatten(-1, (self.h, -1)) for part in (self.query, self.key, self.value))
        q, k, v = (part.permute(0, 2, 1, 3) for part in parts)  # (B, h, T, d_k)
        p = self.p if self.training else 0.0
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        return found.transpose(1, 2).flatten(2)


class AttentionBlock(nn.Module):
    """Attention, its last projection, and the sum around both."""

    def __init__(self, cfg):
        super().__init__()
        self.self = QueriesKeysValues(cfg)
        self.output = AddAndNorm(cfg, cfg.d_model)

    def forward(self, x, mask):
        return self.output(self.self(x, mask), x)


@exercise.also_right(of="BertLayer")
class AModuleForEachSum(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attention = AttentionBlock(cfg)
        self.intermediate = nn.Sequential()
        self.intermediate.add_module("dense", nn.Linear(cfg.d_model, cfg.d_ff))
        self.output = AddAndNorm(cfg, cfg.d_ff)

    def forward(self, x, mask=None):
        x = self.attention(x, mask)
        return self.output(F.gelu(self.intermediate(x)), x)


@exercise.also_right(of="BertLayer")
class EverythingInTheLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.h = cfg.num_heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.after_attention = nn.LayerNorm(d, cfg.norm_eps)
        self.mlp = nn.Sequential(nn.Linear(d, cfg.d_ff), nn.GELU(), nn.Linear(cfg.d_ff, d))
        self.at_the_end = nn.LayerNorm(d, cfg.norm_eps)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        found = self.drop(scores.softmax(-1)) @ v  # (B, h, T, d_k)
        x = self.after_attention(x + self.drop(self.proj(found.transpose(1, 2).flatten(2))))
        return self.at_the_end(x + self.drop(self.mlp(x)))


@exercise.also_right(of="MLMHead")
class PlainHead(nn.Module):
    def __init__(self, cfg, table):
        super().__init__()
        self.transform = nn.Linear(cfg.d_model, cfg.d_model)
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.output = nn.Linear(cfg.d_model, cfg.vocab_size)
        self.output.weight = table

    def forward(self, hidden):
        x = self.transform(hidden)
        x = F.gelu(x)
        x = self.norm(x)
        return self.output(x)


@exercise.also_right(of="MLMHead")
class TableAndBias(nn.Module):
    def __init__(self, cfg, table):
        super().__init__()
        self.dense = nn.Linear(cfg.d_model, cfg.d_model)
        self.layer_norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.table = table
        self.bias = nn.Parameter(torch.zeros(cfg.vocab_size))

    def forward(self, hidden):
        x = self.layer_norm(nn.functional.gelu(self.dense(hidden)))
        return torch.einsum("btd,vd->btv", x, self.table) + self.bias


@exercise.also_right(of="MLMHead")
class InASequence(nn.Module):
    def __init__(self, cfg, table):
        super().__init__()
        d = cfg.d_model
        self.fc = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d, eps=cfg.norm_eps))
        self.weight, self.bias = table, nn.Parameter(torch.zeros(cfg.vocab_size))

    def forward(self, hidden):
        return F.linear(self.fc(hidden), self.weight, self.bias)


@exercise.also_right(of="Bert")
class Plain(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.cfg = cfg
        self.tokens = nn.Embedding(cfg.vocab_size, d)
        self.positions = nn.Embedding(cfg.max_len, d)
        self.segments = nn.Embedding(cfg.num_segments, d)
        self.norm = nn.LayerNorm(d, eps=cfg.norm_eps)
        self.drop = nn.Dropout(cfg.dropout)
        self.layers = nn.ModuleList([BertLayer(cfg) for _ in range(cfg.num_layers)])
        self.pooler = nn.Linear(d, d)
        self.mlm_head = MLMHead(cfg, self.tokens.weight)
        self.nsp_head = nn.Linear(d, 2)

    def encode(self, ids, segments=None, valid=None):
        length = ids.shape[1]
        if length > self.cfg.max_len:
            raise ValueError(f"{length} tokens are too many")
        if segments is None:
            segments = torch.zeros_like(ids)
        x = self.tokens(ids)
        x = x + self.positions(torch.arange(length))
        x = x + self.segments(segments)
        x = self.drop(self.norm(x))
        mask = None
        if valid is not None:
            mask = valid[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def pooled(self, hidden):
        first = hidden[:, 0]
        return torch.tanh(self.pooler(first))

    def forward(self, ids, segments=None, valid=None):
        hidden = self.encode(ids, segments, valid)
        mlm = self.mlm_head(hidden)
        nsp = self.nsp_head(self.pooled(hidden))
        return BertOutput(hidden, mlm, nsp)


class Embeddings(nn.Module):
    """The sum of three tables, normalised."""

    def __init__(self, cfg):
        super().__init__()
        self.word_embeddings = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.position_embeddings = nn.Embedding(cfg.max_len, cfg.d_model)
        self.token_type_embeddings = nn.Embedding(cfg.num_segments, cfg.d_model)
        self.LayerNorm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, ids, segments):
        positions = self.position_embeddings.weight[: ids.shape[1]].unsqueeze(0)
        rest = positions + self.token_type_embeddings(segments)
        return self.dropout(self.LayerNorm(self.word_embeddings(ids) + rest))


@exercise.also_right(of="Bert")
class PartsInModules(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.max_len = cfg.max_len
        self.embeddings = Embeddings(cfg)
        layer = BertLayer(cfg)
        self.encoder = nn.ModuleList(copy.deepcopy(layer) for _ in range(cfg.num_layers))
        for parameter in self.encoder.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, 0, 0.02)
        self.pooler = nn.Sequential(nn.Linear(cfg.d_model, cfg.d_model), nn.Tanh())
        self.predictions = MLMHead(cfg, self.embeddings.word_embeddings.weight)
        self.seq_relationship = nn.Linear(cfg.d_model, 2)

    def encode(self, ids, segments=None, valid=None):
        if ids.size(1) > self.max_len:
            raise ValueError("too long")
        x = self.embeddings(ids, torch.zeros_like(ids) if segments is None else segments)
        mask = None if valid is None else valid.unsqueeze(1).unsqueeze(2)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def pooled(self, hidden):
        return self.pooler(hidden[:, 0, :])

    def forward(self, ids, segments=None, valid=None):
        x = self.encode(ids, segments=segments, valid=valid)
        return BertOutput(
            hidden=x,
            nsp_logits=self.seq_relationship(self.pooled(x)),
            mlm_logits=self.predictions(x),
        )


@exercise.also_right(of="Bert")
class OtherNames(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.longest = cfg.max_len
        self.embedding = Embeddings(cfg)
        self.transformer_blocks = nn.ModuleList([BertLayer(cfg) for _ in range(cfg.num_layers)])
        self.fc, self.activation = nn.Linear(cfg.d_model, cfg.d_model), nn.Tanh()
        self.mask_lm = MLMHead(cfg, self.embedding.word_embeddings.weight)
        self.next_sentence = nn.Linear(cfg.d_model, 2)

    def encode(self, ids, segments=None, valid=None):
        if ids.shape[1] > self.longest:
            raise ValueError("more tokens than positions")
        x = self.embedding(ids, torch.zeros_like(ids) if segments is None else segments)
        allowed = torch.ones_like(ids).bool() if valid is None else valid
        for block in self.transformer_blocks:
            x = block(x, allowed[:, None, None])
        return x

    def pooled(self, hidden):
        return self.activation(self.fc(hidden[:, 0]))

    def forward(self, ids, segments=None, valid=None):
        x = self.encode(ids, segments, valid)
        return BertOutput(x, self.mask_lm(x), self.next_sentence(self.pooled(x)))


@exercise.also_right(of="Bert")
class PaddingAttendsToNothing(Plain):
    def encode(self, ids, segments=None, valid=None):
        if ids.shape[1] > self.cfg.max_len:
            raise ValueError("the text is longer than the table of positions")
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        x = x + (self.segments.weight[0] if segments is None else self.segments(segments))
        x = self.drop(self.norm(x))
        both = None if valid is None else (valid[:, None, :, None] & valid[:, None, None, :])
        for layer in self.layers:
            x = layer(x, both)
        return x
