"""The figures of lab 6 about layers draw what they return, and name a step not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.depth import gradient_norms, stream_sizes
from attnlab.layers import FeedForward, LayerNorm, Residual
from attnlab.models.block_stack import measured
from attnlab.plots import layers
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

WORDS = ["the", "chicken", "crossed"]


def measure(mode: str, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    return measured(mode, depth, Residual, FeedForward, stream_sizes, gradient_norms)


FIGURES: dict[str, Callable[[], Drawn]] = {
    "before_and_after": lambda: layers.before_and_after(lambda: LayerNorm(24)),
    "who_moves": lambda: layers.who_moves({"network": lambda: FeedForward(4, 8)}, WORDS, 4),
    "streams": lambda: layers.streams({"x": lambda: torch.eye(3), "y": lambda: -torch.eye(3)}),
    "depth_curves": lambda: layers.depth_curves(measure, (1, 2)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert_fits_a_page(drawn)


def test_vectors_are_normalised_by_the_function() -> None:
    data = layers.before_and_after(lambda: LayerNorm(24)).data
    assert data["before"].mean(-1).abs().max() > 3
    assert data["after"].mean(-1).abs().max() < 1e-5


def test_only_the_changed_word_moves_in_a_position_wise_network() -> None:
    made = {
        "network": lambda: FeedForward(4, 8),
        "mean": lambda: lambda x: x + x.mean(1, keepdim=True),
    }
    data = layers.who_moves(made, WORDS, 4).data
    assert data["network"].tolist() == torch.eye(3).bool().tolist()
    assert data["mean"].all()


def test_depth_curves_hold_what_was_measured() -> None:
    data = layers.depth_curves(measure, (1, 2)).data
    assert data["size, pre"].shape == (3,)
    torch.testing.assert_close(data["last gradient, post"][1].float(), measure("post", 2)[1][-1])


def test_while_grading_no_depth_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(mode: str, depth: int) -> Any:
        raise AssertionError("measured")

    with pytest.raises(AssertionError, match="measured"):
        layers.depth_curves(never, (1, 2))
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert "not made while grading" in layers.depth_curves(never, (1, 2)).missing


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    blanks = (
        layers.before_and_after(unwritten),
        layers.who_moves({"network": unwritten}, WORDS, 4),
        layers.streams({"x": unwritten}),
        layers.depth_curves(unwritten, (1, 2)),
    )
    assert all("`unwritten`" in drawn.missing for drawn in blanks)
    assert plt.get_fignums() == []
