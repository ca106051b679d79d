"""The figures of lab 5 draw what they return, and name a step that is not written."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.data.apples import attention_scores
from attnlab.data.markov import course_source
from attnlab.masks import (
    causal_mask,
    combine,
    padding_mask,
    safe_softmax,
    to_additive,
    to_mha_mask,
)
from attnlab.plots import masks
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

WORDS = ("I", "am", "a", "good", "student")
ENTROPIES = course_source().entropies


CURVES = {"past": torch.linspace(2, 1.4, 40), "ahead": torch.linspace(2, 0, 40)}

FIGURES: dict[str, Callable[[], Drawn]] = {
    "causal_masks": lambda: masks.causal_masks(causal_mask, WORDS),
    "five_masks": lambda: masks.five_masks(causal_mask, padding_mask, combine),
    "lecture_table": lambda: masks.lecture_table(causal_mask, to_additive),
    "forbidden_rows": lambda: masks.forbidden_rows(to_additive),
    "rows_without_keys": lambda: masks.rows_without_keys(
        causal_mask, padding_mask, combine, safe_softmax
    ),
    "converted_mask": lambda: masks.converted_mask(causal_mask, to_mha_mask, WORDS),
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


def test_a_forbidden_row_is_finite_in_float16_only_while_its_scores_are_above_minus_16() -> None:
    table = masks.forbidden_rows(to_additive).data["weights"]
    quarter = [masks.SCORES.index(score) for score in (100.0, 0.0, -8.0, -15.0)]
    half, brain, single = table
    assert torch.equal(half[quarter], torch.full((4,), 0.25, dtype=torch.float64))
    assert half.isnan().tolist() == [score <= -16 for score in masks.SCORES]
    assert torch.equal(brain, torch.full_like(brain, 0.25))
    assert single.isnan().all()


def test_only_safe_softmax_gives_zeros_to_queries_without_keys() -> None:
    data = masks.rows_without_keys(causal_mask, padding_mask, combine, safe_softmax).data
    assert data["−∞"][:2].isnan().all()
    assert (data["−1e6"][:2] == 0.25).all()
    assert not data["safe_softmax"][:2].any()
    assert torch.allclose(data["safe_softmax"][2:], data["−∞"][2:])


def test_a_mask_that_is_not_converted_shows_the_future_and_hides_the_rest() -> None:
    data = masks.converted_mask(causal_mask, to_mha_mask, WORDS).data
    right, wrong = data["converted"], data["handed over as it is"]
    assert torch.equal(right > 0, causal_mask(5))
    assert torch.equal(wrong[:4] > 0, ~causal_mask(5)[:4])
    assert wrong[4].isnan().all()


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
        masks.forbidden_rows(unwritten),
        masks.rows_without_keys(causal_mask, padding_mask, combine, unwritten),
        masks.converted_mask(causal_mask, unwritten, WORDS),
    )
    assert all("`unwritten`" in drawn.missing for drawn in blanks)
    assert plt.get_fignums() == []
