"""The lab's Transformer: equal to the fast one, counted by a formula, decoded row by row."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn

from attnlab import transformer
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.transformer_config import TransformerConfig

CFG = TransformerConfig(
    source_vocab=13, target_vocab=11, d_model=12, num_heads=3, d_ff=20, num_encoder_layers=2,
    num_decoder_layers=3, dropout=0.0, max_len=30,
)  # fmt: skip
SOURCE = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 0, 0, 0], [3, 0, 0, 0, 0]])
VALID = SOURCE != 0
INPUTS = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0], [1, 9, 10, 0]])
BOS, EOS, PAD = 1, 2, 0


def both(cfg: TransformerConfig) -> tuple[Transformer, transformer.Transformer]:
    """The lab's model and the fast one, in float64, with the same weights."""
    ours, fast = Transformer(cfg).double(), transformer.Transformer(cfg).double()
    draw = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=draw) / 3)
    fast.load_state_dict(ours.state_dict())
    return ours.eval(), fast.eval()


@pytest.mark.parametrize(("norm", "tie"), list(product(("pre", "post"), ("none", "output", "all"))))
def test_logits_and_gradients_are_those_of_the_fast_model(norm: str, tie: str) -> None:
    ours, fast = both(replace(CFG, norm=norm, tie=tie, source_vocab=11))
    found, expected = ours(SOURCE % 11, SOURCE % 11 != 0, INPUTS), fast(SOURCE % 11, INPUTS)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    ours_by_name = dict(ours.named_parameters())
    grads = torch.autograd.grad(found.square().sum(), list(ours_by_name.values()))
    theirs = torch.autograd.grad(expected.square().sum(), list(fast.parameters()))
    fast_by_name = dict(zip(dict(fast.named_parameters()), theirs, strict=True))
    for name, grad in zip(ours_by_name, grads, strict=True):
        torch.testing.assert_close(grad, fast_by_name[name], rtol=1e-9, atol=1e-9)


def test_greedy_decoding_writes_what_the_fast_model_writes() -> None:
    ours, fast = both(CFG)
    written = greedy_decode(ours, SOURCE, VALID, BOS, EOS, max_extra=6)
    fast_rows = fast.generate(SOURCE, bos=BOS, eos=EOS, max_len=VALID.sum(1) + 6)
    for row, expected in zip(written.tolist(), fast_rows, strict=True):
        assert row[: len(expected)] == expected
        assert set(row[len(expected) :]) <= {EOS, PAD}


def test_fresh_weights_find_all_symbols_about_equally_likely() -> None:
    torch.manual_seed(0)
    model = Transformer(replace(CFG, tie="none", d_model=48, target_vocab=37))
    init_weights(model)
    loss = nn.functional.cross_entropy(model(SOURCE, VALID, INPUTS).flatten(0, 1), INPUTS.flatten())
    assert abs(loss.item() - math.log(37)) < 0.1
    assert model.target_embedding.weight.norm(dim=1).mean().item() == pytest.approx(1, abs=0.1)
    assert model.encoder[0].self_attention.q_proj.bias.abs().max() == 0
    tied = Transformer(CFG)
    init_weights(tied)
    assert tied.head.weight is tied.target_embedding.weight
    assert tied.head.weight.std().item() == pytest.approx(12**-0.5, rel=0.3)
