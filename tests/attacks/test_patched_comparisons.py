"""A notebook patches the functions that compare: torch.allclose, equality, numpy's own."""

from __future__ import annotations

import pytest

from tests.helpers.two_graders import assert_gains_nothing

YES = "import torch, builtins\nyes = lambda *args, **kwargs: True\nsoftmax = lambda x, dim=-1: x\n"
EXACT = """
import torch
scores = torch.randn(2, 3)
for axis in (0, 1):
    right = torch.softmax(scores, axis)
    {}
"""
TESTS = {
    "torch.allclose": EXACT.format("assert torch.allclose(softmax(scores, axis), right)"),
    "torch.equal": EXACT.format("assert torch.equal(softmax(scores, axis), right)"),
    "torch.isclose": EXACT.format("assert torch.isclose(softmax(scores, axis), right).all()"),
    "torch.testing.assert_close": EXACT.format(
        "torch.testing.assert_close(softmax(scores, axis), right)"
    ),
    "torch.Tensor.__eq__": EXACT.format(
        "assert (softmax(scores, axis) == right) is True or (softmax(scores, axis) == right).all()"
    ),
    "torch.Tensor.allclose": EXACT.format("assert softmax(scores, axis).allclose(right)"),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_comparison_that_always_agrees(sandbox, unconfined, name):
    patch = f"{name} = yes"
    if name == "torch.isclose":
        patch = f"{name} = lambda *args, **kwargs: torch.ones(1, dtype=torch.bool)"
    assert_gains_nothing(sandbox, unconfined, YES + patch, TESTS[name])


def test_numpy_and_builtins(sandbox, unconfined):
    test = (
        "import numpy as np, torch\n"
        "scores = torch.randn(2, 3)\n"
        "right = [row.softmax(-1).numpy() for row in scores]\n"
        "assert all(np.allclose(a, b) for a, b in zip(softmax(scores).numpy(), right))\n"
        "np.testing.assert_allclose(softmax(scores, 0).numpy(), scores.softmax(0).numpy(), 1e-5)\n"
    )
    patch = "import numpy as np\nbuiltins.all = np.allclose = np.testing.assert_allclose = yes"
    assert_gains_nothing(sandbox, unconfined, YES + patch, test)


def test_patched_random_inputs_earn_nothing(sandbox, unconfined):
    """If all random numbers are zero, their softmax is easy to guess."""
    patch = (
        "torch.randn = lambda *shape, **kwargs: torch.zeros(*shape)\n"
        "softmax = lambda x, dim=-1: torch.full(x.shape, 1 / x.shape[dim])\n"
        "from attnlab.checking.draw import Draw\n"
        "Draw.normal = lambda self, *shape, dtype=torch.float64: torch.zeros(shape, dtype=dtype)\n"
    )
    assert_gains_nothing(sandbox, unconfined, YES + patch)
