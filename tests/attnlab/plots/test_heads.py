"""The figures about heads draw what they return, name their axes, and fit a notebook's page."""

from __future__ import annotations

import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import Tensor

from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from attnlab.plots import heads
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import assert_fits_a_page, unwritten

WEIGHTS = torch.softmax(3 * torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)), -1)
SHARES = {"1 head": torch.tensor([1.0, 0.1]), "2 heads,\nwithout head 0": torch.tensor([0.25, 0.5])}


def steps() -> dict[str, Tensor]:
    x = torch.zeros(2, 5, 12)
    apart = split_heads(x, 3)
    return {"x": x, "split, B h T d": apart, "merge": merge_heads(apart)}


FIGURES: dict[str, Callable[[], Drawn]] = {
    "head_grid": lambda: heads.head_grid(lambda: WEIGHTS[0], list("abcd"), list("vwxyz")),
    "head_entropy": lambda: heads.head_entropy(lambda: WEIGHTS),
    "ablation_bars": lambda: heads.ablation_bars(lambda: SHARES, ["first", "second"], "share"),
    "heads_on_boxes": lambda: heads.heads_on_boxes(
        lambda: torch.tensor([[0.4, 0.5]]), lambda: torch.eye(2)
    ),
    "shape_diagram": lambda: heads.shape_diagram(steps),
    "lab04_preview": heads.lab04_preview,
}


pytestmark = pytest.mark.usefixtures("no_windows")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_description_names_and_a_size_that_fits(name: str) -> None:
    drawn = FIGURES[name]()
    assert_fits_a_page(drawn)
    if name != "shape_diagram":  # boxes with names
        assert all(axes.get_title(loc="left") for axes in drawn.axes)
    if name not in ("shape_diagram", "ablation_bars"):
        assert all(axes.get_xlabel() for axes in drawn.axes)


def test_each_head_has_a_table() -> None:
    drawn = FIGURES["head_grid"]()
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["head 0", "head 1", "head 2"]
    for axes, table in zip(drawn.axes, WEIGHTS[0], strict=True):
        (image,) = axes.get_images()
        assert np.allclose(np.asarray(image.get_array()), table.numpy())


def test_entropy_is_the_mean_over_queries_and_never_above_log_of_the_keys() -> None:
    drawn = FIGURES["head_entropy"]()
    entropy = drawn.data["entropy"]
    assert entropy.shape == (3, 8)
    assert float(entropy.max()) <= math.log(5)
    widths = [patch.get_width() for patch in drawn.axes[0].patches]
    assert widths == pytest.approx(entropy.mean(1).tolist())
    alike = heads.head_entropy(lambda: torch.full((2, 3, 4), 0.25)).data["entropy"]
    assert alike.flatten().tolist() == pytest.approx([math.log(4)] * 6)


def test_bars_are_the_shares() -> None:
    drawn = FIGURES["ablation_bars"]()
    heights = [patch.get_height() for patch in drawn.axes[0].patches]
    assert heights == pytest.approx([1.0, 0.25, 0.1, 0.5])
    assert [text.get_text() for text in drawn.axes[0].get_xticklabels()] == [*SHARES]


def test_tables_of_heads_show_their_numbers() -> None:
    one, two = FIGURES["heads_on_boxes"]().axes
    assert [text.get_text() for text in one.texts] == ["0.40", "0.50"]
    assert [text.get_text() for text in two.texts] == ["1.00", "0.00", "0.00", "1.00"]
    assert [text.get_text() for text in two.get_yticklabels()] == ["head 0", "head 1"]


def test_shapes_are_those_of_the_tensors() -> None:
    drawn = FIGURES["shape_diagram"]()
    texts = [text.get_text() for text in drawn.axes[0].texts if text.get_text()]
    assert texts == ["(2,5,12)", "x", "(2,3,5,4)", "split", "B h T d", "(2,5,12)", "merge"]
    assert drawn.data["split, B h T d"].tolist() == [2, 3, 5, 4]


@pytest.mark.parametrize(
    "draw",
    [
        lambda make: heads.head_grid(make, ["a"], ["b"]),
        heads.head_entropy,
        lambda make: heads.ablation_bars(make, ["m"], "share"),
        lambda make: heads.heads_on_boxes(lambda: torch.eye(2), make),
        heads.shape_diagram,
    ],
)
def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn(
    draw: Callable[..., Drawn],
) -> None:
    drawn = draw(unwritten)
    assert (drawn.axes, plt.get_fignums()) == ((), [])
    assert "`unwritten` is not written" in drawn.missing


def test_models_that_were_not_trained_leave_a_sentence() -> None:
    for drawn in (
        heads.heads_on_boxes(lambda: torch.eye(2), lambda: None),
        heads.ablation_bars(lambda: None, ["m"], "share"),
        heads.head_entropy(lambda: None),
        heads.head_grid(lambda: None, ["a"], ["b"]),
    ):
        assert "a cell above has no result" in drawn.missing
    assert plt.get_fignums() == []


def test_a_real_layer_can_be_drawn() -> None:
    layer, x = MultiHeadAttention(12, 3), torch.randn(2, 5, 12)
    drawn = heads.head_entropy(lambda: layer(x, x, x, need_weights=True)[1])
    assert drawn.data["entropy"].shape == (3, 10)
