"""Other right additive scores, with other names and layouts of their weights."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise


@exercise.also_right
class Joined(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        spread = state[:, None].expand(-1, hidden.shape[1], -1)  # (B, T, d_state)
        inner = self.W(torch.cat([spread, hidden], -1)).tanh()  # (B, T, d_score)
        return self.a(inner).squeeze(-1)  # (B, T)


@exercise.also_right
class TwoMatrices(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Linear(d_state, d_score, bias=False)
        self.W_h = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.a(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(hidden))).squeeze(2)


@exercise.also_right
class RawParameters(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Parameter(torch.empty(d_state + d_hidden, d_score).uniform_(-0.1, 0.1))
        self.a = nn.Parameter(torch.empty(d_score).uniform_(-0.1, 0.1))

    def forward(self, state, hidden):
        T = hidden.shape[1]
        pairs = torch.cat((state.unsqueeze(1).repeat(1, T, 1), hidden), dim=2)
        return torch.einsum("btk,k->bt", torch.tanh(pairs @ self.W), self.a)


@exercise.also_right
class PlaceByPlace(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Parameter(torch.randn(d_score, d_state))
        self.W_h = nn.Parameter(torch.randn(d_score, d_hidden))
        self.a = nn.Parameter(torch.randn(1, d_score))

    def forward(self, state, hidden):
        columns = []
        for h in hidden.unbind(1):
            inner = torch.tanh(state @ self.W_s.T + h @ self.W_h.T)
            columns.append((inner * self.a).sum(1))
        return torch.stack(columns, dim=1)


@exercise.also_right
class AsInThePaper(nn.Module):
    """Energies by one layer on the joined vectors, the vector a by a batched product."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.attn = nn.Linear(d_hidden + d_state, d_score, bias=False)
        self.v = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        src_len = hidden.shape[1]
        state = state.unsqueeze(1).repeat(1, src_len, 1)
        energy = torch.tanh(self.attn(torch.cat((state, hidden), dim=2)))
        return self.v(energy).squeeze(2)


@exercise.also_right
class WithTheNamesOfATutorial(nn.Module):
    """Other names for the two halves of W and for a; nothing else is new."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.Wa = nn.Linear(d_state, d_score, bias=False)
        self.Ua = nn.Linear(d_hidden, d_score, bias=False)
        self.Va = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.Va(torch.tanh(self.Wa(state.unsqueeze(1)) + self.Ua(hidden))).squeeze(2)


@exercise.also_right
class WithAVectorV(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.attn = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.v = nn.Parameter(torch.zeros(d_score))

    def forward(self, state, hidden):
        T = hidden.shape[1]
        joined = torch.cat([state.unsqueeze(1).expand(-1, T, -1), hidden], 2)
        return (self.v * self.attn(joined).tanh()).sum(2)
