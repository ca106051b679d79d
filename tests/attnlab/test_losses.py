"""Label smoothing: the three conventions' numbers, their floors, padding, and torch's own loss."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from attnlab.losses import STYLES, label_smoothing_loss, smooth_targets

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0, 0.5]])
Y = torch.tensor([0])


@pytest.mark.parametrize(
    ("style", "pad", "expected"),
    [("deck", None, 0.76194), ("torch", None, 0.72444), ("pad", 4, 0.77444), ("pad", 1, 0.79110)],
)
def test_the_lectures_example(style: str, pad: int | None, expected: float) -> None:
    assert label_smoothing_loss(LOGITS, Y, 0.1, style, pad).item() == pytest.approx(
        expected, abs=5e-6
    )


def test_the_distributions() -> None:
    rows = {
        "deck": [0.025, 0.9, 0.025, 0.025, 0.025],
        "torch": [0.02, 0.92, 0.02, 0.02, 0.02],
        "pad": [0.1 / 3, 0.9, 0.1 / 3, 0.0, 0.1 / 3],
    }
    for style, row in rows.items():
        found = smooth_targets(torch.tensor([1, 3]), 5, 0.1, style, pad=3)
        torch.testing.assert_close(found, torch.tensor([row, [0.0] * 5]))
    assert smooth_targets(torch.tensor([], dtype=torch.int64), 5, 0.1, "deck").shape == (0, 5)


def test_torchs_own_smoothing_and_its_gradient() -> None:
    draw = torch.Generator().manual_seed(0)
    logits = torch.randn(7, 11, generator=draw, dtype=torch.float64, requires_grad=True)
    y = torch.randint(0, 11, (7,), generator=draw)
    for pad in (None, int(y[0])):
        found = label_smoothing_loss(logits, y, 0.3, "torch", pad)
        ignored = -100 if pad is None else pad
        expected = F.cross_entropy(logits, y, label_smoothing=0.3, ignore_index=ignored)
        torch.testing.assert_close(found, expected, rtol=1e-7, atol=1e-7)
    for style in STYLES:
        assert gradcheck(lambda x, s=style: label_smoothing_loss(x, y, 0.3, s, 2), logits)


def test_decks_eps_is_torchs_times_n_over_n_minus_1() -> None:
    deck = label_smoothing_loss(LOGITS, Y, 0.1, "deck")
    torch.testing.assert_close(deck, label_smoothing_loss(LOGITS, Y, 0.125, "torch"))


def test_the_least_loss_is_the_entropy_of_the_targets() -> None:
    floors = {"deck": 0.46371, "torch": 0.38967, "pad": 0.43494}
    for style, floor in floors.items():
        best = smooth_targets(Y, 5, 0.1, style, pad=4).log().clamp(min=-1e4)
        found = label_smoothing_loss(best, Y, 0.1, style, pad=4)
        assert found.item() == pytest.approx(floor, abs=5e-6)


def test_padding_does_not_count_and_huge_logits_are_safe() -> None:
    draw = torch.Generator().manual_seed(1)
    logits, y = 1e4 * torch.randn(4, 5, generator=draw), torch.tensor([1, 2, 4, 4])
    for style in STYLES:
        both = label_smoothing_loss(logits, y, 0.1, style, pad=4)
        torch.testing.assert_close(both, label_smoothing_loss(logits[:2], y[:2], 0.1, style, 4))
        assert both.isfinite()
        assert label_smoothing_loss(logits[2:], y[2:], 0.1, style, pad=4) == 0
    assert label_smoothing_loss(logits[:0], y[:0], 0.1, "deck") == 0


@pytest.mark.parametrize(
    ("V", "style", "pad"), [(5, "ours", 0), (5, "pad", None), (1, "deck", None), (2, "pad", 0)]
)
def test_impossible_requests(V: int, style: str, pad: int | None) -> None:
    with pytest.raises(ValueError, match="style"):
        smooth_targets(Y, V, 0.1, style, pad)
