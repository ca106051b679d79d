"""The figures of lab 3 about words draw what the student's steps return."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnlab.attention import (
    attention_loop,
    qkv,
    relevance_matrix,
    scaled_dot_product_attention,
)
from attnlab.data import korea
from attnlab.plots import attention
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

WORDS = korea.ONE_ORDER.split()


FIGURES: dict[str, Callable[[], Drawn]] = {
    "projections": lambda: attention.projection_tables(qkv),
    "moved": lambda: attention.moved_words(qkv, attention_loop),
    "sentences": lambda: attention.sentence_attention(
        qkv, scaled_dot_product_attention, [korea.ONE_ORDER, korea.OTHER_ORDER]
    ),
    "mixing": lambda: attention.value_mixing(qkv, scaled_dot_product_attention),
    "relevance": lambda: attention.relevance_tables(relevance_matrix),
    "preview": attention.lab03_preview,
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
        lambda: attention.projection_tables(unwritten),
        lambda: attention.moved_words(qkv, unwritten),
        lambda: attention.sentence_attention(unwritten, scaled_dot_product_attention),
        lambda: attention.value_mixing(qkv, unwritten),
        lambda: attention.relevance_tables(unwritten),
    ],
)
def test_a_step_that_is_not_written_leaves_a_notice(draw: Callable[[], Drawn]) -> None:
    drawn = draw()
    assert drawn.axes == ()
    assert "`unwritten` is not written" in drawn.missing


def test_the_figures_show_the_results_of_the_steps() -> None:
    q, k, v = qkv(korea.embed(korea.ONE_ORDER), *korea.projections())
    out, weights = scaled_dot_product_attention(q, k, v)
    moved = attention.moved_words(qkv, attention_loop).data["moved"]
    assert torch.allclose(moved, out)
    mixed = attention.value_mixing(qkv, scaled_dot_product_attention, word="Korean").data
    assert torch.allclose(mixed["weights"], weights[5])
    assert torch.allclose(mixed["output"], out[5])


def test_the_chain_of_arrows_ends_at_the_output() -> None:
    drawn = attention.value_mixing(qkv, scaled_dot_product_attention)
    arrows = [t for t in drawn.axes[1].texts if getattr(t, "arrow_patch", None) is not None]
    assert len(arrows) == len(WORDS)
    assert torch.allclose(torch.tensor(arrows[-1].xy).double(), drawn.data["output"])
    assert arrows[0].get_position() == (0, 0)


def test_the_preview_shows_what_the_lab_will_compute() -> None:
    q, k, v = qkv(korea.embed(korea.ONE_ORDER), *korea.projections())
    _, weights = scaled_dot_product_attention(q, k, v)
    shown = attention.lab03_preview().data
    assert torch.allclose(shown["weights"].double(), weights, atol=0.0051)
    assert torch.allclose(shown["values"].double(), v)


def test_korea_matters_more_to_korean_than_korean_to_korea() -> None:
    tables = attention.relevance_tables(relevance_matrix).data
    one, two = tables["one matrix"], tables["two matrices"]
    assert torch.allclose(one, one.T)
    assert two[5, 1] > two[1, 5] + 3


def test_words_attend_to_the_same_words_in_either_order() -> None:
    drawn = attention.sentence_attention(
        qkv, scaled_dot_product_attention, [korea.ONE_ORDER, korea.OTHER_ORDER]
    )
    order = [WORDS.index(word) for word in korea.OTHER_ORDER.split()]
    first, second = drawn.data.values()
    assert torch.allclose(second, first[order][:, order])


def test_the_grey_area_is_the_smallest_with_all_values() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    assert attention._hull([*square, (1.0, 1.0), (0.5, 1.9), (1.0, 0.0)]) == square
