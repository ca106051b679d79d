"""BERT: an encoder that is trained on hidden words and on pairs of sentences.

    cfg = BertConfig(vocab_size=154, d_model=64, num_heads=4, d_ff=256, num_layers=2, max_len=16)
    model = Bert(cfg)
    init_normal(model)
    hidden, mlm_logits, nsp_logits = model(ids, segments, valid)

:mod:`attnlab.pretraining` makes its inputs.

Source: BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding (Devlin et
al. 2019), section 3; lectures G, N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.cached_attention import Attention

SIZES: dict[str, dict[str, int]] = {  # section 3 of the paper, "Model Architecture"
    "base": {"num_layers": 12, "d_model": 768, "num_heads": 12, "d_ff": 3072},
    "large": {"num_layers": 24, "d_model": 1024, "num_heads": 16, "d_ff": 4096},
}


@dataclass(frozen=True)
class BertConfig:
    """All numbers of a model.

    Attributes:
        vocab_size: V, the number of tokens.
        d_model: features of each vector of the stream.
        num_heads: heads of each attention; it divides d_model.
        d_ff: features inside each feed-forward network.
        num_layers: the number of layers.
        max_len: the most tokens of an input.
        num_segments: the number of different segments.
        dropout: the probability of dropping, everywhere.
        norm_eps: what each normalisation adds to the variance.
    """

    vocab_size: int
    d_model: int = 768
    num_heads: int = 12
    d_ff: int = 3072
    num_layers: int = 12
    max_len: int = 512
    num_segments: int = 2
    dropout: float = 0.1
    norm_eps: float = 1e-12

    @classmethod
    def of_size(cls, name: str, vocab_size: int = 30_522, **others: Any) -> BertConfig:
        """The paper's "base" or "large" model.

        Raises:
            ValueError: there is no such size.
        """
        if name not in SIZES:
            raise ValueError(f"the sizes are {' and '.join(SIZES)}, not {name!r}")
        return cls(vocab_size, **{**SIZES[name], **others})


class BertOutput(NamedTuple):
    """What the model returns.

    Attributes:
        hidden: (B, T, d_model), a vector for each token, after the last layer.
        mlm_logits: (B, T, V), which token stood there before it was hidden.
        nsp_logits: (B, 2), whether the second sentence follows the first: [no, yes].
    """

    hidden: Tensor
    mlm_logits: Tensor
    nsp_logits: Tensor


class BertLayer(nn.Module):
    """Self-attention in both directions, then the feed-forward network; normalised after each sum.

    The GELU is the exact one, with the normal distribution's function.
    """

    def __init__(self, cfg: BertConfig) -> None:
        super().__init__()
        self.attention = Attention(cfg.d_model, cfg.num_heads, cfg.dropout)
        self.norm1 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.linear1 = nn.Linear(cfg.d_model, cfg.d_ff)
        self.linear2 = nn.Linear(cfg.d_ff, cfg.d_model)
        self.norm2 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send vectors through the layer.

        Args:
            x: (B, T, d_model).
            mask: (B, 1, 1, T), boolean, True where there is a token; None: everywhere.

        Returns:
            (B, T, d_model).
        """
        found = self.attention(x, self.attention.keys_values(x), mask).out
        x = self.norm1(x + self.dropout(found))
        hidden = F.gelu(self.linear1(x))  # (B, T, d_ff)
        return self.norm2(x + self.dropout(self.linear2(hidden)))


class MLMHead(nn.Module):
    """Logits for hidden tokens: linear, GELU, normalisation, then the token table and a bias.

    Args:
        cfg: all numbers of the model.
        table: (V, d_model), the weights of the token embedding, which this head shares.
    """

    def __init__(self, cfg: BertConfig, table: nn.Parameter) -> None:
        super().__init__()
        self.transform = nn.Linear(cfg.d_model, cfg.d_model)
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.output = nn.Linear(cfg.d_model, cfg.vocab_size)
        self.output.weight = table

    def forward(self, hidden: Tensor) -> Tensor:
        """Turn (B, T, d_model) into logits, (B, T, V)."""
        logits: Tensor = self.output(self.norm(F.gelu(self.transform(hidden))))
        return logits


class Bert(nn.Module):
    """Token, position and segment tables, a normalisation, layers, and two heads for pretraining.

    The pooler, a linear layer with tanh on the first token's vector, is part of the second head and
    of what a classifier is built on.

    Args:
        cfg: all numbers of the model.
    """

    def __init__(self, cfg: BertConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.tokens = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.positions = nn.Embedding(cfg.max_len, cfg.d_model)
        self.segments = nn.Embedding(cfg.num_segments, cfg.d_model)
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)
        self.layers = nn.ModuleList(BertLayer(cfg) for _ in range(cfg.num_layers))
        self.pooler = nn.Linear(cfg.d_model, cfg.d_model)
        self.mlm_head = MLMHead(cfg, cast("nn.Parameter", self.tokens.weight))
        self.nsp_head = nn.Linear(cfg.d_model, 2)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, valid: Tensor | None = None
    ) -> BertOutput:
        """Read a batch.

        Args:
            ids: (B, T), int64; the first token of each row is [CLS].
            segments: (B, T), int64, which sentence each token belongs to; None: all are 0.
            valid: (B, T), boolean, False where a row is filled up; None: nowhere.

        Raises:
            ValueError: T is above `cfg.max_len`.
        """
        hidden = self.encode(ids, segments, valid)
        return BertOutput(hidden, self.mlm_head(hidden), self.nsp_head(self.pooled(hidden)))

    def encode(
        self, ids: Tensor, segments: Tensor | None = None, valid: Tensor | None = None
    ) -> Tensor:
        """The tokens' vectors after the last layer, (B, T, d_model); the heads are left out."""
        length = ids.shape[1]
        if length > self.cfg.max_len:
            raise ValueError(f"{length} tokens, but the model reads only {self.cfg.max_len}")
        segments = torch.zeros_like(ids) if segments is None else segments
        places = torch.arange(length, device=ids.device)
        x = self.tokens(ids) + self.positions(places) + self.segments(segments)  # (B, T, d_model)
        x = self.dropout(self.norm(x))
        mask = None if valid is None else valid[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def pooled(self, hidden: Tensor) -> Tensor:
        """A vector for each row of the batch, (B, d_model), from its first token."""
        return torch.tanh(self.pooler(hidden[:, 0]))


def count_bert_params(cfg: BertConfig, *, heads: bool = True) -> int:
    """The number of parameters of `Bert(cfg)`, by a formula: nothing is built.

    Args:
        cfg: all numbers of the model.
        heads: whether both heads count; the pooler always does.
    """
    d = cfg.d_model
    norm = 2 * d
    layer = 4 * (d * d + d) + (d * cfg.d_ff + cfg.d_ff) + (cfg.d_ff * d + d) + 2 * norm
    tables = (cfg.vocab_size + cfg.max_len + cfg.num_segments) * d + norm
    pooler = d * d + d
    both = (d * d + d + norm + cfg.vocab_size) + (2 * d + 2)
    return tables + cfg.num_layers * layer + pooler + (both if heads else 0)
