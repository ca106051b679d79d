"""Figures about scores draw the data that they return, and name a step that is not written."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from attnlab.plots import scores
from attnlab.plots.canvas import Drawn
from attnlab.softmax import (
    cross_entropy,
    entropy,
    log_softmax,
    softmax,
    softmax_backward,
    temperature,
)
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

SCORES = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
NAMES = ("apple", "pear", "plum", "stone")


FIGURES: dict[str, Callable[[], Drawn]] = {
    "softmax_bars": lambda: scores.softmax_bars(softmax, SCORES),
    "log_softmax_gap": lambda: scores.log_softmax_gap(softmax, log_softmax),
    "loss_against_scale": lambda: scores.loss_against_scale(cross_entropy, SCORES, NAMES),
    "loss_and_gradient_gap": lambda: scores.loss_and_gradient_gap(softmax, log_softmax),
    "softmax_jacobian": lambda: scores.softmax_jacobian(softmax_backward, softmax(SCORES)),
    "temperature_fan": lambda: scores.temperature_fan(temperature, SCORES, NAMES),
    "entropy_curve": lambda: scores.entropy_curve(temperature, entropy, SCORES),
}


def test_every_figure_is_tested_here() -> None:
    functions = {name for name, value in vars(scores).items() if inspect.isfunction(value)}
    own = {name for name in functions if vars(scores)[name].__module__ == scores.__name__}
    assert set(FIGURES) == {name for name in own if not name.startswith("_")}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_axes_and_fits_a_page(name: str) -> None:
    drawn = FIGURES[name]()
    assert all(torch.isfinite(values).any() for values in drawn.data.values())
    assert_named(drawn)
    assert drawn.axes[0].get_ylabel()
    assert_fits_a_page(drawn)


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    drawn = scores.softmax_bars(unwritten, SCORES)
    assert (drawn.axes, plt.get_fignums()) == ((), [])
    assert drawn.missing == "No picture yet: `unwritten` is not written."


def lines(drawn: Drawn) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in drawn.axes[0].get_lines()]


def test_the_bars_are_the_probabilities() -> None:
    drawn = FIGURES["softmax_bars"]()
    heights = [patch.get_height() for patch in drawn.axes[1].patches]
    assert heights == [*drawn.data["plain"].tolist(), *drawn.data["shifted"].tolist()]
    assert torch.allclose(drawn.data["plain"], drawn.data["shifted"])


def test_the_logarithm_of_probabilities_ends_early() -> None:
    drawn = FIGURES["log_softmax_gap"]()
    direct, by_softmax = drawn.data["log_softmax"], drawn.data["log_of_softmax"]
    assert np.array_equal(lines(drawn)[0], direct.numpy())
    assert torch.isfinite(direct).all()
    last = drawn.data["gap"][torch.isfinite(by_softmax)].max()
    assert 700 < float(last) < 750


def test_the_loss_starts_at_log_v_and_grows_for_wrong_answers() -> None:
    drawn = FIGURES["loss_against_scale"]()
    losses = drawn.data["losses"]
    assert np.array_equal(lines(drawn)[0], losses[0].numpy())
    assert losses[:, 0].tolist() == pytest.approx([math.log(4)] * 4)
    assert losses[0, -1] < 0.01
    assert losses[3, -1] > 20


def test_the_jacobian_equals_autograds() -> None:
    drawn = FIGURES["softmax_jacobian"]()
    expected = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), SCORES)
    assert torch.allclose(drawn.data["jacobian"], expected, atol=1e-12)
    (image,) = drawn.axes[1].get_images()
    assert np.array_equal(np.asarray(image.get_array())[:-1], drawn.data["jacobian"].numpy())
    assert drawn.data["constant"].abs().max() < 1e-12, "the answer to 1.4's prediction"


def test_the_fan_opens_from_one_to_equal_shares() -> None:
    drawn = FIGURES["temperature_fan"]()
    p = drawn.data["probabilities"]
    assert np.array_equal(lines(drawn)[0], p[:, 0].numpy())
    assert float(p[0, 0]) > 0.999
    assert p[-1].tolist() == pytest.approx([0.25] * 4, abs=0.01)


def test_entropy_climbs_from_zero_to_log_v() -> None:
    drawn = FIGURES["entropy_curve"]()
    nats = drawn.data["entropy"]
    assert np.array_equal(lines(drawn)[0], nats.numpy())
    assert nats[0] == 0
    assert bool((nats.diff() >= 0).all())
    assert float(nats[-1]) == pytest.approx(math.log(4), abs=0.02)


def test_the_gradient_of_the_loss_through_probabilities_fails_before_the_loss() -> None:
    """What lab 1 says: nan from a gap of 88.8 on, inf only from 104 on, in float32."""
    drawn = scores.loss_and_gradient_gap(softmax, log_softmax)
    gap = drawn.data["gap"]

    def fails(name: str) -> float:
        broken = ~torch.isfinite(drawn.data[name])
        return float(gap[broken.nonzero()[0, 0]]) if broken.any() else math.inf

    assert fails("gradient by log(softmax(x))") == pytest.approx(88.8, abs=0.2)
    assert fails("loss by log(softmax(x))") == pytest.approx(104, abs=0.2)
    assert fails("loss by log_softmax(x)") == fails("gradient by log_softmax(x)") == math.inf
    first = drawn.data["gradient by log(softmax(x))"].isnan().nonzero()[0, 0]
    assert torch.isfinite(drawn.data["loss by log(softmax(x))"][first])


def test_missing_bars_are_named() -> None:
    def formula(x: torch.Tensor) -> torch.Tensor:
        return x.exp() / x.exp().sum()

    _, right = scores.softmax_bars(formula, SCORES).axes
    assert [text.get_text() for text in right.texts] == ["nan"] * 4
    assert not scores.softmax_bars(softmax, SCORES).axes[1].texts


def test_bars_of_numbers_that_are_no_probabilities_are_seen_whole() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return 3 * softmax(x) - 0.5

    _, right = scores.softmax_bars(doubled, SCORES).axes
    low, high = right.get_ylim()
    drawn = doubled(SCORES)
    assert low < float(drawn.min()) < 0
    assert high > float(drawn.max()) > 1
    assert scores.softmax_bars(softmax, SCORES).axes[1].get_ylim() == (0, 1)
