"""From one sequence to another: a recurrent decoder that looks back by additive attention.

Bahdanau's model, with lecture G's output layer, in five steps: batches of sequences of unequal
length, a score for every position of the source, a weighted mean, one step of the decoder, and the
loss with the right words as input.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.data.dates import PAD, Batch
from attnlab.softmax import cross_entropy, softmax


def pad_batch(sequences: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor, Tensor]:
    """Make one table of sequences of unequal length, padded with `pad` on the right.

    Args:
        sequences: B lists of token ids, not all of them empty. One may be empty, and one may
            contain the id `pad` itself as a token. They stay unchanged.
        pad: the id for padding.

    Returns:
        (B, T), the ids, int64, where T is the length of the longest sequence;
        (B,), the lengths without padding, int64;
        (B, T), the mask, boolean: True where there is a token, False where there is padding.
    """
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    longest = max(len(sequence) for sequence in sequences)
    mask = torch.arange(longest) < lengths[:, None]  # (B, T)
    ids = torch.full((len(sequences), longest), pad)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence)
    return ids, lengths, mask


class AdditiveScore(nn.Module):
    """How well each position of the source fits the decoder's state: e_i = aᵀ tanh(W [s; h_i]).

    W and a are the only parameters, and neither has a bias. In [s; h_i] the state comes first. Call
    them `W`, an `nn.Linear` from d_state + d_hidden to d_score, and `a`, an `nn.Linear` from
    d_score to 1. You may also use two linear layers `W_s` (for the state) and `W_h` (for the
    hidden vectors) instead of `W`, or raw `nn.Parameter`s of the same names (a matrix or its
    transpose; `a` may be a vector). Other usual names are accepted.

    Args:
        d_state: width of the decoder's state.
        d_hidden: width of the encoder's vectors.
        d_score: width of the layer between W and a.

    Source: lecture G (alignment scores); Bahdanau, Cho and Bengio 2015, appendix A.1.2.
    """

    def __init__(self, d_state: int, d_hidden: int, d_score: int) -> None:
        super().__init__()
        # blank: W and a
        self.W = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)
        # end blank

    def forward(self, state: Tensor, hidden: Tensor) -> Tensor:
        """A score for every position; no softmax.

        Args:
            state: (B, d_state), one state for each sentence of the batch.
            hidden: (B, T, d_hidden), the encoder's vectors.

        Returns:
            (B, T), any real numbers. Gradients flow to state, hidden, W and a.
        """
        # blank: the scores
        spread = state[:, None, :].expand(-1, hidden.shape[1], -1)  # (B, T, d_state)
        inner = self.W(torch.cat([spread, hidden], -1)).tanh()  # (B, T, d_score)
        return self.a(inner).squeeze(-1)  # (B, T)
        # end blank


def attend(scores: Tensor, hidden: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Turn scores into weights, and weights into one context vector for each sentence.

    Args:
        scores: (B, T), a finite score for every position.
        hidden: (B, T, d_hidden), the vectors of which the context is the weighted mean, in the
            dtype of `scores`.
        mask: (B, T), boolean: True where there is a token. Padding gets weight exactly 0, whatever
            its score and vector (finite numbers), and no gradient. None: every position counts.

    Returns:
        (B, d_hidden), the context Σ_i weight_i · hidden_i, and (B, T), the weights, both in the
        dtype of `scores`. The weights of a sentence sum to 1 over its tokens; a sentence that is
        all padding gets weights and a context of 0. Gradients flow back to scores and vectors, and
        the inputs stay unchanged.

    Source: lecture G (c_t = Σ α_{t,i} h_i).
    """
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    empty = ~mask.any(1, keepdim=True)  # (B, 1), sentences that are all padding
    scores = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0)  # no row of -inf
    weights = softmax(scores).masked_fill(empty, 0)  # (B, T)
    return (weights[:, None, :] @ hidden).squeeze(1), weights  # (B, d_hidden), (B, T)


class AttentionDecoderCell(nn.Module):
    """One step of the decoder: attend to the source, read the last token, score the next one.

    The alignment of step t uses the state *before* it: c_t is the context for the scores of s_{t-1}
    against the hidden vectors. Then s_t = GRU(s_{t-1}, [y_{t-1}; c_t]), with the token's embedding
    before the context. The logits are a linear layer on s_t alone.

    Args:
        vocab: number V of the target's symbols.
        d_embed: width of a token's embedding.
        d_state: width of the state.
        d_hidden: width of the encoder's vectors.
        d_score: width of the layer inside the additive score.

    Source: lecture G (RNN with attention).
    """

    def __init__(self, vocab: int, d_embed: int, d_state: int, d_hidden: int, d_score: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.score = AdditiveScore(d_state, d_hidden, d_score)
        self.gru = nn.GRUCell(d_embed + d_hidden, d_state)
        self.out = nn.Linear(d_state, vocab)

    def forward(
        self, y_prev: Tensor, state: Tensor, hidden: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One step for every sentence of the batch.

        Args:
            y_prev: (B,), int64, the token of the previous step (BOS in the first step).
            state: (B, d_state), the state of the previous step.
            hidden: (B, T, d_hidden), the encoder's vectors.
            mask: (B, T), boolean, True where there is a source token. None: every position counts.

        Returns:
            (B, V), the logits of the next token; (B, d_state), the new state; (B, T), the
            attention weights of this step. Gradients flow to the state of the previous step.
        """
        # blank: the context, the new state, the logits
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.gru(torch.cat([self.embedding(y_prev), context], 1), state)
        return self.out(new_state), new_state, weights
        # end blank


def teacher_forced_loss(model: Any, batch: Batch) -> Tensor:
    """How surprised the model is by each token of the right answer, given the right ones before.

    The source is read once, for the whole batch; then the decoder runs step by step. Its input is
    always the true token of the previous step, never its own prediction. The first step is fed BOS
    and must predict the first symbol; a later step is fed a symbol and must predict the next one;
    after the last symbol it must predict EOS. (PAD is 0 and is not a symbol.)

    Args:
        model: with two functions:
            `model.encode(source, source_mask)` → hidden (B, S, d_hidden) and state (B, d_state);
            `model.cell(y_prev, state, hidden, source_mask)` → logits (B, V), new state, weights.
            Its mode, training or evaluation, stays unchanged.
        batch: source (B, S), source_mask (B, S), target (B, T), target_mask (B, T). A row of
            `target` is BOS, the symbols, EOS, and PAD up to the length of the longest.

    Returns:
        The mean over all predictions of the batch, EOS included, of -log p(right token), in nats;
        a tensor without dimensions, in the dtype of the logits. A prediction whose target is PAD
        counts neither in the sum nor in the number of predictions. Gradients flow back through all
        steps; `batch` stays unchanged.

    Source: lectures G, C (teacher forcing), W (log-loss).
    """
    hidden, state = model.encode(batch.source, batch.source_mask)
    steps = []
    for y_prev in batch.target[:, :-1].unbind(1):  # T - 1 times (B,)
        logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)
        steps.append(logits)
    flat = torch.stack(steps, 1).flatten(0, 1)  # (B · (T - 1), V)
    return cross_entropy(flat, batch.target[:, 1:].flatten(), ignore_index=PAD)


def train_translator(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    max_norm: float = 1.0,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> list[float]:
    """One pass of training over the batches: one step of the optimizer per batch.

    The model is in training mode throughout. Each step starts from gradients of zero and computes
    `teacher_forced_loss` on one batch. Before the optimizer uses the gradients, their common norm
    over all parameters is clipped to `max_norm` (`nn.utils.clip_grad_norm_`).

    Args:
        model: a model as for `teacher_forced_loss`.
        batches: the batches, in order, each used once.
        optimizer: an optimizer of the model's parameters.
        max_norm: the norm to which gradients are clipped.
        scheduler: changes the learning rate; takes one step after each step of the optimizer.
            None: the learning rate stays unchanged.

    Returns:
        The loss of each batch before the step on it: one Python float per batch.
    """
    losses = []
    model.train()
    for batch in batches:
        optimizer.zero_grad()
        loss = teacher_forced_loss(model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss.detach())  # reading it now would make a GPU wait at every step
    return [loss.item() for loss in losses]
