"""Other right versions of the steps that a decoder cell calls; mistakes are made with them."""

from __future__ import annotations

import torch
from torch import nn


class TwoMatrices(nn.Module):
    """An additive score of two matrices."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Linear(d_state, d_score, bias=False)
        self.W_h = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.a(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(hidden))).squeeze(2)


class Repeated(nn.Module):
    """An additive score that repeats the state over the places."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        state = state.unsqueeze(1).repeat(1, hidden.shape[1], 1)
        return self.a(torch.tanh(self.W(torch.cat((state, hidden), dim=2)))).squeeze(2)


def attend_by_where(scores, hidden, mask=None):
    """Another right `attend`."""
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(1) * mask
    return (weights.unsqueeze(-1) * hidden).sum(1), weights
