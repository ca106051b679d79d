"""The numbers of an encoder–decoder Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

SIZES: dict[str, dict[str, Any]] = {  # the last table of the paper's section 6.2
    "base": {"d_model": 512, "num_heads": 8, "d_ff": 2048, "dropout": 0.1},
    "big": {"d_model": 1024, "num_heads": 16, "d_ff": 4096, "dropout": 0.3},
}


@dataclass(frozen=True)
class TransformerConfig:
    """All numbers of a model.

    Attributes:
        source_vocab: the number of different symbols in sources.
        target_vocab: the number of different symbols in targets.
        d_model: features of each vector of the stream.
        num_heads: heads of each attention; it divides d_model.
        d_ff: features inside each feed-forward network.
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        dropout: the probability of dropping, everywhere.
        norm: "pre" normalises before each sublayer, and once more after each stack; "post", as in
            the paper, after each sum.
        tie: "output" uses one table for the target's embedding and the last projection; "all" uses
            it for the source's embedding, too (as in the paper), so the vocabularies must have the
            same size; "none" uses three tables.
        max_len: the most positions of a source or a target.
        pad: the symbol that fills up short rows.

    Raises:
        ValueError: `tie` is "all" and the vocabularies differ in size.
    """

    source_vocab: int
    target_vocab: int
    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    tie: Literal["none", "output", "all"] = "output"
    max_len: int = 5000
    pad: int = 0

    def __post_init__(self) -> None:
        if self.tie == "all" and self.source_vocab != self.target_vocab:
            raise ValueError(
                f'tie="all" needs one vocabulary; they have {self.source_vocab} and '
                f"{self.target_vocab} symbols"
            )

    @classmethod
    def of_size(cls, name: str, vocab: int, **others: Any) -> TransformerConfig:
        """The paper's "base" or "big" model, with one vocabulary of `vocab` symbols.

        Raises:
            ValueError: there is no such size.
        """
        if name not in SIZES:
            known = " and ".join(SIZES)
            raise ValueError(f"the sizes are {known}, not {name!r}")
        paper = {**SIZES[name], "norm": "post", "tie": "all"}
        return cls(vocab, vocab, **{**paper, **others})
