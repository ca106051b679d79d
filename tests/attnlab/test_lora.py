"""LoRA: nothing changes at first, only the factors are trained, and both merge into one layer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.lora import LoRALinear


@pytest.mark.parametrize("bias", [True, False])
def test_a_trained_correction_merges_into_one_layer(bias: bool) -> None:
    torch.manual_seed(0)
    base, x = nn.Linear(6, 4, bias=bias), torch.randn(3, 6)
    layer, then = LoRALinear(base, 2, alpha=4.0), base(x).detach()
    torch.testing.assert_close(layer(x), then)
    optimizer = torch.optim.SGD((p for p in layer.parameters() if p.requires_grad), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(x).square().sum().backward()
        optimizer.step()
    torch.testing.assert_close(base(x), then)
    assert float((layer(x) - then).detach().abs().max()) > 0.01
    one = layer.merged()
    torch.testing.assert_close(one(x), layer(x))
    assert one.weight.requires_grad
    assert not base.weight.requires_grad
