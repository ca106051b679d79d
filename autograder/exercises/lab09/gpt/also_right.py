"""Other right versions: in the style of minGPT, with fused layers, by torch's own functions."""

from __future__ import annotations

import copy  # noqa: F401 - a mistake uses it
import math

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.decoder_only import Block
from attnlab.multihead import MultiHeadAttention

from . import exercise


@exercise.also_right(of="Block")
class Plain(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.norm1 = nn.LayerNorm(d)
        self.attention = MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)
        self.norm2 = nn.LayerNorm(d)
        self.linear1 = nn.Linear(d, 4 * d)
        self.linear2 = nn.Linear(4 * d, d)
        self.dropout1 = nn.Dropout(cfg.dropout)
        self.dropout2 = nn.Dropout(cfg.dropout)

    def forward(self, x):
        T = x.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        read = self.norm1(x)
        x = x + self.dropout1(self.attention(read, read, read, mask))
        read = self.norm2(x)
        hidden = F.gelu(self.linear1(read), approximate="tanh")
        return x + self.dropout2(self.linear2(hidden))


@exercise.also_right(of="Block")
class AsInMinGPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head, self.p = cfg.num_heads, cfg.dropout
        self.ln_1 = nn.LayerNorm(cfg.d_model)
        self.ln_2 = nn.LayerNorm(cfg.d_model)
        self.attn = nn.ModuleDict(
            {
                "c_attn": nn.Linear(cfg.d_model, 3 * cfg.d_model),
                "c_proj": nn.Linear(cfg.d_model, cfg.d_model),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "c_fc": nn.Linear(cfg.d_model, 4 * cfg.d_model),
                "c_proj": nn.Linear(4 * cfg.d_model, cfg.d_model),
            }
        )
        self.resid_dropout = nn.Dropout(cfg.dropout)

    def attend(self, x):
        B, T, C = x.shape
        q, k, v = (
            part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            for part in self.attn["c_attn"](x).split(C, dim=2)
        )
        y = F.scaled_dot_product_attention(
            q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0
        )
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.attn["c_proj"](y))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        h = self.mlp["c_fc"](self.ln_2(x))
        h = 0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * h**3)))
        return x + self.resid_dropout(self.mlp["c_proj"](h))


@exercise.also_right(of="Block")
class InASequence(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.d_model
        self.attn = MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)
        self.mlp = nn.Sequential(
            nn.Linear(d, 4 * d), nn.GELU("tanh"), nn.Linear(4 * d, d), nn.Dropout(cfg.dropout)
        )
        self.attn_norm, self.mlp_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x):
        normed, T = self.attn_norm(x), x.size(1)
        hidden_future = torch.full((T, T), -torch.inf, device=x.device).triu(1)
        a = self.attn(normed, normed, normed, hidden_future == 0)
        x = x + self.drop(a)
        return self.mlp(self.mlp_norm(x)) + x


@exercise.also_right(of="GPT")
class Simple(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        d = cfg.d_model
        self.tokens = nn.Embedding(cfg.vocab_size, d)
        self.positions = nn.Embedding(cfg.context, d)
        self.dropout = nn.Dropout(cfg.dropout)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.num_layers)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, cfg.vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        length = ids.shape[1]
        if length > self.cfg.context:
            raise ValueError("too long")
        places = torch.arange(length)
        x = self.tokens(ids) + self.positions(places)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)


@exercise.also_right(of="GPT")
class AsInNanoGPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.cfg = config
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(config.vocab_size, config.d_model),
                "wpe": nn.Embedding(config.context, config.d_model),
                "drop": nn.Dropout(config.dropout),
                "h": nn.ModuleList(Block(config) for _ in range(config.num_layers)),
                "ln_f": nn.LayerNorm(config.d_model),
            }
        )
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.transformer["wte"].weight = self.lm_head.weight

    def forward(self, idx):
        t = idx.size(1)
        if t > self.cfg.context:
            raise ValueError(f"sequence of length {t}, block size is {self.cfg.context}")
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer["wte"](idx) + self.transformer["wpe"](pos)[None]
        x = self.transformer["drop"](x)
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))


@exercise.also_right(of="GPT")
class HeadIsTheTable(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        self.tokens = nn.Embedding(cfg.vocab_size, cfg.d_model, _weight=self.head.weight)
        self.tokens.weight = self.head.weight
        self.pos_emb = nn.Parameter(0.02 * torch.randn(1, cfg.context, cfg.d_model))
        self.body = nn.Sequential(*(Block(cfg) for _ in range(cfg.num_layers)))
        self.ln_f = nn.LayerNorm(cfg.d_model)

    def forward(self, ids):
        if ids.shape[-1] > self.cfg.context:
            raise ValueError("more tokens than the context")
        x = F.embedding(ids, self.head.weight) + self.pos_emb[:, : ids.shape[-1]]
        x = F.dropout(x, self.cfg.dropout, training=self.training)
        return F.linear(self.ln_f(self.body(x)), self.head.weight)


@exercise.also_right(of="init_gpt")
def by_kind(model, *, generator=None):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=0.02, generator=generator)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
    std = 0.02 / math.sqrt(2 * model.cfg.num_layers)
    for block in model.blocks:
        nn.init.normal_(block.attention.out_proj.weight, std=std, generator=generator)
        nn.init.normal_(block.linear2.weight, std=std, generator=generator)


@exercise.also_right(of="init_gpt")
@torch.no_grad()
def by_name(model, *, generator=None):
    for name, p in model.named_parameters():
        if p.ndim == 2:
            std = 0.02
            if name.endswith(("out_proj.weight", "linear2.weight")):
                std = 0.02 * (2 * model.cfg.num_layers) ** -0.5
            p.copy_(std * torch.randn(p.shape, generator=generator, dtype=p.dtype))
        elif "norm" in name and name.endswith("weight"):
            p.fill_(1)
        else:
            p.fill_(0)


@exercise.also_right(of="count_gpt_params")
def part_by_part(cfg):
    d, V, T, L = cfg.d_model, cfg.vocab_size, cfg.context, cfg.num_layers
    attention = 4 * (d * d + d)
    mlp = d * 4 * d + 4 * d + 4 * d * d + d
    norms = 2 * 2 * d
    return V * d + T * d + L * (attention + mlp + norms) + 2 * d


@exercise.also_right(of="count_gpt_params")
def from_shapes(cfg):
    d = cfg.d_model
    block = [(d, d), (d,)] * 4 + [(4 * d, d), (4 * d,), (d, 4 * d), (d,)] + [(d,)] * 4
    others = [(cfg.vocab_size, d), (cfg.context, d), (d,), (d,)]
    return cfg.num_layers * sum(map(math.prod, block)) + sum(map(math.prod, others))
