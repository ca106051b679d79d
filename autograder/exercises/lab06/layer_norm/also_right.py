"""Other right versions of `LayerNorm`; the mistakes edit the first."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise


@exercise.also_right
class StepByStep(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        normalised = (x - mean) / torch.sqrt(variance + self.eps)
        return self.weight * normalised + self.bias


@exercise.also_right
class GammaAndBeta(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.beta, (x - mean) * torch.rsqrt(var + self.eps), self.gamma)


@exercise.also_right
class DeviationsByHand(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.alpha = nn.Parameter(torch.ones((d_model,)))
        self.beta = nn.Parameter(torch.zeros((d_model,)))

    def forward(self, x):
        centred = x - x.sum(-1, keepdim=True) / self.d_model
        sigma = ((centred**2).sum(-1, keepdim=True) / self.d_model + self.eps) ** 0.5
        return self.alpha * (centred / sigma) + self.beta


@exercise.also_right
class OneVectorAtATime(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(d_model))
        self.b_2 = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def one(self, v):
        centred = v - v.mean()
        return centred / (centred.dot(centred) / len(v) + self.eps).sqrt()

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        return torch.stack([self.one(v) for v in rows]).reshape(x.shape) * self.a_2 + self.b_2
