"""A known mistake is named in code that has a student's own classes, names and order around it."""

from __future__ import annotations

from functools import cache

import pytest

from attnlab.checking.verdict import judge_exercise
from gradekit.exercise.variants import Variants
from tests.helpers.our_labs import LABS

OWN_BERT = """
import torch
from torch import nn
from torch.nn import functional as F
from attnlab.bert import BertOutput

class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.num_heads
        self.query = nn.Linear(cfg.d_model, cfg.d_model)
        self.key = nn.Linear(cfg.d_model, cfg.d_model)
        self.value = nn.Linear(cfg.d_model, cfg.d_model)
        self.dense = nn.Linear(cfg.d_model, cfg.d_model)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, mask):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2)
                   for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return self.dense((self.drop(scores.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, d))

class BertLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attn = Attention(cfg)
        self.mlp = nn.Sequential(
            nn.Linear(cfg.d_model, cfg.d_ff), nn.GELU(), nn.Linear(cfg.d_ff, cfg.d_model))
        self.ln_1 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.ln_2 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, mask=None):
        x = self.ln_1(x + self.drop(self.attn(x, mask)))
        return self.ln_2(x + self.drop(self.mlp(x)))

class MLMHead(nn.Module):
    def __init__(self, cfg, table):
        super().__init__()
        self.dense = nn.Linear(cfg.d_model, cfg.d_model)
        self.ln = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.table, self.bias = table, nn.Parameter(torch.zeros(cfg.vocab_size))

    def forward(self, hidden):
        return F.linear(self.ln(F.gelu(self.dense(hidden))), self.table, self.bias)

class Bert(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok_emb = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.pos_emb = nn.Embedding(cfg.max_len, cfg.d_model)
        self.seg_emb = nn.Embedding(cfg.num_segments, cfg.d_model)
        self.emb_ln = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.drop = nn.Dropout(cfg.dropout)
        self.h = nn.ModuleList([BertLayer(cfg) for _ in range(cfg.num_layers)])
        self.pool = nn.Linear(cfg.d_model, cfg.d_model)
        self.lm_head = MLMHead(cfg, self.tok_emb.weight)
        self.nsp = nn.Linear(cfg.d_model, 2)

    def encode(self, ids, segments=None, valid=None):
        if ids.shape[1] > self.cfg.max_len:
            raise ValueError("too long")
        segments = torch.zeros_like(ids) if segments is None else segments
        x = self.tok_emb(ids) + self.pos_emb.weight[: ids.shape[1]] + self.seg_emb(segments)
        x = self.drop(self.emb_ln(x))
        for block in self.h:
            x = block(x, None if valid is None else valid[:, None, None, :])
        return x

    def pooled(self, hidden):
        return torch.tanh(self.pool(hidden[:, 0]))

    def forward(self, ids, segments=None, valid=None):
        x = self.encode(ids, segments, valid)
        return BertOutput(x, self.lm_head(x), self.nsp(self.pooled(x)))
"""
# The change that a student made, and the known mistake that it is.
SLIPS = {
    "ScaledByTheModel": ("(d // self.heads) ** 0.5", "d ** 0.5"),
    "HeadWithRelu": ("F.gelu(self.dense", "F.relu(self.dense"),
    "PoolerTakesTheLast": ("hidden[:, 0]", "hidden[:, -1]"),
}


@cache
def lab10():
    return Variants(LABS["lab10"])


def verdict(code):
    """What a student reads whose notebook defines the classes of this code."""
    variants = lab10()
    bert = variants.lab["bert"]
    names = dict(variants.lab.reference)
    exec(code, names)
    seen = {check.name: variants.run(bert, check, 0, names) for check in bert.checks}
    # A part of the known mistakes: all of them take a minute.
    some = [m.known for m in bert.mistakes if m.name in SLIPS]
    return judge_exercise(variants.prepared_checks(bert, 0), seen, some)


def test_the_student_is_right_without_the_mistake():
    found = verdict(OWN_BERT)
    assert found.earned == found.points


@pytest.mark.parametrize("mistake", SLIPS)
def test_the_mistake_is_named(mistake):
    old, new = SLIPS[mistake]
    assert OWN_BERT.count(old) == 1
    assert verdict(OWN_BERT.replace(old, new)).mistakes == (mistake,)
