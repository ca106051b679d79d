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
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.multihead import MultiHeadAttention

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
            known = " and ".join(SIZES)
            raise ValueError(f"the sizes are {known}, not {name!r}")
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
    """Self-attention and a feed-forward network, each added to its input and then normalised.

    First x ← norm1(x + attention of x), then x ← norm2(x + linear2(GELU(linear1(x)))).

    The parts have these names: `attention`, a `MultiHeadAttention(d_model, num_heads)`; `linear1`
    and `linear2`, from d_model to d_ff features and back; `norm1` and `norm2`, an `nn.LayerNorm`
    each, with cfg.norm_eps. The GELU is the exact one, x · Φ(x), not its approximation by tanh.
    Other usual names are accepted, but not torch's `nn.TransformerEncoderLayer`.

    In training, cfg.dropout drops attention weights and what each of the two sums adds to x, and
    nothing else; with `eval()` nothing is dropped.

    Args:
        cfg: gives the sizes, the dropout and the epsilon.

    Source: Devlin et al. 2019, section 3, and its code.
    """

    def __init__(self, cfg: BertConfig) -> None:
        super().__init__()
        # blank: attention, two linear layers, two normalisations, dropout
        self.attention = MultiHeadAttention(cfg.d_model, cfg.num_heads, dropout=cfg.dropout)
        self.linear1 = nn.Linear(cfg.d_model, cfg.d_ff)
        self.linear2 = nn.Linear(cfg.d_ff, cfg.d_model)
        self.norm1 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.norm2 = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)
        # end blank

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send vectors through the layer.

        Args:
            x: (B, T, d_model); it stays unchanged.
            mask: (B, 1, 1, T), boolean, True where there is a token; None: everywhere.

        Returns:
            A tensor of the same shape.
        """
        x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))
        hidden = F.gelu(self.linear1(x))  # (B, T, d_ff)
        out: Tensor = self.norm2(x + self.dropout(self.linear2(hidden)))
        return out


class MLMHead(nn.Module):
    """Logits for hidden tokens: linear, GELU, normalisation, then the token table and a bias.

    The parts have these names: `transform`, from d_model to d_model features; `norm`, an
    `nn.LayerNorm` with cfg.norm_eps; and `output`, an `nn.Linear` from d_model to V whose weight
    *is* `table`, one parameter for both, and whose bias is its own. The GELU is the exact one.

    Args:
        cfg: gives the sizes and the epsilon.
        table: (V, d_model), an `nn.Parameter`, the weight of the token embedding.

    Source: the code of Devlin et al. 2019.
    """

    def __init__(self, cfg: BertConfig, table: Tensor) -> None:
        super().__init__()
        # blank: a linear layer, a normalisation, and the output with the table as its weight
        self.transform = nn.Linear(cfg.d_model, cfg.d_model)
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.output = nn.Linear(cfg.d_model, cfg.vocab_size)
        self.output.weight = table
        # end blank

    def forward(self, hidden: Tensor) -> Tensor:
        """Turn (B, T, d_model) into logits, (B, T, V)."""
        logits: Tensor = self.output(self.norm(F.gelu(self.transform(hidden))))
        return logits


class Bert(nn.Module):
    """Token, position and segment tables, a normalisation, layers, and two heads for pretraining.

    The parts have these names: `tokens`, `positions` and `segments`, three `nn.Embedding` with
    vocab_size, max_len and num_segments rows; `norm`, an `nn.LayerNorm` with cfg.norm_eps;
    `layers`, an `nn.ModuleList` of cfg.num_layers `BertLayer`s; `pooler`, a linear layer from
    d_model to d_model features; `mlm_head`, an `MLMHead` that shares the weight of `tokens`; and
    `nsp_head`, a linear layer from d_model to 2. Every layer has parameters of its own.

    Args:
        cfg: all numbers of the model.

    Source: Devlin et al. 2019, section 3.
    """

    def __init__(self, cfg: BertConfig) -> None:
        super().__init__()
        self.cfg = cfg
        # blank: three tables, a normalisation, dropout, the layers, the pooler, two heads
        self.tokens = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.positions = nn.Embedding(cfg.max_len, cfg.d_model)
        self.segments = nn.Embedding(cfg.num_segments, cfg.d_model)
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)
        self.dropout = nn.Dropout(cfg.dropout)
        self.layers = nn.ModuleList(BertLayer(cfg) for _ in range(cfg.num_layers))
        self.pooler = nn.Linear(cfg.d_model, cfg.d_model)
        self.mlm_head = MLMHead(cfg, self.tokens.weight)
        self.nsp_head = nn.Linear(cfg.d_model, 2)
        # end blank

    def encode(
        self, ids: Tensor, segments: Tensor | None = None, valid: Tensor | None = None
    ) -> Tensor:
        """The tokens' vectors after the last layer, without the heads.

        Each token's three vectors (token, position from 0 on, segment) are added up, normalised,
        and dropped with cfg.dropout in training. Then come the layers, in which no token attends to
        one that is not valid.

        Args:
            ids: (B, T), int64; the first token of each row is [CLS].
            segments: (B, T), int64, which sentence each token belongs to; None: all are 0.
            valid: (B, T), boolean, False where a row is padded; None: no row is.

        Returns:
            (B, T, d_model).

        Raises:
            ValueError: T is above `cfg.max_len`.
        """
        length = ids.shape[1]
        if length > self.cfg.max_len:
            raise ValueError(f"{length} tokens, but the model reads only {self.cfg.max_len}")
        segments = torch.zeros_like(ids) if segments is None else segments
        places = torch.arange(length, device=ids.device)
        x = self.tokens(ids) + self.positions(places) + self.segments(segments)  # (B, T, d_model)
        x = self.dropout(self.norm(x))
        mask = None if valid is None else valid[:, None, None, :]  # (B, 1, 1, T)
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def pooled(self, hidden: Tensor) -> Tensor:
        """A vector for each row: the pooler and tanh on its first token's vector.

        Args:
            hidden: (B, T, d_model), what `encode` returned.

        Returns:
            (B, d_model).
        """
        return torch.tanh(self.pooler(hidden[:, 0]))

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, valid: Tensor | None = None
    ) -> BertOutput:
        """What `encode` returns, and the logits of both heads.

        Args:
            ids: (B, T), int64, as for `encode`.
            segments: (B, T), int64, or None.
            valid: (B, T), boolean, or None.

        Returns:
            A `BertOutput`. The second head reads what `pooled` returns.
        """
        hidden = self.encode(ids, segments, valid)
        return BertOutput(hidden, self.mlm_head(hidden), self.nsp_head(self.pooled(hidden)))


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
