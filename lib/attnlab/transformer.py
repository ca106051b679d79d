"""The encoder–decoder Transformer, whole: layers, embeddings, training and decoding with a cache.

    cfg = TransformerConfig(source_vocab=40, target_vocab=14, d_model=64, num_heads=4, d_ff=256)
    model = Transformer(cfg)
    logits = model(source, inputs)                                    # training, (B, T, V)
    answers = model.generate(source, bos=1, eos=2, max_len=12)        # greedy, with a cache
    answers = model.generate(source, bos=1, eos=2, max_len=12, width=4)    # beam search

:mod:`attnlab.encoder_decoder` is the same model, built step by step in lab 7. This one attends with
torch's fused kernel, and a decoder keeps the keys and values of what it has written.

Source: Attention Is All You Need (Vaswani et al. 2017), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from attnlab.cached_attention import Attention, KVCache
from attnlab.decoding import beam_search
from attnlab.encoder_decoder import init_weights
from attnlab.layers import FeedForward, Residual
from attnlab.positions import sinusoidal_pe
from attnlab.transformer_config import TransformerConfig


class _Residual(Residual):
    """Lab 6's residual with torch's layer norm, which is one kernel instead of six."""

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__(cfg.d_model, cfg.dropout, cfg.norm)
        self.norm = nn.LayerNorm(cfg.d_model)  # type: ignore[assignment]


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with a residual around it."""

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = Attention(cfg.d_model, cfg.num_heads, cfg.dropout)
        self.feed_forward = FeedForward(cfg.d_model, cfg.d_ff, cfg.dropout)
        self.residual1 = _Residual(cfg)
        self.residual2 = _Residual(cfg)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send the source's vectors through the layer.

        Args:
            x: (B, S, d_model).
            mask: (B, 1, 1, S), boolean, True where there is a symbol; None: everywhere.

        Returns:
            (B, S, d_model).
        """

        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, self.self_attention.keys_values(x), mask).out

        return self.residual2(self.residual1(x, attend), self.feed_forward)


@dataclass(frozen=True, eq=False)
class LayerState:
    """What a decoder layer keeps from one step to the next: the keys and values of the target.

    Attributes:
        target: of the target's symbols so far; None before the first.
        memory: of the encoded source; they stay the same.
    """

    target: KVCache | None
    memory: KVCache

    def select(self, rows: Tensor) -> LayerState:
        """The rows of the batch that `rows` names."""
        target = None if self.target is None else self.target.select(rows)
        return LayerState(target, self.memory.select(rows))


class LayerOutput(NamedTuple):
    """What a decoder layer returns.

    Attributes:
        x: (B, T, d_model).
        state: for the next step.
        weights: where each target position looked in the source, (B, h, T, S); None if not asked.
    """

    x: Tensor
    state: LayerState
    weights: Tensor | None


class DecoderLayer(nn.Module):
    """Self-attention on the target, attention to the source, then the feed-forward network."""

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = Attention(cfg.d_model, cfg.num_heads, cfg.dropout)
        self.cross_attention = Attention(cfg.d_model, cfg.num_heads, cfg.dropout)
        self.feed_forward = FeedForward(cfg.d_model, cfg.d_ff, cfg.dropout)
        self.residual1 = _Residual(cfg)
        self.residual2 = _Residual(cfg)
        self.residual3 = _Residual(cfg)

    def start(self, memory: Tensor) -> LayerState:
        """The state before the first symbol, from the encoded source, (B, S, d_model)."""
        return LayerState(None, self.cross_attention.keys_values(memory))

    def forward(
        self,
        x: Tensor,
        state: LayerState,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> LayerOutput:
        """Send the target's vectors through the layer.

        Args:
            x: (B, T, d_model): a whole target from its start, or its next symbol alone (T = 1).
            state: from `start`, or from the step before.
            memory_mask: (B, 1, 1, S), boolean, True where the source has a symbol.
            need_weights: whether to return where the target looked.
        """
        kept, weights = state.target, None

        def attend(x: Tensor) -> Tensor:
            nonlocal kept
            newer = self.self_attention.keys_values(x)
            kept = newer if kept is None else kept.append(newer)
            # One symbol after others may attend to all of them.
            return self.self_attention(x, kept, is_causal=state.target is None).out

        def look(x: Tensor) -> Tensor:
            nonlocal weights
            found = self.cross_attention(x, state.memory, memory_mask, need_weights=need_weights)
            weights = found.weights
            return found.out

        x = self.residual1(x, attend)
        x = self.residual2(x, look)
        x = self.residual3(x, self.feed_forward)
        return LayerOutput(x, LayerState(kept, state.memory), weights)


@dataclass(frozen=True, eq=False)
class DecoderState:
    """All that decoding needs besides the last symbol.

    Attributes:
        layers: one state for each decoder layer.
        memory_mask: (B, 1, 1, S), boolean, True where the source has a symbol.
        length: the number of target symbols so far.
    """

    layers: tuple[LayerState, ...]
    memory_mask: Tensor
    length: int = 0

    def select(self, rows: Tensor) -> DecoderState:
        """The rows of the batch that `rows` names, int64 (N,)."""
        layers = tuple(layer.select(rows) for layer in self.layers)
        return replace(self, layers=layers, memory_mask=self.memory_mask[rows])


class DecoderOutput(NamedTuple):
    """What the decoder returns.

    Attributes:
        logits: (B, T, target_vocab), for the symbol after each input.
        state: for the next step.
        weights: for each layer, where each target position looked, (B, h, T, S); empty if not
            asked for.
    """

    logits: Tensor
    state: DecoderState
    weights: tuple[Tensor, ...]


class Transformer(nn.Module):
    """An encoder that reads the source once, and a decoder that writes the target from it.

    Targets that are shorter than others in a batch are filled up on the right. So the causal mask
    hides the filling from every symbol before it, and no other mask is needed for the target.

    Args:
        cfg: all numbers of the model.
    """

    positions: Tensor

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.source_embedding = nn.Embedding(cfg.source_vocab, cfg.d_model)
        self.target_embedding = nn.Embedding(cfg.target_vocab, cfg.d_model)
        self.register_buffer("positions", sinusoidal_pe(cfg.max_len, cfg.d_model), persistent=False)
        self.dropout = nn.Dropout(cfg.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(cfg) for _ in range(cfg.num_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(cfg) for _ in range(cfg.num_decoder_layers))
        # The stream of a pre-norm stack was never normalised.
        after = nn.LayerNorm if cfg.norm == "pre" else nn.Identity
        self.encoder_norm = after(cfg.d_model)
        self.decoder_norm = after(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, cfg.target_vocab, bias=False)
        if cfg.tie != "none":
            self.head.weight = self.target_embedding.weight
        if cfg.tie == "all":
            self.source_embedding.weight = self.target_embedding.weight
        init_weights(self)

    def forward(self, source: Tensor, inputs: Tensor) -> Tensor:
        """The logits for the symbol after each input; for training, all positions at once.

        Args:
            source: (B, S), int64, filled up with `cfg.pad`; each row has a symbol at least.
            inputs: (B, T), int64: the target moved to the right by one, `bos` in front.

        Returns:
            (B, T, target_vocab).

        Raises:
            ValueError: S or T is above `cfg.max_len`.
        """
        return self.decode(inputs, self.encode(source)).logits

    def encode(self, source: Tensor) -> DecoderState:
        """Read the source; return the state in which a decoder starts to write.

        Args:
            source: (B, S), int64, filled up with `cfg.pad`.
        """
        mask = (source != self.cfg.pad)[:, None, None, :]  # (B, 1, 1, S)
        x = self._embed(self.source_embedding, source, 0)  # (B, S, d_model)
        for layer in self.encoder:
            x = layer(x, mask)
        memory = self.encoder_norm(x)  # (B, S, d_model)
        layers = cast("Iterable[DecoderLayer]", self.decoder)
        return DecoderState(tuple(layer.start(memory) for layer in layers), mask)

    def decode(
        self, inputs: Tensor, state: DecoderState, need_weights: bool = False
    ) -> DecoderOutput:
        """Continue the target.

        Args:
            inputs: (B, T), int64: a whole target after `encode`; later one symbol, (B, 1).
            state: from `encode`, or from the step before.
            need_weights: whether to return where each position looked in the source.

        Raises:
            ValueError: several symbols after a first step; more than `cfg.max_len` positions.
        """
        if state.length and inputs.shape[1] != 1:
            raise ValueError(f"after the first step one symbol at a time, not {inputs.shape[1]}")
        x = self._embed(self.target_embedding, inputs, state.length)  # (B, T, d_model)
        layers, weights = [], []
        for layer, own_state in zip(self.decoder, state.layers, strict=True):
            x, after, looked = layer(x, own_state, state.memory_mask, need_weights)
            layers.append(after)
            weights.append(looked)
        logits = self.head(self.decoder_norm(x))  # (B, T, target_vocab)
        later = replace(state, layers=tuple(layers), length=state.length + inputs.shape[1])
        return DecoderOutput(logits, later, tuple(weights) if need_weights else ())

    def step(self, symbols: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """One step of a search.

        Args:
            symbols: (B,), int64, the last symbol of each row.
            state: from `encode`, or from the step before.

        Returns:
            The log-probability of each next symbol, (B, target_vocab), and the next state.
        """
        logits, state, _ = self.decode(symbols[:, None], state)
        return logits[:, -1].log_softmax(-1), state

    @torch.no_grad()
    def generate(
        self, source: Tensor, *, bos: int, eos: int, max_len: int | Tensor, width: int = 1,
        alpha: float = 0.6,
    ) -> list[list[int]]:  # fmt: skip
        """Write a target for each source, in evaluation mode; the mode is restored afterwards.

        Args:
            source: (B, S), int64.
            bos: the symbol that starts a target.
            eos: the symbol that ends one.
            max_len: the most symbols of a target; an int, or (B,) with a limit for each row.
            width: 1 takes the likeliest symbol at every step, for the whole batch at once; more
                keeps that many hypotheses, one source after the other.
            alpha: how much beam search favours long targets; see `decoding.beam_search`.

        Returns:
            B lists of symbols, without `bos`, and without `eos` and all that follows.
        """
        limits = torch.as_tensor(max_len).expand(len(source)).tolist()
        was_training = self.training
        self.eval()
        try:
            state = self.encode(source)
            if width == 1:
                rows = self._greedy(state, bos, eos, limits)
            else:
                rows = [
                    self._best(state, row, limit, bos=bos, eos=eos, width=width, alpha=alpha)
                    for row, limit in enumerate(limits)
                ]
        finally:
            self.train(was_training)
        return [row[: row.index(eos)] if eos in row else row for row in rows]

    def _greedy(
        self, state: DecoderState, bos: int, eos: int, limits: list[int]
    ) -> list[list[int]]:
        """The likeliest symbol at every step; rows that have ended leave the batch."""
        written: list[list[int]] = [[] for _ in limits]
        device = state.memory_mask.device
        going = list(range(len(limits)))
        symbols = torch.full((len(limits),), bos, device=device)
        while True:
            places = [i for i, row in enumerate(going) if _goes_on(written[row], limits[row], eos)]
            if not places:
                return written
            if len(places) < len(going):
                going = [going[place] for place in places]
                rows = torch.tensor(places, device=device)
                symbols, state = symbols[rows], state.select(rows)
            log_p, state = self.step(symbols, state)
            symbols = log_p.argmax(-1)  # (rows that go on,)
            for row, symbol in zip(going, symbols.tolist(), strict=True):
                written[row].append(symbol)

    def _best(self, state: DecoderState, row: int, limit: int, **search: Any) -> list[int]:
        """The best hypothesis of a beam search for one row of the batch."""
        device = state.memory_mask.device
        one = state.select(torch.tensor([row], device=device))

        def step(symbol: int, state: DecoderState) -> tuple[Tensor, DecoderState]:
            log_p, after = self.step(torch.tensor([symbol], device=device), state)
            return log_p[0], after

        return beam_search(step, one, max_len=limit, **search)[0][0] if limit > 0 else []

    def _embed(self, embedding: nn.Embedding, symbols: Tensor, start: int) -> Tensor:
        """Vectors of the stream, (B, T, d_model), for symbols at positions from `start` on."""
        end = start + symbols.shape[1]
        if end > self.cfg.max_len:
            raise ValueError(f"{end} positions, but the model has only {self.cfg.max_len}")
        x = embedding(symbols) * math.sqrt(self.cfg.d_model)
        return self.dropout(x + self.positions[start:end])


def _goes_on(written: list[int], limit: int, eos: int) -> bool:
    return len(written) < limit and written[-1:] != [eos]
