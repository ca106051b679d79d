"""Adam, held to torch's; the limit of gradients; learning rates and their landmarks."""

from __future__ import annotations

import copy
import math
from itertools import pairwise, product

import pytest
import torch
from torch import nn

from attnlab.optimizers import Adam, clip_global_norm, fused_adamw, noam, rate_factor

OPTIONS = list(product((1e-8, 1e-3, 0.1), (0.0, 0.1), (False, True)))


def parameters(scale: float) -> list[nn.Parameter]:
    """Four parameters: one never has a gradient, one gets its first at update 3, one has zeros."""
    draw = torch.Generator().manual_seed(3)
    shapes = ((3, 4), (5,), (2, 2), ())
    return [
        nn.Parameter(torch.randn(shape, generator=draw, dtype=torch.float64)) for shape in shapes
    ]


def run(optimizer: torch.optim.Optimizer, made: list[nn.Parameter], scale: float, first: int = 1):
    """Six updates with the same random gradients for every optimiser."""
    for step in range(first, 7):
        draw = torch.Generator().manual_seed(step)
        for place, parameter in enumerate(made):
            grad = scale * torch.randn(parameter.shape, generator=draw, dtype=torch.float64)
            late = place == 1 and step < 3
            parameter.grad = None if place == 3 or late else grad * (place != 2)
        before = [None if p.grad is None else p.grad.clone() for p in made]
        optimizer.step()
        for parameter, grad in zip(made, before, strict=True):
            assert grad is None or torch.equal(parameter.grad, grad)


@pytest.mark.parametrize(("eps", "decay", "decoupled"), OPTIONS)
@pytest.mark.parametrize("scale", [1e-6, 1.0])
def test_six_updates_are_those_of_torch(eps, decay, decoupled, scale) -> None:
    ours, theirs = parameters(scale), parameters(scale)
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    groups = [[{"params": p[:2], "lr": 0.05}, {"params": p[2:]}] for p in (ours, theirs)]
    mine = Adam(groups[0], 0.1, (0.8, 0.95), eps, decay, decoupled)
    run(mine, ours, scale)
    run(kind(groups[1], 0.1, (0.8, 0.95), eps, decay), theirs, scale)
    for found, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
    assert ours[3] not in mine.state


def test_the_first_update_moves_each_weight_by_lr_whatever_the_gradient() -> None:
    parameter = nn.Parameter(torch.tensor([1.0, 1.0, 1.0]))
    parameter.grad = torch.tensor([1e-3, -5.0, 0.0])
    same = parameter.data.data_ptr()
    Adam([parameter], lr=0.1).step()
    torch.testing.assert_close(parameter.data, torch.tensor([0.9, 1.1, 1.0]))
    assert parameter.data.data_ptr() == same


@pytest.mark.parametrize("there", [True, False])
def test_the_state_can_be_loaded_into_torchs_adam_and_back(there: bool) -> None:
    made, other = parameters(1.0), parameters(1.0)
    kinds = (Adam, torch.optim.Adam) if there else (torch.optim.Adam, Adam)
    first = kinds[0](made, lr=0.1)
    run(first, made, 1.0)
    for target, source in zip(other, made, strict=True):
        target.data.copy_(source.data)
    second = kinds[1](other, lr=0.1)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    run(first, made, 1.0, first=4)
    run(second, other, 1.0, first=4)
    for found, expected in zip(other, made, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


def test_a_closure_is_called_with_gradients_and_its_loss_returned() -> None:
    parameter = nn.Parameter(torch.tensor(2.0))
    optimizer = Adam([parameter], lr=0.1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = parameter**2
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 4
    assert parameter.item() == pytest.approx(1.9)


def clipped(max_norm: float, *values: list[float] | None) -> tuple[float, list]:
    made = [nn.Parameter(torch.zeros(len(v or [0.0]))) for v in values]
    for parameter, value in zip(made, values, strict=True):
        parameter.grad = None if value is None else torch.tensor(value)
    grads = [p.grad for p in made]
    norm = clip_global_norm(iter(made), max_norm)
    assert all(p.grad is grad for p, grad in zip(made, grads, strict=True))
    return norm.item(), [None if g is None else g.tolist() for g in grads]


def test_gradients_are_measured_together_and_scaled_alike() -> None:
    norm, grads = clipped(6.5, [3.0, 4.0], None, [12.0])
    assert (norm, grads) == (13.0, [[1.5, 2.0], None, [6.0]])


@pytest.mark.parametrize("max_norm", [13.0, 13.1, math.inf])
def test_gradients_within_the_limit_stay_bit_for_bit(max_norm: float) -> None:
    assert clipped(max_norm, [3.0, 4.0], [12.0]) == (13.0, [[3.0, 4.0], [12.0]])


def test_zero_missing_and_infinite_gradients() -> None:
    assert clipped(1.0, [0.0, 0.0]) == (0.0, [[0.0, 0.0]])
    assert clipped(1.0, None) == (0.0, [None])
    assert clipped(1.0, [math.inf])[0] == math.inf


def test_noam_has_the_papers_landmarks() -> None:
    assert noam(1, 512, 4000) == pytest.approx(1.747e-7, rel=1e-3)
    assert noam(4000, 512, 4000) == pytest.approx(6.988e-4, rel=1e-3)
    assert noam(100_000, 512, 4000) == pytest.approx(1.398e-4, rel=1e-3)
    assert noam(7, 64, 5, factor=3) == pytest.approx(3 * 64**-0.5 * 7**-0.5)
    rates = [noam(step, 512, 40) for step in range(1, 200)]
    assert rates.index(max(rates)) == 39
    with pytest.raises(ValueError, match="number 0"):
        noam(0, 512, 4000)


def test_every_schedule_rises_in_a_line_and_is_highest_at_the_end_of_warm_up() -> None:
    for schedule in ("noam", "cosine", "one-cycle", "constant"):
        rates = [rate_factor(schedule, step, 100, 20) for step in range(1, 101)]
        assert rates[:20] == pytest.approx([step / 20 for step in range(1, 21)])
        assert all(later <= earlier for earlier, later in pairwise(rates[19:]))
        assert min(rates) > 0
        assert rate_factor(schedule, 1, 1, 0) == 1
    assert rate_factor("noam", 80, 100, 20) == pytest.approx(0.5)
    assert rate_factor("constant", 100, 100, 20) == 1
    assert rate_factor("cosine", 100, 100, 20) < 0.001
    assert rate_factor("one-cycle", 30, 100, 0) == 1
    assert rate_factor("one-cycle", 15, 100, 0) == 0.5
    assert rate_factor("cosine", 500, 100, 20) == 0  # beyond the end it does not rise again
    with pytest.raises(ValueError, match="not 'linear'"):
        rate_factor("linear", 1, 100, 20)


def test_fused_adamw_decays_matrices_only_and_equals_ours() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    model.bias.requires_grad_(True)
    mine = [nn.Parameter(p.detach().clone()) for p in model.parameters()]
    theirs = fused_adamw(model, 0.1, weight_decay=0.5)
    groups = [{"params": mine[:1], "weight_decay": 0.5}, {"params": mine[1:]}]
    ours = Adam(groups, 0.1, (0.9, 0.98), 1e-9, decoupled_weight_decay=True)
    for seed in range(3):
        draw = torch.Generator().manual_seed(seed)
        for p, q in zip(model.parameters(), mine, strict=True):
            p.grad = torch.randn(p.shape, generator=draw)
            q.grad = p.grad.clone()
        theirs.step()
        ours.step()
    for p, q in zip(model.parameters(), mine, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-6, atol=1e-7)
