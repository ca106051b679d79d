"""Tables of attention weights: the same shade means the same weight, rows are queries."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb, to_rgba

from attnlab.plots.canvas import FAINT
from attnlab.plots.heatmap import attention_cells, attention_map, attention_maps
from tests.helpers.figures import assert_fits_a_page, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_a_table_has_a_title_and_fits_a_page() -> None:
    drawn = attention_map(torch.eye(3), ["a", "b", "c"], ["a", "b", "c"], "identity")
    assert drawn.axes[0].get_title(loc="left") == "identity"
    assert_fits_a_page(drawn)


def test_a_step_that_is_not_written_leaves_a_notice() -> None:
    drawn = attention_map(unwritten, ["a"], ["a"])
    assert drawn.axes == ()
    assert "`unwritten` is not written" in drawn.missing


def test_the_same_shade_means_the_same_weight_in_every_table() -> None:
    halves = torch.tensor([[0.5, 0.0], [1.0, 0.5]])
    small = attention_map(halves, ["a", "b"], ["a", "b"])
    large = attention_map(torch.full((20, 20), 0.5), ["a"] * 20, ["b"] * 20)
    shades = []
    for drawn in (small, large):
        (image,) = drawn.axes[0].images
        assert image.get_clim() == (0, 1)
        shades.append(image.cmap(image.norm(0.5)))
    assert shades[0] == shades[1]
    dark, light = (to_rgb(small.axes[0].images[0].cmap(v)) for v in (1.0, 0.0))
    assert sum(light) > sum(dark) + 1.5


def test_rows_are_queries_and_columns_are_keys() -> None:
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    axes = attention_map(weights, ["one", "two"], ["x", "y", "z"], "title").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("keys", "queries")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y", "z"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    numbers = {(t.get_position(), t.get_text()) for t in axes.texts}
    assert ((2, 1), "0.50") in numbers


def test_masks_missing_numbers_and_gradients_are_drawn_as_well() -> None:
    mask = torch.ones(3, 3).bool().tril()
    odd = torch.full((3, 3), math.nan, requires_grad=True)
    names = ["a", "b", "c"]
    drawn = attention_maps({"mask": mask, "nothing": odd, "made": lambda: mask}, names, names)
    assert len(drawn.axes) == 3
    assert [axes.get_ylabel() for axes in drawn.axes] == ["queries", "", ""]
    assert [text.get_text() for text in drawn.axes[0].texts] == list("✓··✓✓·✓✓✓")
    _, panel = plt.subplots()
    attention_cells(panel, mask, names, names, digits=None)
    assert not panel.texts
    drawn.axes[0].figure.canvas.draw()


@pytest.mark.parametrize("count", [2, 20])
def test_nan_is_grey_and_no_weight_is(count: int) -> None:
    names = ["a"] * count
    (image,) = attention_map(torch.full((count, count), math.nan), names, names).axes[0].images
    assert image.cmap(image.norm(math.nan)) == to_rgba(FAINT)
    assert to_rgba(FAINT) not in {image.cmap(image.norm(weight / 100)) for weight in range(101)}
