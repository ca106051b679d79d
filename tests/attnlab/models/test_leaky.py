"""The six models are the same at each call; ``test_causality.py`` examines them with probes."""

from __future__ import annotations

import torch

from attnlab.models import leaky


def test_each_call_makes_the_same_models_again() -> None:
    ids = torch.arange(12).view(2, 6) % leaky.VOCAB
    first, second = leaky.models(), leaky.models()
    assert [*first] == list("ABCDEF")
    for name, model in first.items():
        assert model is not second[name]
        out = model(ids)
        assert (out.shape, out.dtype) == ((2, 6, leaky.WIDTH), torch.float64)
        assert torch.equal(out, second[name](ids)), name
        assert model.training


def test_a_query_without_allowed_keys_gets_zeros() -> None:
    q, v = torch.ones(1, 2, 4), torch.ones(1, 2, 6)
    allowed = torch.tensor([[[False, False], [True, True]]])
    assert leaky.attend(q, q, v, allowed).tolist() == [[[0.0] * 6, [1.0] * 6]]
