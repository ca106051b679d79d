"""The two instruments of lab 6, and the figures that it states about depth."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.depth import gradient_norms, stream_sizes
from attnlab.layers import FeedForward, Residual
from attnlab.models.block_stack import BlockStack, loss_of, measured, some_input


@pytest.fixture(scope="module")
def figures() -> dict[tuple[str, int], tuple[torch.Tensor, torch.Tensor]]:
    return {
        (mode, depth): measured(mode, depth, Residual, FeedForward, stream_sizes, gradient_norms)
        for mode in ("pre", "post")
        for depth in (2, 12, 24)
    }


def test_norms_are_those_of_backward() -> None:
    blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(3))
    x = torch.randn(5, 4)

    def loss() -> torch.Tensor:
        return blocks[2](blocks[1](blocks[0](x))).square().sum()

    found = gradient_norms(loss(), blocks)
    assert all(parameter.grad is None for parameter in blocks.parameters())
    loss().backward()
    right = [torch.cat([p.grad.flatten() for p in block.parameters()]).norm() for block in blocks]  # type: ignore[union-attr]
    torch.testing.assert_close(found, torch.stack(right))


def test_parts_without_a_gradient_count_as_0() -> None:
    blocks = [nn.Linear(3, 3), nn.Linear(3, 3), nn.ReLU()]
    norms = gradient_norms(blocks[0](torch.randn(2, 3)).sum(), blocks)
    assert norms[0] > 0
    assert norms[1:].tolist() == [0.0, 0.0]


def test_sizes_are_those_of_the_stream() -> None:
    x = torch.tensor([[1.0, 3.0]])
    sizes = stream_sizes(x, [nn.Identity(), nn.ReLU(), nn.Flatten()])
    torch.testing.assert_close(sizes, x.std().expand(4))
    assert not sizes.requires_grad


def test_weights_depend_on_the_seed_alone() -> None:
    torch.manual_seed(1)
    one = BlockStack(2, "pre", Residual, FeedForward, seed=3)
    torch.manual_seed(2)
    other = BlockStack(2, "pre", Residual, FeedForward, seed=3)
    x, symbols = some_input()
    assert torch.equal(loss_of(one, x, symbols), loss_of(other, x, symbols))


def test_the_pre_norm_stream_grows_like_a_root_and_the_post_norm_stream_stays(figures) -> None:  # type: ignore[no-untyped-def]
    sizes = figures["pre", 24][0]
    assert 1.3 < float(sizes[24] / sizes[12]) < 1.7, "twice as deep, about √2 times as large"
    assert 3 < float(sizes[12]) < 4
    assert (figures["post", 24][0] - 1).abs().max() < 0.05


def test_the_last_gradient_falls_with_depth_in_pre_norm_only(figures) -> None:  # type: ignore[no-untyped-def]
    last = {key: float(norms[-1]) for key, (_, norms) in figures.items()}
    assert last["pre", 2] > last["pre", 12] > last["pre", 24]
    assert last["post", 24] > last["post", 2]
    assert 2 < last["post", 12] / last["pre", 12] < 5
    assert 3 < last["post", 12] / last["pre", 12] < 3.5, "the lab says three times"
    assert 4 < last["post", 24] / last["pre", 24] < 5, "the lab says four times"


def test_nothing_vanishes_in_post_norm(figures) -> None:  # type: ignore[no-untyped-def]
    norms = figures["post", 24][1]
    assert float(norms.min() / norms.max()) > 0.2


def test_the_preview_shows_what_was_measured(figures) -> None:  # type: ignore[no-untyped-def]
    from attnlab.plots.positions import _DEPTHS, _RECORDED

    for mode, recorded in _RECORDED.items():
        for depth, norm in zip(_DEPTHS, recorded, strict=True):
            if (mode, depth) in figures:
                assert float(figures[mode, depth][1][-1]) == pytest.approx(norm, abs=0.01)
