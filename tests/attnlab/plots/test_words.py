"""Figures about words, and small tables, draw the data that they return."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.attention import basic_self_attention
from attnlab.data.apples import attention_scores, toy_alignment
from attnlab.equivariance import equivariance_gap
from attnlab.plots import words
from attnlab.plots.canvas import Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


FIGURES: dict[str, Callable[[], Drawn]] = {
    "apple_arrows": lambda: words.apple_arrows(basic_self_attention),
    "equivariance_bars": lambda: words.equivariance_bars(
        equivariance_gap,
        {"attention": basic_self_attention, "running sum": lambda X: X.cumsum(0)},
        torch.eye(2, dtype=torch.float64),
        torch.tensor([1, 0]),
    ),
    "number_tables": lambda: words.number_tables(
        {"N": attention_scores(), "S": toy_alignment()}, ["abcd", "1234"], ["abcd", "123"]
    ),
    "lab00_preview": words.lab00_preview,
    "lab01_preview": words.lab01_preview,
    "tensor_cells": lambda: words.tensor_cells(lambda: torch.arange(24).reshape(2, 3, 4)),
}
WITHOUT_AXES = ("lab00_preview", "number_tables")  # boxes and tables: names of rows and columns


def test_every_figure_is_tested_here() -> None:
    functions = {name for name, value in vars(words).items() if inspect.isfunction(value)}
    own = {name for name in functions if vars(words)[name].__module__ == words.__name__}
    assert set(FIGURES) == {name for name in own if not name.startswith("_")}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_axes_and_fits_a_page(name: str) -> None:
    drawn = FIGURES[name]()
    assert all(torch.isfinite(values).any() for values in drawn.data.values())
    if name not in WITHOUT_AXES:
        assert_named(drawn)
        # Bars that carry names need no name for their axis; panels may share the one at the left.
        assert drawn.axes[0].get_ylabel() or name == "equivariance_bars"
    assert_fits_a_page(drawn)


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    layers = {"attention": unwritten}
    drawn = words.equivariance_bars(equivariance_gap, layers, torch.eye(2), torch.tensor([1, 0]))
    assert (drawn.axes, plt.get_fignums()) == ((), [])
    assert "`unwritten`" in drawn.missing


@pytest.mark.parametrize(
    ("tensor", "said"), [(torch.zeros(4), "x has shape (4,)"), (3, "x is not a tensor")]
)
def test_a_tensor_with_other_axes_is_named_instead_of_drawn(
    tensor: torch.Tensor, said: str
) -> None:
    assert said in words.tensor_cells(lambda: tensor).missing


def test_arrows_end_where_attention_moves_the_words() -> None:
    drawn = FIGURES["apple_arrows"]()
    ends = [note.xy for note in drawn.axes[0].texts if note.arrow_patch is not None]
    assert ends == [pytest.approx((1.0, 7.8)), pytest.approx((4.0, 7.2))]
    assert drawn.data["fruit"][4].tolist() == pytest.approx([4.0, 7.2])


def test_bars_and_tables_show_their_numbers() -> None:
    bars = FIGURES["equivariance_bars"]()
    assert [patch.get_width() for patch in bars.axes[0].patches] == [0.0, 1.0]
    tables = FIGURES["number_tables"]()
    assert {"0.70", "0.10"} <= {text.get_text() for text in tables.axes[0].texts}
    assert not any("1.1" in text.get_text() for text in tables.axes[0].texts), "the answer to N2"


def test_a_rounded_zero_has_no_sign() -> None:
    drawn = words.number_tables({"t": torch.tensor([[-0.001, -0.5]])}, ["a"], ["bc"])
    assert [text.get_text() for text in drawn.axes[0].texts] == ["0.00", "−0.50"]
