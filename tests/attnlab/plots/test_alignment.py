"""Figures about a decoder with attention draw what they return, even if a step is not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnlab.data import measured_lab02
from attnlab.decoding import greedy
from attnlab.plots import alignment
from attnlab.plots.canvas import Described, Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


FIGURES: dict[str, Callable[[Any], Drawn]] = {
    "alignments": lambda model: alignment.alignments(model, greedy, ["1998, march 5", "may 1951"]),
    "copied_by_length": lambda model: alignment.copied_by_length(),
    "lab02_preview": lambda model: alignment.lab02_preview(),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_names_its_axes(name: str, translator: Any) -> None:
    drawn = FIGURES[name](translator)
    assert drawn.axes[0].figure.alt.endswith(".")
    assert_fits_a_page(drawn)
    assert_named(drawn)
    assert drawn.data


@pytest.mark.parametrize(
    "draw",
    [
        lambda model: alignment.alignments(None, greedy, ["may 1951"]),
        lambda model: alignment.alignments(model, unwritten, ["may 1951"]),
    ],
)
def test_a_step_that_is_not_written_leaves_a_sentence(
    draw: Callable[[Any], Drawn], translator: Any
) -> None:
    drawn = draw(translator)
    assert drawn.missing.startswith("No picture yet")
    assert not drawn.axes


def test_the_weights_of_a_date_are_near_its_diagonal(translator: Any) -> None:
    weights = alignment.alignments(translator, greedy, ["1998, march 5"]).data["1998, march 5"]
    assert weights.shape == (11, 13)
    assert torch.allclose(weights.sum(1), torch.ones(11))
    assert int(weights[3].argmax()) == 3  # the year's last digit
    assert int(weights[9].argmax()) == 12  # the day


def test_what_the_preview_shows_is_the_solutions_own_attention(translator: Any) -> None:
    drawn = alignment.alignments(translator, greedy, [measured_lab02.DATE])
    weights = drawn.data[measured_lab02.DATE]
    assert (weights - measured_lab02.weights_of_a_date()).abs().max() < 0.02


def test_a_cell_says_what_was_written_where_the_decoder_looked_and_how_much(
    translator: Any,
) -> None:
    drawn = alignment.alignments(translator, greedy, ["may 1951"])
    figure = drawn.axes[0].figure
    assert isinstance(figure, Described)
    assert len(figure.tips) == 8 * 8
    weight = float(drawn.data["may 1951"][0, 5])
    assert f"1 → 9: {weight:.3f}" in figure.tips.values()
