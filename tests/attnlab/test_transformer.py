"""The whole Transformer against torch's own modules, its cache, its searches and its numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from attnlab.cached_attention import Attention
from attnlab.masks import causal_mask
from attnlab.transformer import DecoderLayer, EncoderLayer, Transformer
from attnlab.transformer_config import TransformerConfig

M = TypeVar("M", bound=nn.Module)
CFG = TransformerConfig(
    source_vocab=13, target_vocab=11, d_model=12, num_heads=3, d_ff=20, num_encoder_layers=2,
    num_decoder_layers=2, dropout=0.0, max_len=30,
)  # fmt: skip
BOS, EOS = 1, 2
SOURCE = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 0, 0, 0], [3, 0, 0, 0, 0]])
INPUTS = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0], [1, 9, 10, 0]])
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def with_random_weights(module: M) -> M:
    """In float64; norms, too, because ones and zeros hide where a norm stands."""
    draw = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.double().parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=draw) / 3)
    return module


def built(**changes: object) -> Transformer:
    model = with_random_weights(Transformer(replace(CFG, **changes)))
    model.positions = model.positions.double()
    return model.eval()


def copy_attention(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    layers = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    theirs.out_proj.load_state_dict(ours.out_proj.state_dict())


def torchs(ours: EncoderLayer | DecoderLayer, norm: str) -> nn.Module:
    """torch's layer with the same weights."""
    kind = (
        nn.TransformerDecoderLayer if isinstance(ours, DecoderLayer) else nn.TransformerEncoderLayer
    )
    theirs = kind(
        CFG.d_model, CFG.num_heads, CFG.d_ff, 0.0, batch_first=True, norm_first=norm == "pre"
    ).double()
    copy_attention(theirs.self_attn, ours.self_attention)
    if isinstance(ours, DecoderLayer):
        copy_attention(theirs.multihead_attn, ours.cross_attention)
    theirs.linear1.load_state_dict(ours.feed_forward.linear1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear2.state_dict())
    for number in range(1, 4 if isinstance(ours, DecoderLayer) else 3):
        norm_of = getattr(ours, f"residual{number}").norm
        getattr(theirs, f"norm{number}").load_state_dict(norm_of.state_dict())
    return theirs


def numbers(*shape: int, seed: int = 3) -> Tensor:
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn.requires_grad_()


def assert_same_with_gradients(ours: Tensor, theirs: Tensor, inputs: list[Tensor]) -> None:
    torch.testing.assert_close(ours, theirs, **CLOSE)
    for our, their in zip(
        torch.autograd.grad(ours.square().sum(), inputs),
        torch.autograd.grad(theirs.square().sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(our, their, **CLOSE)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_layer_is_torchs(norm: str) -> None:
    layer = with_random_weights(EncoderLayer(replace(CFG, norm=norm)))
    x, valid = numbers(3, 5, CFG.d_model), SOURCE != 0
    found = layer(x, valid[:, None, None, :])
    expected = torchs(layer, norm)(x, src_key_padding_mask=~valid)
    assert_same_with_gradients(found, expected, [x])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_is_torchs(norm: str) -> None:
    layer = with_random_weights(DecoderLayer(replace(CFG, norm=norm)))
    x, memory, valid = numbers(3, 4, CFG.d_model), numbers(3, 5, CFG.d_model, seed=4), SOURCE != 0
    found = layer(x, layer.start(memory), valid[:, None, None, :])
    expected = torchs(layer, norm)(
        x, memory, tgt_mask=~causal_mask(4), memory_key_padding_mask=~valid
    )
    assert_same_with_gradients(found.x, expected, [x, memory])


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # a faster way that is not taken here
def test_a_pre_norm_model_is_torchs() -> None:
    """torch's model begins after the embedding, and always has norms after its stacks."""
    model = built()
    theirs = nn.Transformer(
        CFG.d_model, CFG.num_heads, 2, 2, CFG.d_ff, 0.0, batch_first=True, norm_first=True
    ).double()
    for stack, layers in ((theirs.encoder, model.encoder), (theirs.decoder, model.decoder)):
        for their, our in zip(stack.layers, layers, strict=True):
            their.load_state_dict(torchs(our, "pre").state_dict())
    theirs.encoder.norm.load_state_dict(model.encoder_norm.state_dict())
    theirs.decoder.norm.load_state_dict(model.decoder_norm.state_dict())
    root = CFG.d_model**0.5
    hidden = theirs(
        model.source_embedding(SOURCE) * root + model.positions[:5],
        model.target_embedding(INPUTS) * root + model.positions[:4],
        tgt_mask=~causal_mask(4),
        src_key_padding_mask=SOURCE == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    torch.testing.assert_close(model(SOURCE, INPUTS), model.head(hidden), **CLOSE)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_step_by_step_gives_the_logits_of_the_whole_target(norm: str) -> None:
    model = built(norm=norm)
    whole = model(SOURCE, INPUTS)
    state = model.encode(SOURCE)
    for t in range(INPUTS.shape[1]):
        assert state.length == t
        log_p, state = model.step(INPUTS[:, t], state)
        torch.testing.assert_close(log_p, whole[:, t].log_softmax(-1), **CLOSE)


def test_what_fills_up_a_source_or_a_target_changes_nothing() -> None:
    model = built()
    whole = model(SOURCE, INPUTS)
    torch.testing.assert_close(model(SOURCE[1:2, :2], INPUTS[1:2, :2]), whole[1:2, :2], **CLOSE)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(model(SOURCE[1:2, :1], INPUTS[1:2, :2]), whole[1:2, :2])


def test_no_position_sees_a_later_symbol() -> None:
    model = built()
    changed = INPUTS.clone()
    changed[:, 2] = 4
    before, after = model(SOURCE, INPUTS), model(SOURCE, changed)
    torch.testing.assert_close(after[:, :2], before[:, :2], **CLOSE)
    assert ((after - before)[:, 2:].abs().amax(-1) > 1e-6).all()


def test_weights_say_where_each_position_looked() -> None:
    model = built()
    out = model.decode(INPUTS, model.encode(SOURCE), need_weights=True)
    torch.testing.assert_close(out.logits, model(SOURCE, INPUTS), **CLOSE)
    assert [tuple(weights.shape) for weights in out.weights] == [(3, 3, 4, 5)] * 2
    for weights in out.weights:
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 3, 4).double())
        assert (weights[1, :, :, 2:] == 0).all()
    assert model.decode(INPUTS, model.encode(SOURCE)).weights == ()


def test_greedy_is_the_argmax_of_the_whole_target_each_time() -> None:
    model = built()
    found = model.generate(SOURCE, bos=BOS, eos=EOS, max_len=9)
    for row, written in enumerate(found):
        inputs = torch.tensor([[BOS, *written]])
        chosen = model(SOURCE[row : row + 1], inputs).argmax(-1)[0].tolist()
        assert chosen[: len(written)] == written
        assert len(written) == 9 or chosen[len(written)] == EOS


def with_an_end(symbol_bias: float) -> Transformer:
    """A model that ends more or less early."""
    model = built(tie="none")
    with torch.no_grad():
        model.head.weight[EOS] += symbol_bias
    return model


@pytest.mark.parametrize("bias", [0.0, 0.2, 0.5])
@torch.no_grad()
def test_a_beam_of_one_is_greedy(bias: float) -> None:
    model = with_an_end(bias)
    greedy = model.generate(SOURCE, bos=BOS, eos=EOS, max_len=8)
    state = model.encode(SOURCE)
    for row, written in enumerate(greedy):
        best = model._best(state, row, 8, bos=BOS, eos=EOS, width=1, alpha=0.0)
        assert (best[: best.index(EOS)] if EOS in best else best) == written


def test_a_wider_beam_finds_what_is_at_least_as_likely() -> None:
    model = built()

    def log_p(row: int, symbols: list[int]) -> float:
        whole = model(SOURCE[row : row + 1], torch.tensor([[BOS, *symbols]])).log_softmax(-1)[0]
        ended = symbols if len(symbols) == 6 else [*symbols, EOS]
        return sum(whole[t, symbol].item() for t, symbol in enumerate(ended))

    one = model.generate(SOURCE, bos=BOS, eos=EOS, max_len=6)
    wide = model.generate(SOURCE, bos=BOS, eos=EOS, max_len=6, width=40, alpha=0.0)
    for row in range(3):
        assert log_p(row, wide[row]) >= log_p(row, one[row]) - 1e-9


@pytest.mark.parametrize("width", [1, 3])
def test_each_row_has_its_own_limit_and_the_mode_is_restored(width: int) -> None:
    model = built()
    model.train()
    alone = [
        model.generate(SOURCE[i : i + 1], bos=BOS, eos=EOS, max_len=limit, width=width)[0]
        for i, limit in enumerate((7, 0, 3))
    ]
    limits = torch.tensor([7, 0, 3])
    assert model.generate(SOURCE, bos=BOS, eos=EOS, max_len=limits, width=width) == alone
    assert alone[1] == []
    assert model.training


def test_a_mode_is_restored_after_an_error_too() -> None:
    model = built()
    model.train()
    with pytest.raises(ValueError, match="31 positions, but the model has only 30"):
        model.generate(torch.ones(1, 31).long(), bos=BOS, eos=EOS, max_len=3)
    assert model.training


@pytest.mark.parametrize(
    ("size", "changes", "count"),
    [
        ("base", {}, 63_082_496),
        ("big", {}, 214_245_376),
        ("big", {"d_ff": 2048}, 163_889_152),
        ("base", {"norm": "pre"}, 63_084_544),
        ("base", {"tie": "output"}, 82_026_496),
        ("base", {"tie": "none"}, 100_970_496),
    ],
)
def test_sizes_are_the_papers(size: str, changes: dict[str, object], count: int) -> None:
    cfg = TransformerConfig.of_size(size, 37_000, **changes)
    with torch.device("meta"):
        model = Transformer(cfg)
    assert sum(parameter.numel() for parameter in model.parameters()) == count


def test_tables_are_tied_as_the_config_says() -> None:
    none, output = Transformer(replace(CFG, tie="none")), Transformer(CFG)
    every = Transformer(replace(CFG, tie="all", source_vocab=11))
    assert none.head.weight is not none.target_embedding.weight
    assert output.head.weight is output.target_embedding.weight
    assert output.source_embedding.weight is not output.target_embedding.weight
    assert every.source_embedding.weight is every.head.weight is every.target_embedding.weight


def test_a_fresh_model_finds_all_symbols_about_equally_likely() -> None:
    torch.manual_seed(0)
    model = Transformer(replace(CFG, tie="none", d_model=48, target_vocab=37))
    loss = nn.functional.cross_entropy(model(SOURCE, INPUTS).flatten(0, 1), INPUTS.flatten())
    assert abs(loss.item() - math.log(37)) < 0.1
    assert not torch.equal(
        model.encoder[0].self_attention.q_proj.weight, model.encoder[1].self_attention.q_proj.weight
    )


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(ValueError, match="not 'middle'"):
        Transformer(replace(CFG, norm="middle"))
    model = built()
    _, state = model.step(INPUTS[:, 0], model.encode(SOURCE))
    with pytest.raises(ValueError, match="one symbol at a time, not 2"):
        model.decode(INPUTS[:, 1:3], state)
