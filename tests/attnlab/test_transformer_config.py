"""The formula counts what a model has, and gives the sizes of the paper and of the lectures."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch

from attnlab.encoder_decoder import Transformer
from attnlab.parameter_count import count_params
from attnlab.transformer_config import TransformerConfig

CFG = TransformerConfig(source_vocab=13, target_vocab=11, d_model=12, num_heads=3, d_ff=20)


@pytest.mark.parametrize(
    ("norm", "tie", "layers"),
    list(product(("pre", "post"), ("none", "output", "all"), ((1, 1), (2, 5)))),
)
def test_the_formula_counts_what_a_model_has(norm: str, tie: str, layers: tuple[int, int]) -> None:
    cfg = replace(
        CFG, norm=norm, tie=tie, source_vocab=11 if tie == "all" else 13,
        num_encoder_layers=layers[0], num_decoder_layers=layers[1],
    )  # fmt: skip
    with torch.device("meta"):
        model = Transformer(cfg)
    assert count_params(cfg) == sum(parameter.numel() for parameter in model.parameters())
    assert count_params(replace(cfg, num_heads=6)) == count_params(cfg)


def test_the_formula_gives_the_papers_and_the_lectures_sizes() -> None:
    of_size = TransformerConfig.of_size
    assert count_params(of_size("base", 37_000)) == 63_082_496
    assert count_params(of_size("big", 37_000)) == 214_245_376
    assert count_params(of_size("big", 37_000, d_ff=2048)) == 163_889_152
    assert count_params(of_size("base", 37_000, norm="pre")) == 63_084_544


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(ValueError, match='tie="all" needs one vocabulary; they have 13 and 11'):
        replace(CFG, tie="all")
    with pytest.raises(ValueError, match="the sizes are base and big, not 'huge'"):
        TransformerConfig.of_size("huge", 100)
