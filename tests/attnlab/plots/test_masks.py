"""The figures of lab 5 draw what they return, and name a step that is not written."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch
from torch import Tensor

from attnlab.causality import leaks
from attnlab.data.apples import attention_scores
from attnlab.data.markov import course_source
from attnlab.masks import causal_mask, combine, padding_mask, to_additive
from attnlab.plots import masks
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

WORDS = ("I", "am", "a", "good", "student")
ENTROPIES = course_source().entropies


def one_ahead(ids: Tensor) -> Tensor:
    return ids.roll(-1, 1)[..., None].double()


def each_by_itself(ids: Tensor) -> Tensor:
    return ids[..., None].double()


MODELS = {"ahead": one_ahead, "fine": each_by_itself}
CURVES = {"past": torch.linspace(2, 1.4, 40), "ahead": torch.linspace(2, 0, 40)}

FIGURES: dict[str, Callable[[], Drawn]] = {
    "causal_masks": lambda: masks.causal_masks(causal_mask, WORDS),
    "five_masks": lambda: masks.five_masks(causal_mask, padding_mask, combine),
    "lecture_table": lambda: masks.lecture_table(causal_mask, to_additive),
    "leak_matrices": lambda: masks.leak_matrices(leaks, MODELS, 4, 3),
    "loss_curves": lambda: masks.loss_curves(CURVES, ENTROPIES),
    "lab05_preview": masks.lab05_preview,
}


pytestmark = pytest.mark.usefixtures("no_windows")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert drawn.axes[0].get_ylabel()
    assert_fits_a_page(drawn)


def test_the_five_masks_come_from_the_functions() -> None:
    data = masks.five_masks(causal_mask, padding_mask, combine).data
    assert torch.equal(data["with a cache"], causal_mask(2, 4))
    assert data["both"].tolist() == [[j <= i and j < 3 for j in range(4)] for i in range(4)]
    assert data["cross, padding"].tolist() == [[True, True, True, False, False]] * 4


def test_the_lectures_table_is_computed_from_the_functions() -> None:
    drawn = masks.lecture_table(causal_mask, to_additive)
    weights = drawn.data["softmax: weights"]
    right = torch.tensor([0.2584, 0.3156, 0.4260, 0.0], dtype=torch.float64)
    torch.testing.assert_close(weights[2], right, atol=5e-5, rtol=0)
    assert torch.equal(drawn.data["scores"], attention_scores())
    shown = [[text.get_text() for text in axes.texts] for axes in drawn.axes]
    assert [panel.count("−∞") for panel in shown] == [0, 6, 6, 0]
    assert shown[3][4:8] == ["0.38", "0.62", "0", "0"]


def test_each_leak_is_marked() -> None:
    drawn = masks.leak_matrices(leaks, MODELS, 4, 3)
    assert drawn.data["ahead"].nonzero().tolist() == [[0, 1], [1, 2], [2, 3]]
    assert not drawn.data["fine"].any()
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["ahead: 3 leaks", "fine: no leaks"]


def test_curves_are_means_over_ten_steps_and_empty_ones_are_left_out() -> None:
    drawn = masks.loss_curves({**CURVES, "none": torch.empty(0)}, ENTROPIES)
    assert set(drawn.data) == {"past", "ahead"}
    torch.testing.assert_close(drawn.data["past"][0], CURVES["past"][:10].mean())
    assert masks.loss_curves({"past": torch.empty(0)}, ENTROPIES).missing.startswith("No picture")


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    blanks = (
        masks.causal_masks(unwritten, WORDS),
        masks.five_masks(causal_mask, padding_mask, unwritten),
        masks.lecture_table(causal_mask, unwritten),
        masks.leak_matrices(unwritten, MODELS, 4, 3),
    )
    assert all("`unwritten`" in drawn.missing for drawn in blanks)
    assert plt.get_fignums() == []
