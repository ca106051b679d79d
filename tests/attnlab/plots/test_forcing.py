"""Figures about the translator's parts draw what they return, even if a step is not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnlab.data.dates import BOS, EOS, Pair
from attnlab.plots import forcing
from attnlab.plots.canvas import Drawn
from attnlab.seq2seq import AdditiveScore, pad_batch, teacher_forced_loss
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

PAIRS = [Pair("5 march 1998", "1998-03-05"), Pair("march 1998", "1998-03")]

pytestmark = pytest.mark.usefixtures("no_windows")


FIGURES: dict[str, Callable[[Any], Drawn]] = {
    "padded_table": lambda model: forcing.padded_table(pad_batch, ["is", "attention", "all"]),
    "score_growth": lambda model: forcing.score_growth(AdditiveScore),
    "one_step": lambda model: forcing.one_step(lambda: model, ["5 march 1998", "1998-03"]),
    "fed_and_asked": lambda model: forcing.fed_and_asked(teacher_forced_loss, PAIRS),
    "training_curve": lambda model: forcing.training_curve(model, torch.rand(130)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_names_its_axes(name: str, translator: Any) -> None:
    drawn = FIGURES[name](translator)
    assert drawn.axes[0].figure.alt.endswith(".")
    assert_fits_a_page(drawn)
    assert_named(drawn)
    assert drawn.data


@pytest.mark.parametrize(
    "draw",
    [
        lambda model: forcing.padded_table(unwritten, ["is"]),
        lambda model: forcing.score_growth(unwritten),
        lambda model: forcing.one_step(unwritten, ["may 1951"]),
        lambda model: forcing.fed_and_asked(unwritten, PAIRS),
        lambda model: forcing.training_curve(None, torch.empty(0)),
    ],
)
def test_a_step_that_is_not_written_leaves_a_sentence(
    draw: Callable[[Any], Drawn], translator: Any
) -> None:
    drawn = draw(translator)
    assert drawn.missing.startswith("No picture yet")
    assert not drawn.axes


def test_a_recorded_loss_shows_inputs_and_targets() -> None:
    data = forcing.fed_and_asked(teacher_forced_loss, PAIRS).data
    fed, asked = data["fed"], data["asked"]
    assert fed.shape == asked.shape == (2, 11)
    assert fed[:, 0].tolist() == [BOS, BOS]
    assert torch.equal(asked[0, :-1], fed[0, 1:])
    assert int(asked[0, -1]) == EOS
    assert asked[1, 7:].tolist() == [EOS, -1, -1, -1]


def test_the_additive_score_stays_within_its_bounds_and_comes_to_rest() -> None:
    drawn = forcing.score_growth(AdditiveScore)
    additive = drawn.data["additive"]
    top = max(
        float(line.get_ydata()[0]) for line in drawn.axes[0].lines if line.get_linestyle() == ":"
    )  # type: ignore[index,arg-type]
    assert float(additive.abs().max()) <= top
    assert float((additive[-1] - additive[-20]).abs()) < 0.02 * top


def test_a_score_without_bounds_stays_in_the_picture_and_is_named() -> None:
    class WithoutTanh(AdditiveScore):
        def forward(self, state: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
            spread = state[:, None, :].expand(-1, hidden.shape[1], -1)
            scores: torch.Tensor = self.a(self.W(torch.cat([spread, hidden], -1)))
            return scores.squeeze(-1)

    drawn = forcing.score_growth(WithoutTanh)
    assert "between the dotted lines" in drawn.note
    assert float(drawn.data["additive"].abs().max()) < drawn.axes[0].get_ylim()[1]
    assert not forcing.score_growth(AdditiveScore).note


def test_the_mask_of_the_prediction_has_seven_entries() -> None:
    drawn = forcing.padded_table(pad_batch, ["query", "to", ""])
    assert drawn.axes[1].get_title(loc="left") == "mask (3, 5), 7 True (dark)"


def test_padding_is_hatched_in_one_step(translator: Any) -> None:
    drawn = forcing.one_step(lambda: translator, ["5 march 1998", "thursday, march 5th 1998"])
    hatched = [patch for patch in drawn.axes[0].patches if patch.get_hatch()]
    assert [patch.get_width() for patch in hatched] == [12, 0]  # type: ignore[attr-defined]
