"""The figures of lab 6 about positions draw what they return, and name a step not written."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.data.chicken import place_of
from attnlab.models.word_order import WordOrder, vectors_of
from attnlab.plots import positions
from attnlab.plots.canvas import Drawn
from attnlab.positions import apply_rope, shift_matrix, sinusoidal_pe
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

FIGURES: dict[str, Callable[[], Drawn]] = {
    "encoding_map": lambda: positions.encoding_map(sinusoidal_pe),
    "two_bases": lambda: positions.two_bases(sinusoidal_pe),
    "gram_matrices": lambda: positions.gram_matrices({"waves": lambda: sinusoidal_pe(9, 8)}),
    "turns": lambda: positions.turns(shift_matrix, sinusoidal_pe),
    "distances_between": lambda: positions.distances_between(
        {"none": lambda: vectors_of(WordOrder(None), place_of("chicken"))}, list("0123")
    ),
    "rope_scores": lambda: positions.rope_scores(apply_rope),
    "lab06_preview": positions.lab06_preview,
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert drawn.axes[0].get_ylabel()
    assert_fits_a_page(drawn)


def test_the_preview_is_the_encoding() -> None:
    torch.testing.assert_close(
        positions.lab06_preview().data["encoding"], sinusoidal_pe(50, 64).double(),
        atol=1e-5, rtol=0,
    )  # fmt: skip


def test_two_bases_agree_in_two_columns() -> None:
    one, other = positions.two_bases(sinusoidal_pe).data.values()
    assert torch.equal(one[:, :2], other[:, :2])
    assert not torch.equal(one[:, 2], other[:, 2])


def test_arrows_end_where_the_matrix_leads() -> None:
    data = positions.turns(shift_matrix, sinusoidal_pe).data
    torch.testing.assert_close(data["moved"][3:], data["encoding"][:-3], atol=1e-5, rtol=0)


def test_equal_distances_are_equally_similar() -> None:
    gram = positions.gram_matrices({"waves": lambda: sinusoidal_pe(9, 8)}).data["waves"]
    torch.testing.assert_close(gram.diagonal(2), gram[0, 2].expand(7), atol=1e-5, rtol=0)
    torch.testing.assert_close(gram.diagonal(), torch.ones(9).double(), atol=1e-5, rtol=0)


def test_rope_scores_agree_at_both_places() -> None:
    one, other = positions.rope_scores(apply_rope).data.values()
    torch.testing.assert_close(one, other)


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    blanks = (
        positions.encoding_map(unwritten),
        positions.turns(unwritten, sinusoidal_pe),
        positions.gram_matrices({"waves": unwritten}),
        positions.distances_between({"none": unwritten}, ["0"]),
        positions.rope_scores(unwritten),
    )
    assert all("`unwritten`" in drawn.missing for drawn in blanks)
    assert plt.get_fignums() == []
