"""Reading with a cache: held to the model that reads the whole text at once."""

from __future__ import annotations

import pytest
import torch

from attnlab.gpt import GPT, GPTConfig
from attnlab.kv_cache import cached_attention, positions_and_mask, read_on
from attnlab.multihead import MultiHeadAttention

CFG = GPTConfig(vocab_size=13, context=16, d_model=12, num_heads=3, num_layers=2)
random = torch.Generator().manual_seed(0)


@pytest.fixture(scope="module")
def model():
    made = GPT(CFG).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0, 0.7, generator=random)
    return made


@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 3, 1], [9]])
def test_reading_in_parts_gives_the_same_logits(model, cuts):
    ids = torch.randint(CFG.vocab_size, (2, 9), generator=random)
    kept, parts, done = None, [], 0
    for part in ids.split(cuts, 1):
        done += part.shape[1]
        valid = torch.ones(2, done, dtype=torch.bool)
        logits, kept = read_on(model, part, kept, valid, positions_and_mask, cached_attention)
        parts.append(logits)
    torch.testing.assert_close(torch.cat(parts, 1), model(ids).logits, rtol=0, atol=1e-9)


def test_a_text_in_a_filled_batch_is_read_as_alone(model):
    ids = torch.randint(CFG.vocab_size, (2, 7), generator=random)
    valid = torch.ones(2, 7, dtype=torch.bool)
    valid[0, :4] = False
    parts = (positions_and_mask, cached_attention)
    _, kept = read_on(model, ids[:, :5], None, valid[:, :5], *parts)
    logits, _ = read_on(model, ids[:, 5:], kept, valid, *parts)
    for row, start in ((0, 4), (1, 0)):
        alone = model(ids[row : row + 1, start:]).logits[0, -2:]
        torch.testing.assert_close(logits[row], alone, rtol=0, atol=1e-9)


def test_positions_and_mask_of_two_new_tokens():
    valid = torch.tensor([[False, False, True, True], [True, True, True, True]])
    positions, mask = positions_and_mask(valid, 2)
    assert positions.tolist() == [[0, 1], [2, 3]]
    assert mask.shape == (2, 1, 2, 4)
    assert mask[:, 0].int().tolist() == [
        [[0, 0, 1, 0], [0, 0, 1, 1]],
        [[1, 1, 1, 0], [1, 1, 1, 1]],
    ]
    assert positions_and_mask(valid, 4)[0].tolist() == [[0, 0, 0, 1], [0, 1, 2, 3]]


def test_what_was_kept_is_not_changed_and_only_new_vectors_are_projected():
    attention = MultiHeadAttention(12, 3).double()
    x = torch.randn(2, 5, 12, generator=random, dtype=torch.float64)
    valid = torch.ones(2, 5, dtype=torch.bool)
    _, past = cached_attention(attention, x[:, :3], None, positions_and_mask(valid[:, :3], 3)[1])
    before = [part.clone() for part in past]
    projected = []
    attention.k_proj.register_forward_hook(lambda _, inputs, out: projected.append(out.shape[1]))
    mask = positions_and_mask(valid, 2)[1]
    out, (k, v) = cached_attention(attention, x[:, 3:], past, mask)
    whole = attention(x, x, x, positions_and_mask(valid, 5)[1])
    torch.testing.assert_close(out, whole[:, 3:], rtol=0, atol=1e-12)
    assert projected[0] == 2
    assert k.shape == v.shape == (2, 3, 5, 4)
    assert all(map(torch.equal, before, past))
