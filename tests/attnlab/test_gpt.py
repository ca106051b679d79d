"""GPT: held to torch's own layers, and its cache to the model without one."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnlab.causality import leaks
from attnlab.gpt import GPT, SIZES, GPTConfig, init_gpt

CFG = GPTConfig(vocab_size=13, context=16, d_model=12, num_heads=3, num_layers=2)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model():
    """A small model in float64 whose weights are large enough for every part to matter."""
    model = GPT(CFG).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=seeded(parameter.numel()))
    return model.eval()


def tokens(*shape, seed=0):
    return torch.randint(CFG.vocab_size, shape, generator=seeded(seed))


def test_an_unknown_size_is_refused():
    with pytest.raises(ValueError, match="the sizes are gpt2, gpt2-medium"):
        GPTConfig.of_size("gpt3")
    assert GPTConfig.of_size("gpt2", dropout=0.1).dropout == 0.1
    assert set(SIZES) == {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"}


def test_a_block_computes_what_torchs_layer_does(model):
    block = model.blocks[0]
    theirs = nn.TransformerEncoderLayer(
        CFG.d_model, CFG.num_heads, 4 * CFG.d_model, dropout=0.0, batch_first=True,
        norm_first=True, activation=lambda x: F.gelu(x, approximate="tanh"), dtype=torch.float64,
    )  # fmt: skip
    mha = block.attention
    parts = (mha.q_proj, mha.k_proj, mha.v_proj)
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([part.weight for part in parts]),
            "self_attn.in_proj_bias": torch.cat([part.bias for part in parts]),
            **{f"self_attn.out_proj.{k}": v for k, v in mha.out_proj.state_dict().items()},
            **{
                f"{name}.{k}": v
                for name in ("linear1", "linear2", "norm1", "norm2")
                for k, v in getattr(block, name).state_dict().items()
            },
        }
    )
    x = torch.randn(2, 5, CFG.d_model, generator=seeded(), dtype=torch.float64)
    forbidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected = theirs(x, src_mask=forbidden)
    torch.testing.assert_close(block(x)[0], expected, rtol=0, atol=1e-12)


def test_no_token_sees_a_later_one(model):
    assert leaks(lambda ids: model(ids).logits, 9, CFG.vocab_size) == []


@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 3, 1], [1, 8], [8, 1], [9]])
def test_reading_in_parts_gives_the_same_logits(model, cuts):
    ids = tokens(2, 9)
    state, parts = None, []
    for part in ids.split(cuts, 1):
        logits, state = model(part, state)
        parts.append(logits)
    torch.testing.assert_close(torch.cat(parts, 1), model(ids).logits, rtol=0, atol=1e-9)


def test_a_state_can_be_continued_more_than_once(model):
    _, state = model(tokens(1, 4))
    first = model(tokens(1, 2, seed=1), state).logits
    model(tokens(1, 3, seed=2), state)
    assert model(tokens(1, 2, seed=1), state).logits.equal(first)
    assert state.length == 4


def test_rows_of_a_state_can_be_chosen(model):
    ids = tokens(3, 4)
    rows = torch.tensor([2, 0, 2])
    more = tokens(3, 2, seed=1)
    chosen = model(more, model(ids)[1].select(rows)).logits
    expected = model(torch.cat((ids[rows], more), 1)).logits[:, 4:]
    torch.testing.assert_close(chosen, expected, rtol=0, atol=1e-9)


def padded(rows):
    """Prompts of different lengths, filled up on the left with token 5, and which are valid."""
    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), 5)
    valid = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, longest - len(row) :] = row
        valid[i, longest - len(row) :] = True
    return ids, valid


def test_logits_of_a_filled_batch_are_those_of_each_row_alone(model):
    rows = [tokens(n, seed=n) for n in (5, 2, 1)]
    ids, valid = padded(rows)
    _, state = model(ids, valid=valid)
    more = tokens(3, 3, seed=9)
    together = model(more, state).logits
    for row, added, logits in zip(rows, more, together, strict=True):
        alone = model(torch.cat((row, added))[None]).logits[0, len(row) :]
        torch.testing.assert_close(logits, alone, rtol=0, atol=1e-9)


def test_more_tokens_than_the_context_are_refused(model):
    with pytest.raises(ValueError, match="17 tokens, but the model reads only 16"):
        model(tokens(1, 17))
    _, state = model(tokens(1, 16))
    with pytest.raises(ValueError, match="17 tokens"):
        model(tokens(1, 1), state)


def test_the_last_logits_alone(model):
    ids = tokens(2, 5)
    last = model(ids, last_only=True).logits
    torch.testing.assert_close(last, model(ids).logits[:, -1:], rtol=0, atol=1e-12)


def test_initial_weights_are_gpt2s():
    cfg = GPTConfig(vocab_size=500, context=50, d_model=64, num_heads=4, num_layers=8)
    model = GPT(cfg)
    state = torch.get_rng_state()
    init_gpt(model, generator=seeded())
    assert torch.get_rng_state().equal(state)
    branch = 0.02 / math.sqrt(2 * 8)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            is_branch = name.endswith(("out_proj.weight", "linear2.weight"))
            expected = branch if is_branch else 0.02
            assert parameter.std().item() == pytest.approx(expected, rel=0.1), name


def test_a_fresh_model_knows_nothing():
    cfg = GPTConfig(vocab_size=200, context=16, d_model=64, num_heads=4, num_layers=4)
    model = GPT(cfg)
    init_gpt(model, generator=seeded())
    ids = torch.randint(200, (8, 16), generator=seeded())
    loss = F.cross_entropy(model(ids).logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    assert loss.item() == pytest.approx(math.log(200), abs=0.1)


def test_token_table_and_head_are_one():
    model = GPT(CFG)
    assert model.head.weight is model.tokens.weight
