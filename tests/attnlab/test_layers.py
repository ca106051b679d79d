"""Layers against torch's own, and at the places where right code is easily wrong."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnlab.layers import FeedForward, LayerNorm, Residual, RMSNorm


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(module: nn.Module) -> nn.Module:
    module.double()
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            parameter.copy_(random(*parameter.shape, seed=seed + 1))
    return module


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_layer_norm_is_torchs(scale: float) -> None:
    ours = filled(LayerNorm(7))
    theirs = nn.LayerNorm(7).double()
    theirs.load_state_dict(ours.state_dict())
    mine, other = (scale * random(3, 4, 7)).requires_grad_(), scale * random(3, 4, 7)
    other.requires_grad_()
    torch.testing.assert_close(ours(mine), theirs(other), atol=1e-11, rtol=1e-11)
    for model, x in ((ours, mine), (theirs, other)):
        (model(x) * random(3, 4, 7, seed=9)).sum().backward()
    torch.testing.assert_close(mine.grad, other.grad)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)


def test_a_constant_vector_gives_the_bias_with_a_finite_gradient() -> None:
    ours = filled(LayerNorm(6))
    x = torch.full((2, 6), 3.0, dtype=torch.float64, requires_grad=True)
    out = ours(x)
    torch.testing.assert_close(out, ours.bias.expand(2, 6))
    out.square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    torch.testing.assert_close(filled(LayerNorm(1))(random(4, 1)), random(1, seed=2).expand(4, 1))


def test_without_eps_equal_numbers_are_nan() -> None:
    row = torch.full((4,), 3.0)
    assert ((row - row.mean()) / row.std(unbiased=False)).isnan().all()


def test_scale_1e_3_tells_where_eps_is_and_scale_1e3_does_not() -> None:
    def wrong(x: Tensor) -> Tensor:
        deviation = x - x.mean(-1, keepdim=True)
        return deviation / (x.var(-1, keepdim=True, unbiased=False).sqrt() + 1e-5)

    off = {s: (wrong(s * random(5, 7)) - LayerNorm(7).double()(s * random(5, 7))).abs().max()
           for s in (1e-3, 1.0, 1e3)}  # fmt: skip
    assert off[1e-3] > 0.5
    assert 1e-6 < off[1.0] < 1e-4
    assert off[1e3] < 1e-7


def test_float32_is_accurate_far_from_zero_and_the_other_formula_is_not() -> None:
    x = (1e4 + random(40, 64)).float()
    right = nn.functional.layer_norm(x.double(), (64,))
    assert (LayerNorm(64)(x) - right).abs().max() < 1e-2
    variance = x.square().mean(-1) - x.mean(-1).square()
    other = (x - x.mean(-1, keepdim=True)) / (variance[:, None] + 1e-5).sqrt()
    assert not (other - right).abs().max() < 1
    half = (300 + 10 * random(8, 16)).half()
    assert half.square().isinf().any()
    assert (
        LayerNorm(16).half()(half) - nn.functional.layer_norm(half.double(), (16,))
    ).abs().max() < 0.03


def test_rms_norm_is_torchs() -> None:
    ours, theirs = filled(RMSNorm(7)), nn.RMSNorm(7, eps=1e-5).double()
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(random(3, 4, 7) + 2), theirs(random(3, 4, 7) + 2))
    assert not ours(torch.zeros(2, 7).double()).any()


def test_feed_forward_is_torchs_two_linear_layers() -> None:
    ours = filled(FeedForward(5, 8))
    theirs = nn.TransformerEncoderLayer(5, 1, 8, dropout=0.0, batch_first=True).double()
    theirs.load_state_dict(ours.state_dict(), strict=False)
    x = random(2, 4, 5)
    torch.testing.assert_close(ours(x), theirs.linear2(theirs.linear1(x).relu()))
    assert [name for name, _ in ours.named_parameters()] == [
        "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"
    ]  # fmt: skip


def test_feed_forward_sees_one_position_at_a_time() -> None:
    ours, x = filled(FeedForward(5, 8)), random(1, 5, 5)
    changed = x.clone()
    changed[0, 2] += 1
    assert (ours(changed) != ours(x)).any(-1)[0].tolist() == [False, False, True, False, False]


def test_feed_forward_has_two_thirds_of_an_encoder_layers_parameters() -> None:
    d = 64
    layer = nn.TransformerEncoderLayer(d, 4, 4 * d)
    share = sum(p.numel() for p in FeedForward(d, 4 * d).parameters()) / sum(
        p.numel() for p in layer.parameters()
    )
    assert share == pytest.approx(2 / 3, abs=0.01)


def test_dropout_is_after_the_relu_alone() -> None:
    ours = FeedForward(5, 8, dropout=1.0)
    torch.testing.assert_close(ours(torch.randn(3, 5)), ours.linear2.bias.expand(3, 5))


@pytest.mark.parametrize("mode", ["pre", "post"])
def test_residual_is_the_formula(mode: str) -> None:
    ours, x = filled(Residual(7, mode=mode)), random(2, 5, 7)  # type: ignore[arg-type]

    def sublayer(y: Tensor) -> Tensor:
        return 2 * y.roll(1, -1) + 1

    right = x + sublayer(ours.norm(x)) if mode == "pre" else ours.norm(x + sublayer(x))
    torch.testing.assert_close(ours(x, sublayer), right)


def test_a_sublayer_of_zeros_lets_x_through_in_pre_norm() -> None:
    x = random(2, 5, 7)
    assert torch.equal(filled(Residual(7))(x, torch.zeros_like), x)
    post = filled(Residual(7, mode="post"))
    torch.testing.assert_close(post(x, torch.zeros_like), post.norm(x))
    assert torch.equal(Residual(7, dropout=1.0).double()(x, lambda y: y), x)


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(ValueError, match="'Pre'"):
        Residual(7, mode="Pre")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda: LayerNorm(7), lambda: RMSNorm(7),
                                  lambda: FeedForward(7, 9), lambda: Residual(7)])  # fmt: skip
def test_modules_follow_dtype_and_device(make: object) -> None:
    module = make()  # type: ignore[operator]
    assert all(p.dtype == torch.bfloat16 for p in module.bfloat16().parameters())
    with torch.device("meta"):
        assert all(p.is_meta for p in make().parameters())  # type: ignore[operator]
