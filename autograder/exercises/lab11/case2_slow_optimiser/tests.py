"""Tests of it as students write them: the model test, other right ones, and wrong ones."""

from __future__ import annotations

import torch

from . import case


@case.model_test
def test_adam(impl):
    """Raise an AssertionError if `impl`, called as impl(params, lr, betas, eps), is not Adam."""
    p = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    optimiser = impl([p], lr=0.1, betas=(0.9, 0.999), eps=1e-8)
    p.grad = torch.tensor([3.0, -0.003, 100.0], dtype=torch.float64)
    optimiser.step()
    expected = -0.1 * p.grad.sign()
    assert torch.allclose(p, expected, atol=1e-5), "the first update goes lr against the sign"


@case.find.also_right
def beside_a_trusted_one(impl):
    torch.manual_seed(0)
    start, grads = torch.randn(5), torch.randn(6, 5)
    ends = []
    for kind in (impl, torch.optim.Adam):
        p = torch.nn.Parameter(start.clone())
        optimiser = kind([p], lr=0.05)
        for grad in grads:
            p.grad = grad.clone()
            optimiser.step()
        ends.append(p.detach())
    torch.testing.assert_close(*ends, atol=1e-5, rtol=1e-4)


@case.find.also_right
def on_paper(impl):
    p = torch.nn.Parameter(torch.tensor([1.0]))
    optimiser = impl([p], lr=0.5, betas=(0.5, 0.75), eps=0.0)
    m = v = 0.0
    place = 1.0
    for t, g in enumerate((2.0, -1.0, 0.5), start=1):
        p.grad = torch.tensor([g])
        optimiser.step()
        m, v = 0.5 * m + 0.5 * g, 0.75 * v + 0.25 * g * g
        place -= 0.5 * (m / (1 - 0.5**t)) / (v / (1 - 0.75**t)) ** 0.5
        assert abs(p.item() - place) < 1e-5


PASSES = (
    "Your test passes on the broken version. Short updates go downhill, too, so neither a loss nor "
    "the sign of an update shows them. What do you know exactly about the length of the first "
    "update, with the betas that people use?"
)


@case.find.mistake(PASSES)
def loss_falls(impl):
    p = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
    optimiser = impl([p], lr=0.1)
    before = p.square().sum().item()
    for _ in range(50):
        optimiser.zero_grad()
        p.square().sum().backward()
        optimiser.step()
    assert p.square().sum().item() < before


@case.find.mistake(PASSES)
def direction_only(impl):
    p = torch.nn.Parameter(torch.zeros(3))
    optimiser = impl([p], lr=0.1)
    p.grad = torch.tensor([3.0, -0.003, 100.0])
    optimiser.step()
    assert torch.equal(p.sign(), -p.grad.sign())


@case.find.mistake(PASSES)
def equal_betas(impl):
    p = torch.nn.Parameter(torch.zeros(3))
    optimiser = impl([p], lr=0.1, betas=(0.9, 0.9))
    p.grad = torch.tensor([3.0, -0.003, 100.0])
    optimiser.step()
    assert torch.allclose(p, -0.1 * p.grad.sign(), atol=1e-3)


@case.find.mistake(
    "Your test fails on right versions: it reads the averages from the optimiser's state by names "
    "of its own. Which names does the docstring promise?"
)
def reads_the_state(impl):
    p = torch.nn.Parameter(torch.zeros(1))
    optimiser = impl([p], lr=0.1)
    p.grad = torch.tensor([2.0])
    optimiser.step()
    assert abs(optimiser.state[p]["v"].item() - 0.004) < 1e-6


@case.find.mistake(
    "Your test fails on right versions: it asks for more than the docstring promises, such as the "
    "last bit of a number, or a name in the optimiser's state. How far apart may two right ways to "
    "add up the same numbers be?"
)
def equal_bits(impl):
    ends = []
    for kind in (impl, torch.optim.Adam):
        p = torch.nn.Parameter(torch.linspace(-1, 1, 50))
        optimiser = kind([p], lr=0.1)
        for number in range(1, 6):
            p.grad = torch.linspace(-number, 7, 50).sin() / 3
            optimiser.step()
        ends.append(p.detach())
    assert torch.equal(*ends)
