"""The figures of lab 10's first three steps draw what the functions return."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from attnlab.bert import Bert
from attnlab.plots import bert as plots
from attnlab.plots.canvas import Drawn
from attnlab.pretraining import make_nsp, mask_tokens
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

FIGURES: dict[str, Callable[[], Drawn]] = {
    "masked_words": lambda: plots.masked_words(mask_tokens),
    "pairs_in_rows": lambda: plots.pairs_in_rows(make_nsp),
    "both_directions": lambda: plots.both_directions(Bert),
}


pytestmark = pytest.mark.usefixtures("no_windows")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert len(drawn.axes[0].figure.alt) > 40  # type: ignore[union-attr]


def test_hidden_words_are_those_of_the_function() -> None:
    data = plots.masked_words(mask_tokens).data
    assert (data["seen"] == data["ids"])[data["labels"] < 0].all()
    axes = plots.masked_words(mask_tokens).axes[0]
    tips = list(axes.figure.tips.values())  # type: ignore[union-attr]
    hidden = sum("[MASK], label" in text for text in tips)
    assert hidden == int((data["seen"] == 3).sum()) > 0


def test_one_pair_belongs_together_and_the_other_does_not() -> None:
    data = plots.pairs_in_rows(make_nsp).data
    assert sorted(data["labels"].tolist()) == [0, 1]
    assert data["segments"].amax() == 1


def test_bert_looks_in_both_directions_and_not_at_padding() -> None:
    data = plots.both_directions(Bert).data
    words = len(plots.SENTENCE)
    moved = data["your Bert"][:words] > 1e-6
    assert moved[:, :words].all()
    assert not moved[:, words:].any()
    assert torch.equal(data["a GPT"] > 1e-6, torch.ones_like(data["a GPT"]).tril().bool())


@pytest.mark.parametrize("draw", [plots.masked_words, plots.pairs_in_rows, plots.both_directions])
def test_a_step_that_is_not_written_is_named(draw: Callable[..., Drawn]) -> None:
    assert "is not written" in draw(unwritten).missing
