"""The references of lab 1, compared with torch and with the lectures' numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import gradcheck

from attnlab.data.apples import attention_scores
from attnlab.softmax import (
    cross_entropy,
    entropy,
    log_softmax,
    logsumexp,
    softmax,
    softmax_backward,
    temperature,
)

DIMS = (0, 1, 2, -1, -2, -3)
PAIRS = [
    (softmax, torch.softmax),
    (log_softmax, torch.log_softmax),
    (logsumexp, torch.logsumexp),
]


def scores(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=dtype)


@pytest.mark.parametrize(("ours", "torchs"), PAIRS)
@pytest.mark.parametrize("dim", DIMS)
def test_every_axis_equals_torch(
    ours: Callable[..., Tensor], torchs: Callable[..., Tensor], dim: int
) -> None:
    x = scores(3, 5, 7)
    far = x + torch.tensor([0.0, 1e3, -1e4])[:, None, None]
    for case in (x, far, far.transpose(0, 2)):
        assert torch.allclose(ours(case, dim), torchs(case, dim), rtol=1e-12, atol=1e-12)
    assert torch.equal(ours(x), ours(x, -1))


@pytest.mark.parametrize(("ours", "torchs"), PAIRS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_dtype_is_kept(
    ours: Callable[..., Tensor], torchs: Callable[..., Tensor], dtype: torch.dtype
) -> None:
    x = scores(4, 6).to(dtype)
    out = ours(x, -1)
    assert out.dtype == dtype
    precision = 8 * torch.finfo(dtype).eps
    assert torch.allclose(out, torchs(x, -1), rtol=precision, atol=precision)


@pytest.mark.parametrize(("ours", "torchs"), PAIRS)
def test_gradients(ours: Callable[..., Tensor], torchs: Callable[..., Tensor]) -> None:
    x = scores(2, 3, 4).requires_grad_()
    assert all(gradcheck(lambda x, d=dim: ours(x, d), x) for dim in (0, 1, -1))


def test_softmax_of_whole_numbers_and_of_minus_infinity() -> None:
    whole = torch.tensor([[1, 2, 3], [-4, 0, 4]])
    assert torch.allclose(softmax(whole), torch.softmax(whole.float(), -1))
    x = torch.tensor([0.0, -math.inf, 1.0, -math.inf])
    assert torch.equal(softmax(x), torch.softmax(x, -1))
    assert softmax(x)[1] == 0


def test_logsumexp_without_finite_scores_is_minus_infinity() -> None:
    x = scores(3, 4)
    x[1] = -math.inf
    assert torch.allclose(logsumexp(x), torch.logsumexp(x, -1))
    assert logsumexp(x)[1] == -math.inf


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignore_index", [None, -100, 0, 500])
def test_cross_entropy_equals_torch(reduction: str, ignore_index: int | None) -> None:
    logits, target = 30 * scores(17, 7), torch.arange(17) % 7
    if ignore_index is not None:
        target = target.masked_fill(torch.arange(17) % 3 == 0, ignore_index)
    torchs_default = -100 if ignore_index is None else ignore_index
    expected = F.cross_entropy(logits, target, ignore_index=torchs_default, reduction=reduction)
    ours = cross_entropy(logits, target, ignore_index, reduction)
    assert torch.allclose(ours, expected, rtol=1e-12, atol=1e-12)


def test_cross_entropy_of_padding_alone_is_zero_and_so_is_its_gradient() -> None:
    logits = scores(4, 5).requires_grad_()
    loss = cross_entropy(logits, torch.full((4,), -100), ignore_index=-100)
    loss.backward()
    assert loss == 0
    assert logits.grad is not None
    assert torch.equal(logits.grad, torch.zeros(4, 5))


def test_cross_entropy_gradient_is_p_minus_y_over_n() -> None:
    logits, target = scores(6, 5).requires_grad_(), torch.tensor([0, 4, 9, 2, 9, 2])
    cross_entropy(logits, target, ignore_index=9).backward()
    counts = (target != 9)[:, None]
    y = torch.eye(5, dtype=torch.float64)[target.clamp(max=4)]
    expected = (torch.softmax(logits.detach(), -1) - y) * counts / 4
    assert logits.grad is not None
    assert torch.allclose(logits.grad, expected, atol=1e-12)


def test_an_untrained_gpt_2_starts_at_log_v() -> None:
    loss = cross_entropy(torch.zeros(2, 50257), torch.tensor([7, 42]))
    assert float(loss) == pytest.approx(math.log(50257), abs=1e-4)


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 5)])
def test_softmax_backward_equals_autograd(shape: tuple[int, ...]) -> None:
    x, grad_p = scores(*shape).requires_grad_(), scores(*shape).flip(-1)
    p = torch.softmax(x, -1)
    (expected,) = torch.autograd.grad(p, x, grad_p)
    assert torch.allclose(softmax_backward(p.detach(), grad_p), expected, atol=1e-13)


def test_temperature_ranges_from_one_winner_to_equal_shares() -> None:
    x = scores(2, 3, 5)
    assert torch.allclose(temperature(x, 1.0), torch.softmax(x, -1))
    assert torch.allclose(temperature(x, 0.5), torch.softmax(2 * x, -1))
    assert torch.equal(temperature(x, 0.0), F.one_hot(x.argmax(-1), 5).double())
    assert torch.allclose(temperature(x, 1e-4), temperature(x, 0.0), atol=1e-9)
    assert torch.allclose(temperature(x, 1e12), torch.full_like(x, 1 / 5), atol=1e-9)
    assert temperature(x.half(), 0.0).dtype == torch.half


def test_entropy_ranges_from_certain_to_uniform() -> None:
    p = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.0, 0.5, 0.0]])
    expected = torch.tensor([0.0, math.log(4), math.log(2)])
    assert torch.allclose(entropy(p), expected)
    q = torch.softmax(scores(3, 5), -1)
    assert torch.allclose(entropy(q), torch.distributions.Categorical(q).entropy())


def test_lecture_n_masked_softmax() -> None:
    future = torch.ones(4, 4).triu(1).bool()
    p = softmax(attention_scores().masked_fill(future, -math.inf))
    expected = [
        [1.0, 0.0, 0.0, 0.0],
        [0.3775, 0.6225, 0.0, 0.0],
        [0.2584, 0.3156, 0.4260, 0.0],
        [0.2144, 0.2619, 0.2619, 0.2619],
    ]
    assert torch.allclose(p, torch.tensor(expected, dtype=torch.float64), atol=5e-5)


@pytest.mark.parametrize(
    "whole",
    [
        torch.tensor([0, 5, 3], dtype=torch.uint8),
        torch.tensor([-128, 127, 0], dtype=torch.int8),
        torch.tensor([-(2**63), 2**63 - 1]),
        torch.tensor([True, False, True]),
    ],
)
def test_small_integers_do_not_wrap_around(whole: Tensor) -> None:
    assert torch.equal(softmax(whole), torch.softmax(whole.float(), -1))


def test_softmax_of_no_scores_is_empty() -> None:
    for shape, dim in (((2, 0), -1), ((0, 3), 0), ((0, 3), 1)):
        assert softmax(torch.zeros(shape), dim).shape == shape


def test_a_number_without_an_axis_keeps_its_shape() -> None:
    for ours, torchs in PAIRS:
        x = torch.tensor(3.0)
        assert torch.equal(ours(x), torchs(x, -1))
        assert ours(x).shape == ()


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.5), (torch.float16, 0.05)]
)
def test_an_offset_of_twenty_thousand_costs_no_digits(dtype: torch.dtype, tolerance: float) -> None:
    """x - logsumexp(x) is wrong by 1e-3 in float32, and by 4 in bfloat16."""
    x = (10 * scores(64, 100) + 2e4).to(dtype)
    exact = torch.log_softmax(x.double(), -1)
    assert (log_softmax(x).double() - exact).abs().max() < tolerance
    assert (x - logsumexp(x)[:, None] - exact).abs().max() > 8 * tolerance
    target = torch.arange(64)
    loss = cross_entropy(x, target).double()
    assert (loss - F.cross_entropy(x.double(), target)).abs() < tolerance


@pytest.mark.parametrize(
    ("logits", "T"),
    [
        (torch.tensor([70.0, 69.0, 0.0]).half(), 1e-3),
        (torch.tensor([30.0, 29.0]), 1e-38),
        (torch.tensor([1.5, 1.0, -1e300]).double(), 5e-324),
    ],
)
def test_a_score_divided_by_a_small_temperature_may_overflow(logits: Tensor, T: float) -> None:
    assert (logits / T).isinf().any()
    assert torch.equal(temperature(logits, T), temperature(logits, 0.0))


def test_the_entropy_of_a_masked_softmax_has_finite_gradients() -> None:
    x = torch.tensor([[1.0, -math.inf, 2.0], [0.5, 0.1, -math.inf]], dtype=torch.float64)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(entropy(softmax(x)).sum(), x)
    allowed = torch.tensor([[1.0, 2.0], [0.5, 0.1]], dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(entropy(softmax(allowed)).sum(), allowed)
    assert torch.allclose(gradient[[0, 0, 1, 1], [0, 2, 0, 1]], expected.flatten())
    assert not gradient[[0, 1], [1, 2]].any()


def test_the_entropy_of_a_sure_thing_is_zero_without_a_sign() -> None:
    assert str(entropy(torch.tensor([0.0, 1.0]))) == "tensor(0.)"
    assert str(entropy(torch.tensor([1.0]))) == "tensor(0.)"


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="'avg'"):
        cross_entropy(scores(2, 3), torch.tensor([0, 1]), reduction="avg")


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1)])
def test_a_target_of_another_length_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"not \(N, V\) and \(N,\): \[3, 5\]"):
        cross_entropy(scores(3, 5), torch.zeros(shape, dtype=torch.int64))
