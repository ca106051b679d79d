"""The lab's Transformer: equal to the fast one, counted by a formula, decoded row by row."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from attnlab import transformer
from attnlab.encoder_decoder import (
    Transformer,
    greedy_decode,
    init_weights,
    shift_right,
)
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


def test_shift_right_puts_bos_first_and_drops_the_last_symbol() -> None:
    target = torch.tensor([[5, 6, EOS], [7, EOS, PAD]])
    before = target.clone()
    assert shift_right(target, BOS).tolist() == [[BOS, 5, 6], [BOS, 7, EOS]]
    assert torch.equal(target, before)
    assert shift_right(target[:, :1], 9).tolist() == [[9], [9]]
    assert shift_right(target[:0], BOS).shape == (0, 3)


class Scripted(nn.Module):
    """A model that writes given rows whatever it reads, and records how it is used."""

    def __init__(self, rows: list[list[int]]) -> None:
        super().__init__()
        self.rows = rows
        self.encoded = 0
        self.seen: list[tuple[tuple[int, ...], bool, bool]] = []

    def encode(self, source: Tensor, source_valid: Tensor) -> Tensor:
        self.encoded += 1
        return source[..., None].double()

    def decode(self, target: Tensor, memory: Tensor, source_valid: Tensor) -> Tensor:
        self.seen.append((tuple(target.shape), self.training, torch.is_grad_enabled()))
        logits = torch.zeros(*target.shape, 12)
        for row, symbols in enumerate(self.rows):
            step = target.shape[1] - 1
            logits[row, -1, symbols[step] if step < len(symbols) else 4] = 1.0
        return logits


def test_rows_end_on_their_own_and_the_source_is_read_once() -> None:
    model = Scripted([[5, 6, EOS], [7, EOS], [8, 9, 10, EOS]]).train()
    written = greedy_decode(model, SOURCE, VALID, BOS, EOS, PAD)
    assert written.tolist() == [[5, 6, EOS, PAD], [7, EOS, PAD, PAD], [8, 9, 10, EOS]]
    assert written.dtype == torch.int64
    assert model.encoded == 1
    assert model.seen == [((3, 1 + step), False, False) for step in range(4)]
    assert model.training


def test_each_row_has_the_limit_of_its_own_source() -> None:
    model = Scripted([[4] * 9] * 3)
    written = greedy_decode(model, SOURCE, VALID, BOS, EOS, pad=0, max_extra=2)
    assert (written != 0).sum(1).tolist() == [7, 4, 3]
    assert written.shape == (3, 7)
    nothing = greedy_decode(model, SOURCE, torch.zeros_like(VALID), BOS, EOS, max_extra=0)
    assert nothing.shape == (3, 0)


def test_the_mode_is_restored_after_an_error_too() -> None:
    model = Scripted([[4]]).train()
    with pytest.raises(IndexError):
        greedy_decode(model, SOURCE[0], VALID[0], BOS, EOS)
    assert model.training


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
