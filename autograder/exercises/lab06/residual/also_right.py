"""Other right versions of `Residual`; the mistakes edit the first."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.layers import LayerNorm

from . import exercise


@exercise.also_right
class TwoBranches(nn.Module):
    def __init__(self, d_model, dropout=0.0, mode="pre"):
        super().__init__()
        if mode not in ("pre", "post"):
            raise ValueError(f"unknown mode: {mode!r}")
        self.mode = mode
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        if self.mode == "pre":
            inner = sublayer(self.norm(x))
            return x + self.dropout(inner)
        added = sublayer(x)
        return self.norm(x + self.dropout(added))


@exercise.also_right
class OnePath(nn.Module):
    def __init__(self, d_model, dropout=0.0, mode="pre"):
        super().__init__()
        if mode not in {"pre", "post"}:
            raise ValueError("mode")
        self.before = LayerNorm(d_model) if mode == "pre" else nn.Identity()
        self.after = nn.Identity() if mode == "pre" else LayerNorm(d_model)
        self.p = dropout

    def forward(self, x, sublayer):
        out = F.dropout(sublayer(self.before(x)), self.p, self.training)
        return self.after(out + x)


@exercise.also_right
class TorchsNorm(nn.Module):
    def __init__(self, d_model, dropout=0.0, mode="pre"):
        super().__init__()
        self.layer_norm = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(p=dropout)
        try:
            self.run = {"pre": self.pre, "post": self.post}[mode]
        except KeyError:
            raise ValueError(f"no mode {mode!r}") from None

    def pre(self, x, sublayer):
        return x + self.drop(sublayer(self.layer_norm(x)))

    def post(self, x, sublayer):
        return self.layer_norm(x + self.drop(sublayer(x)))

    def forward(self, x, sublayer):
        return self.run(x, sublayer)


@exercise.also_right
class ItsOwnParameters(nn.Module):
    def __init__(self, d_model, dropout=0.0, mode="pre"):
        super().__init__()
        if mode not in ("pre", "post"):
            raise ValueError(f"{mode} is not a mode")
        self.stretch = nn.Parameter(torch.ones(d_model))
        self.move = nn.Parameter(torch.zeros(d_model))
        self.pre, self.drop = mode == "pre", nn.Dropout(dropout)

    def centre(self, x):
        return F.layer_norm(x, x.shape[-1:], self.stretch, self.move)

    def forward(self, x, sublayer):
        out = x + self.drop(sublayer(self.centre(x) if self.pre else x))
        return out if self.pre else self.centre(out)
