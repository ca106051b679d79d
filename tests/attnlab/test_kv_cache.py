"""Reading and writing with a cache: held to the model that reads the whole text at once."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from attnlab.gpt import GPT, GPTConfig
from attnlab.kv_cache import cached_attention, generate, positions_and_mask, read_on
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


def tokens(*shape):
    return torch.randint(CFG.vocab_size, shape, generator=random)


@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 3, 1], [9]])
def test_reading_in_parts_gives_the_same_logits(model, cuts):
    ids = tokens(2, 9)
    kept, parts, done = None, [], 0
    for part in ids.split(cuts, 1):
        done += part.shape[1]
        valid = torch.ones(2, done, dtype=torch.bool)
        logits, kept = read_on(model, part, kept, valid, positions_and_mask, cached_attention)
        parts.append(logits)
    torch.testing.assert_close(torch.cat(parts, 1), model(ids).logits, rtol=0, atol=1e-9)


def test_a_text_in_a_filled_batch_is_read_as_alone(model):
    ids = tokens(2, 7)
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


def read_again(model, ids, new):
    """The likeliest tokens, each from reading the whole text so far."""
    for _ in range(new):
        ids = torch.cat((ids, model(ids).logits[:, -1:].argmax(-1)), 1)
    return ids[:, -new:]


def test_a_prompt_in_a_filled_batch_is_continued_as_alone(model):
    rows = [tokens(n) for n in (5, 2, 1)]
    ids = pad_sequence(rows, True, 5, padding_side="left")  # token 5 is an ordinary one, too
    valid = pad_sequence([torch.ones_like(row).bool() for row in rows], True, padding_side="left")
    together = generate(model, ids, 6, valid=valid, temperature=0)
    for row, written in zip(rows, together, strict=True):
        assert written.equal(read_again(model, row[None], 6)[0])


def test_each_step_with_a_cache_reads_one_token(model):
    prompt, read = tokens(2, 3), []
    hook = model.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[1]))
    first = generate(model, prompt, 5, temperature=0)
    hook.remove()
    assert read == [3, 1, 1, 1, 1]
    assert first.equal(read_again(model, prompt, 5))


def test_after_the_end_a_row_writes_the_end(model):
    prompt = tokens(4, 3)
    free = generate(model, prompt, 8, generator=torch.Generator().manual_seed(1))
    eos = int(free[0, 2])
    ended = generate(model, prompt, 8, eos=eos, generator=torch.Generator().manual_seed(1))
    for before, after in zip(free.tolist(), ended.tolist(), strict=True):
        at = before.index(eos) if eos in before else len(before)
        assert after == before[:at] + [eos] * (8 - at)


@pytest.mark.parametrize("training", [True, False])
def test_generation_restores_the_mode_and_keeps_no_gradients(model, training):
    model.train(training)
    try:
        assert not generate(model, tokens(1, 1), 2).requires_grad
        assert model.training == training
        with pytest.raises(ValueError, match="above 0"):
            generate(model, tokens(1, 1), 2, top_p=0.0)
        assert model.training == training
    finally:
        model.eval()


def test_nothing_new_and_too_much_of_it(model):
    assert generate(model, tokens(2, 3), 0).shape == (2, 0)
    assert generate(model, tokens(1, 9), 7).shape == (1, 7)
    with pytest.raises(ValueError, match="17 tokens, but the model reads only 16"):
        generate(model, tokens(1, 10), 7)
