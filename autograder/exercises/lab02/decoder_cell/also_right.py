"""Other right decoder cells."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.seq2seq import AdditiveScore, attend

from . import exercise
from .other_steps import Repeated, TwoMatrices, attend_by_where  # noqa: F401 - mistakes name them


@exercise.also_right
class InFourLines(nn.Module):
    def __init__(self, vocab, d_embed, d_state, d_hidden, d_score):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.score = AdditiveScore(d_state, d_hidden, d_score)
        self.gru = nn.GRUCell(d_embed + d_hidden, d_state)
        self.out = nn.Linear(d_state, vocab)

    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        taken_in = torch.cat([self.embedding(y_prev), context], -1)  # (B, d_embed + d_hidden)
        new_state = self.gru(taken_in, state)
        return self.out(new_state), new_state, weights


@exercise.also_right
class InSmallSteps(nn.Module):
    def __init__(self, vocab, d_embed, d_state, d_hidden, d_score):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.score = AdditiveScore(d_state, d_hidden, d_score)
        self.gru = nn.GRUCell(d_embed + d_hidden, d_state)
        self.out = nn.Linear(d_state, vocab)

    def forward(self, y_prev, state, hidden, mask=None):
        scores = self.score(state, hidden)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        alpha = torch.softmax(scores, dim=-1)
        context = torch.einsum("bt,bth->bh", alpha, hidden)
        word = self.embedding(y_prev)
        state = self.gru(torch.cat((word, context), dim=1), state)
        return self.out(state), state, alpha


@exercise.also_right
class AsInTutorials(InFourLines):
    def forward(self, y_prev, state, hidden, mask=None):
        embedded = self.embedding(y_prev)
        _, a = attend(self.score(state, hidden), hidden, mask)
        weighted = torch.bmm(a.unsqueeze(1), hidden).squeeze(1)
        rnn_input = torch.cat((embedded, weighted), dim=1)
        output = self.gru(rnn_input, state)
        prediction = self.out(output)
        return prediction, output, a


@exercise.also_right
class ByHand(InFourLines):
    """The GRU written out from its weights."""

    def forward(self, y_prev, state, hidden, mask=None):
        context, alpha = attend(self.score(state, hidden), hidden, mask)
        x = torch.cat([self.embedding.weight[y_prev], context], 1)
        r_x, z_x, n_x = (x @ self.gru.weight_ih.T + self.gru.bias_ih).chunk(3, 1)
        r_s, z_s, n_s = (state @ self.gru.weight_hh.T + self.gru.bias_hh).chunk(3, 1)
        r, z = torch.sigmoid(r_x + r_s), torch.sigmoid(z_x + z_s)
        state = (1 - z) * torch.tanh(n_x + r * n_s) + z * state
        return state @ self.out.weight.T + self.out.bias, state, alpha
