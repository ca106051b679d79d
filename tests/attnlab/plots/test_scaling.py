"""The figures of lab 3 about sizes measure what the student's functions return."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnlab.attention import (
    count_multiplications,
    fit_exponent,
    saturation,
    scaled_dot_product_attention,
    score_variance,
    weights_memory,
)
from attnlab.plots import scaling
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


FIGURES: dict[str, Callable[[], Drawn]] = {
    "histogram": lambda: scaling.score_histogram(score_variance, sizes=(4, 16), n=500),
    "saturation": lambda: scaling.saturation_curves(saturation, sizes=(4, 64), n=50),
    "cost": lambda: scaling.cost_curves(count_multiplications, weights_memory, fit_exponent),
    "time": lambda: scaling.time_against_length(scaled_dot_product_attention, fit_exponent),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_titles_and_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert not drawn.missing
    figure: Any = drawn.axes[0].figure
    assert len(figure.alt.split()) > 8
    for axes in drawn.axes:
        assert axes.get_title(loc="left")
    png = base64.b64decode(figure._repr_mimebundle_()["image/png"])
    assert 2_000 < len(png) < 120_000


@pytest.mark.parametrize(
    "draw",
    [
        lambda: scaling.score_histogram(unwritten),
        lambda: scaling.saturation_curves(unwritten),
        lambda: scaling.cost_curves(count_multiplications, unwritten, fit_exponent),
        lambda: scaling.time_against_length(unwritten, fit_exponent),
    ],
)
def test_a_step_that_is_not_written_leaves_a_notice(draw: Callable[[], Drawn]) -> None:
    drawn = draw()
    assert drawn.axes == ()
    assert "`unwritten` is not written" in drawn.missing


def test_scores_spread_with_d_until_they_are_scaled() -> None:
    drawn = scaling.score_histogram(score_variance)
    spread = drawn.data["plain"].sqrt() / drawn.data["sizes"].sqrt()
    assert torch.allclose(spread, torch.ones(4).double(), atol=0.05)
    assert torch.allclose(drawn.data["scaled"], torch.ones(4).double(), atol=0.1)
    largest = scaling.saturation_curves(saturation).data
    assert largest["plain"][-1] > 0.9
    assert largest["scaled"][-1] < 0.2


def test_a_variance_that_is_not_that_of_the_scores_is_named() -> None:
    def divided_by_d(d: int, n: int, generator: torch.Generator, scaled: bool = False) -> Any:
        return score_variance(d, n, generator) / (d * d if scaled else 1)

    drawn = scaling.score_histogram(divided_by_d, sizes=(4, 16), n=500)
    assert drawn.note.endswith("does not fit its histogram: d = 4, scaled; d = 16, scaled.")
    nothing = scaling.score_histogram(lambda *_, **__: torch.tensor(torch.nan), sizes=(4,), n=500)
    assert nothing.note.endswith(": d = 4, unscaled; d = 4, scaled.")
    assert not scaling.score_histogram(score_variance, sizes=(4, 16), n=500).note
    assert not scaling.score_histogram(score_variance).note


def test_cost_is_a_straight_line_of_slope_two() -> None:
    data = scaling.cost_curves(count_multiplications, weights_memory, fit_exponent).data
    for name in ("multiplications", "bytes"):
        assert abs(float(fit_exponent(data["lengths"], data[name])) - 2) < 1e-9
    assert data["bytes"][0] == 64 * 64 * 4
