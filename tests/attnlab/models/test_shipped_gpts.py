"""A small GPT comes back from its file as it was written, to the precision of float16."""

from __future__ import annotations

import torch
from safetensors.torch import load_file

from attnlab.gpt import GPT, GPTConfig, init_gpt
from attnlab.models.shipped_gpts import load_gpt, save_gpt

CONFIG = GPTConfig(11, context=6, d_model=8, num_heads=2, num_layers=1)


def test_the_model_comes_back(tmp_path):
    model, file = GPT(CONFIG).eval(), tmp_path / "gpt.safetensors"
    init_gpt(model, generator=torch.Generator().manual_seed(0))
    save_gpt(model, file)
    loaded = load_gpt(CONFIG, file)
    ids = torch.arange(12).reshape(2, 6) % 11
    torch.testing.assert_close(loaded(ids)[0], model(ids)[0], rtol=0, atol=1e-3)
    assert not loaded.training
    assert loaded.head.weight is loaded.tokens.weight
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}


def test_the_tied_table_is_stored_once_and_beside_it_what_the_caller_adds(tmp_path):
    model, file = GPT(CONFIG), tmp_path / "gpt.safetensors"
    save_gpt(model, file, merges=torch.tensor([[1, 2]]))
    stored = load_file(file)
    assert set(model.state_dict()) - set(stored) == {"head.weight"}
    assert stored["merges"].tolist() == [[1, 2]]
    assert stored["tokens.weight"].dtype == torch.float16
    load_gpt(CONFIG, file)
