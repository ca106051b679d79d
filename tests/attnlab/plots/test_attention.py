"""The figures of lab 3: they draw what they were given, and a blank step leaves a notice."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb

from attnlab.attention import (
    attention_loop,
    count_multiplications,
    fit_exponent,
    qkv,
    relevance_matrix,
    saturation,
    scaled_dot_product_attention,
    score_variance,
    weights_memory,
)
from attnlab.data import korea
from attnlab.plots import attention as pictures
from attnlab.plots import scaling as measures
from attnlab.plots.canvas import Drawn
from attnlab.plots.heatmap import attention_cells, attention_map, attention_maps

matplotlib.use("agg")

WORDS = korea.ONE_ORDER.split()


pytestmark = pytest.mark.usefixtures("no_windows")


def unwritten(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


FIGURES: dict[str, Callable[[], Drawn]] = {
    "projections": lambda: pictures.projection_tables(qkv),
    "moved": lambda: pictures.moved_words(qkv, attention_loop),
    "sentences": lambda: pictures.sentence_attention(
        qkv, scaled_dot_product_attention, [korea.ONE_ORDER, korea.OTHER_ORDER]
    ),
    "mixing": lambda: pictures.value_mixing(qkv, scaled_dot_product_attention),
    "relevance": lambda: pictures.relevance_tables(relevance_matrix),
    "histogram": lambda: measures.score_histogram(score_variance, sizes=(4, 16), n=500),
    "saturation": lambda: measures.saturation_curves(saturation, sizes=(4, 64), n=50),
    "cost": lambda: measures.cost_curves(count_multiplications, weights_memory, fit_exponent),
    "time": lambda: measures.time_against_length(scaled_dot_product_attention, fit_exponent),
    "preview": pictures.lab03_preview,
    "map": lambda: attention_map(torch.eye(3), ["a", "b", "c"], ["a", "b", "c"], "identity"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_titles_axes_and_words_for_those_who_do_not_see_it(name: str) -> None:
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
        lambda: pictures.projection_tables(unwritten),
        lambda: pictures.moved_words(qkv, unwritten),
        lambda: pictures.sentence_attention(unwritten, scaled_dot_product_attention),
        lambda: pictures.value_mixing(qkv, unwritten),
        lambda: pictures.relevance_tables(unwritten),
        lambda: measures.score_histogram(unwritten),
        lambda: measures.saturation_curves(unwritten),
        lambda: measures.cost_curves(count_multiplications, unwritten, fit_exponent),
        lambda: measures.time_against_length(unwritten, fit_exponent),
        lambda: attention_map(unwritten, ["a"], ["a"]),
    ],
)
def test_a_blank_step_leaves_a_notice(draw: Callable[[], Drawn]) -> None:
    drawn = draw()
    assert drawn.axes == ()
    assert "still to be written" in drawn.missing


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
    _, panel = plt.subplots()
    attention_cells(panel, mask, names, names, digits=None)
    assert not panel.texts
    drawn.axes[0].figure.canvas.draw()


def test_what_is_drawn_of_the_sentence_is_what_the_steps_give() -> None:
    q, k, v = qkv(korea.embed(korea.ONE_ORDER), *korea.projections())
    out, weights = scaled_dot_product_attention(q, k, v)
    moved = pictures.moved_words(qkv, attention_loop).data["moved"]
    assert torch.allclose(moved, out)
    mixed = pictures.value_mixing(qkv, scaled_dot_product_attention, word="Korean").data
    assert torch.allclose(mixed["weights"], weights[5])
    assert torch.allclose(mixed["output"], out[5])


def test_the_chain_of_arrows_ends_at_the_output() -> None:
    drawn = pictures.value_mixing(qkv, scaled_dot_product_attention)
    arrows = [t for t in drawn.axes[1].texts if getattr(t, "arrow_patch", None) is not None]
    assert len(arrows) == len(WORDS)
    assert torch.allclose(torch.tensor(arrows[-1].xy).double(), drawn.data["output"])
    assert arrows[0].get_position() == (0, 0)


def test_the_preview_shows_what_the_lab_will_compute() -> None:
    q, k, v = qkv(korea.embed(korea.ONE_ORDER), *korea.projections())
    _, weights = scaled_dot_product_attention(q, k, v)
    shown = pictures.lab03_preview().data
    assert torch.allclose(shown["weights"].double(), weights, atol=0.0051)
    assert torch.allclose(shown["values"].double(), v)


def test_korea_matters_to_korean_and_not_the_other_way_round() -> None:
    tables = pictures.relevance_tables(relevance_matrix).data
    one, two = tables["one matrix"], tables["two matrices"]
    assert torch.allclose(one, one.T)
    assert two[5, 1] > two[1, 5] + 3


def test_words_look_at_the_same_words_in_either_order() -> None:
    drawn = pictures.sentence_attention(
        qkv, scaled_dot_product_attention, [korea.ONE_ORDER, korea.OTHER_ORDER]
    )
    order = [WORDS.index(word) for word in korea.OTHER_ORDER.split()]
    first, second = drawn.data.values()
    assert torch.allclose(second, first[order][:, order])


def test_scores_spread_with_d_until_they_are_scaled() -> None:
    drawn = measures.score_histogram(score_variance)
    spread = drawn.data["plain"].sqrt() / drawn.data["sizes"].sqrt()
    assert torch.allclose(spread, torch.ones(4).double(), atol=0.05)
    assert torch.allclose(drawn.data["scaled"], torch.ones(4).double(), atol=0.1)
    largest = measures.saturation_curves(saturation).data
    assert largest["plain"][-1] > 0.9
    assert largest["scaled"][-1] < 0.2


def test_cost_is_a_straight_line_of_slope_two() -> None:
    data = measures.cost_curves(count_multiplications, weights_memory, fit_exponent).data
    for name in ("multiplications", "bytes"):
        assert abs(float(fit_exponent(data["lengths"], data[name])) - 2) < 1e-9
    assert data["bytes"][0] == 64 * 64 * 4


def test_the_sentences_hold_the_same_words_and_an_unknown_word_is_an_error() -> None:
    assert sorted(korea.ONE_ORDER.split()) == sorted(korea.OTHER_ORDER.split())
    assert korea.embed(korea.ONE_ORDER).shape == (6, len(korea.FEATURES))
    w_q, w_k, w_v = korea.projections()
    assert w_q.shape == w_k.shape == (len(korea.FEATURES), len(korea.ASKS))
    assert w_v.shape == (len(korea.FEATURES), 2)
    with pytest.raises(KeyError):
        korea.embed("in France")


def test_the_grey_area_is_the_smallest_that_holds_all_values() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    assert pictures._hull([*square, (1.0, 1.0), (0.5, 1.9), (1.0, 0.0)]) == square
