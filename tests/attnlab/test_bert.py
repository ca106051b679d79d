"""BERT: held to torch's own layers, to the published sizes, and to what padding may change."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.bert import Bert, BertConfig, count_bert_params

CFG = BertConfig(vocab_size=13, d_model=12, num_heads=3, d_ff=20, num_layers=2, max_len=9)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model():
    """A small model in float64 whose weights are large enough for every part to matter."""
    model = Bert(CFG).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=seeded(parameter.numel()))
    return model.eval()


def tokens(*shape, seed=0):
    return torch.randint(CFG.vocab_size, shape, generator=seeded(seed))


@pytest.mark.parametrize(
    ("name", "heads", "millions"),
    [
        ("base", False, 109.48),
        ("large", False, 335.14),
        ("base", True, 110.11),
        ("large", True, 336.23),
    ],
)
def test_the_papers_sizes_have_the_known_numbers_of_parameters(name, heads, millions):
    cfg = BertConfig.of_size(name)
    with torch.device("meta"):
        model = Bert(cfg)
    assert count_bert_params(cfg) == sum(p.numel() for p in model.parameters())
    assert round(count_bert_params(cfg, heads=heads) / 1e6, 2) == millions


def test_an_unknown_size_is_refused():
    with pytest.raises(ValueError, match="the sizes are base and large, not 'huge'"):
        BertConfig.of_size("huge")


def test_a_layer_computes_what_torchs_layer_does(model):
    layer = model.layers[0]
    theirs = nn.TransformerEncoderLayer(
        CFG.d_model, CFG.num_heads, CFG.d_ff, dropout=0.0, batch_first=True, norm_first=False,
        activation="gelu", layer_norm_eps=1e-12, dtype=torch.float64,
    )  # fmt: skip
    mha = layer.attention
    parts = (mha.q_proj, mha.k_proj, mha.v_proj)
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([part.weight for part in parts]),
            "self_attn.in_proj_bias": torch.cat([part.bias for part in parts]),
            **{f"self_attn.out_proj.{k}": v for k, v in mha.out_proj.state_dict().items()},
            **{
                f"{name}.{k}": v
                for name in ("linear1", "linear2", "norm1", "norm2")
                for k, v in getattr(layer, name).state_dict().items()
            },
        }
    )
    x = torch.randn(2, 5, CFG.d_model, generator=seeded(), dtype=torch.float64)
    torch.testing.assert_close(layer(x), theirs(x), rtol=0, atol=1e-12)


def test_every_token_sees_every_other(model):
    ids = tokens(1, 6)
    before = model(ids).hidden
    for j in range(6):
        other = ids.clone()
        other[0, j] = (ids[0, j] + 1) % CFG.vocab_size
        changed = (model(other).hidden - before).abs().amax(-1)[0]
        assert (changed > 1e-6).all()


def test_filling_up_a_row_changes_nothing(model):
    ids, segments = tokens(2, 5), torch.tensor([[0, 0, 1, 1, 1]]).expand(2, -1)
    alone = model(ids, segments)
    for filling in (0, 7):
        filled = torch.cat((ids, torch.full((2, 3), filling)), 1)
        longer = torch.cat((segments, torch.zeros(2, 3, dtype=torch.int64)), 1)
        valid = (torch.arange(8) < 5).expand(2, -1)
        out = model(filled, longer, valid)
        torch.testing.assert_close(out.hidden[:, :5], alone.hidden, rtol=0, atol=1e-12)
        torch.testing.assert_close(out.mlm_logits[:, :5], alone.mlm_logits, rtol=0, atol=1e-12)
        torch.testing.assert_close(out.nsp_logits, alone.nsp_logits, rtol=0, atol=1e-12)


def test_segments_matter_and_are_zeros_if_not_given(model):
    ids = tokens(2, 4)
    zeros = torch.zeros_like(ids)
    assert model(ids).hidden.equal(model(ids, zeros).hidden)
    assert not torch.allclose(model(ids).hidden, model(ids, zeros + 1).hidden)


def test_the_heads_by_hand(model):
    out = model(tokens(2, 4))
    pooled = torch.tanh(out.hidden[:, 0] @ model.pooler.weight.T + model.pooler.bias)
    expected = pooled @ model.nsp_head.weight.T + model.nsp_head.bias
    torch.testing.assert_close(out.nsp_logits, expected, rtol=0, atol=1e-12)
    head = model.mlm_head
    x = head.transform(out.hidden)
    x = x * 0.5 * (1 + torch.erf(x / 2**0.5))
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-12).sqrt()
    expected = (x * head.norm.weight + head.norm.bias) @ model.tokens.weight.T + head.output.bias
    torch.testing.assert_close(out.mlm_logits, expected, rtol=0, atol=1e-9)
    assert head.output.weight is model.tokens.weight


def test_more_tokens_than_places_are_refused(model):
    with pytest.raises(ValueError, match="10 tokens, but the model reads only 9"):
        model(tokens(1, 10))
