"""torch's own multi-head attention with the weights of another layer gives the same results."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.checking.torch_attention import spellings, torch_equivalent
from attnlab.checking.weights import MissingWeightError
from attnlab.multihead import MultiHeadAttention


@pytest.mark.parametrize("sizes", [(10, 3, 4, 5), (7, 2, 5, 1), (20, 2, 3, 4), (9, 1, 4, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_torchs_layer_returns_the_same_results(sizes: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(1)
    d_model, heads, *_ = sizes
    layer = MultiHeadAttention(*sizes, bias=bias).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    attend = torch_equivalent(layer, *sizes, bias=bias)
    q, k, v = (torch.randn(2, n, d_model, dtype=torch.float64) for n in (3, 5, 5))
    mask = torch.rand(2, heads, 3, 5) < 0.5
    mask[..., 1] = True
    for allowed in (None, mask, mask[:, :1], mask[:, :1, :1], mask[0, 0]):
        out, weights = layer(q, k, v, allowed, need_weights=True)
        torchs_out, torchs_weights = attend(q, k, v, allowed)
        torch.testing.assert_close(out, torchs_out)
        torch.testing.assert_close(weights, torchs_weights)


def test_a_layer_without_a_weight_is_named() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5)
    del layer.k_proj
    with pytest.raises(MissingWeightError, match=r"k_proj\.weight"):
        torch_equivalent(layer, 10, 3, 4, 5)


def test_a_prefix_comes_before_every_name() -> None:
    plain, inside = spellings(), spellings("attention.")
    assert inside["attention.q_proj.weight"] == tuple(
        f"attention.{name}" for name in plain["q_proj.weight"]
    )


class Fused(nn.Module):
    """A layer with one matrix for queries, keys and values."""

    def __init__(self, layer: MultiHeadAttention) -> None:
        super().__init__()
        inputs = (layer.q_proj, layer.k_proj, layer.v_proj)
        self.qkv = nn.Linear(10, 39, bias=False)
        self.out = nn.Linear(15, 10, bias=False)
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([projection.weight for projection in inputs]))
            self.out.weight.copy_(layer.out_proj.weight)


def test_a_fused_layer_is_found_under_its_usual_names() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5, bias=False)
    x = torch.randn(2, 6, 10)
    out, _ = torch_equivalent(Fused(layer), 10, 3, 4, 5, bias=False)(x, x, x)
    torch.testing.assert_close(out, layer(x, x, x))


def test_a_query_without_allowed_keys_gets_nan_from_torch() -> None:
    layer, x = MultiHeadAttention(10, 3, d_k=4, d_v=5), torch.randn(1, 2, 10)
    out, _ = torch_equivalent(layer, 10, 3, 4, 5)(x, x, x, torch.ones(2, 2).bool().tril(-1))
    assert bool(out[0, 0].isnan().all())
    assert bool(out[0, 1].isfinite().all())
