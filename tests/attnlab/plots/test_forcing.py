"""Figures about the translator's parts draw what they return, even if a step is not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from attnlab.data.dates import BOS, EOS, Pair
from attnlab.models.dates_translator import dates_translator
from attnlab.plots import forcing
from attnlab.plots.canvas import Drawn
from attnlab.seq2seq import AdditiveScore, AttentionDecoderCell, pad_batch, teacher_forced_loss
from demo.course_folder import REPOSITORY

MEASURED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"
PAIRS = [Pair("5 march 1998", "1998-03-05"), Pair("march 1998", "1998-03")]

pytestmark = pytest.mark.usefixtures("no_windows")


@pytest.fixture(scope="module")
def model() -> Any:
    made = dates_translator(AttentionDecoderCell)
    made.load_state_dict(load_file(MEASURED / "dates.safetensors"))
    return made.eval()


FIGURES: dict[str, Callable[[Any], Drawn]] = {
    "padded_table": lambda model: forcing.padded_table(pad_batch, ["is", "attention", "all"]),
    "score_growth": lambda model: forcing.score_growth(AdditiveScore),
    "one_step": lambda model: forcing.one_step(lambda: model, ["5 march 1998", "1998-03"]),
    "fed_and_asked": lambda model: forcing.fed_and_asked(teacher_forced_loss, PAIRS),
    "training_curve": lambda model: forcing.training_curve(model, torch.rand(130)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_names_its_axes(name: str, model: Any) -> None:
    drawn = FIGURES[name](model)
    assert not drawn.missing
    drawn.axes[0].figure.canvas.draw()
    assert drawn.axes[0].figure.alt.endswith(".")
    assert all(axes.get_xlabel() and axes.get_title(loc="left") for axes in drawn.axes)
    assert drawn.data


def _blank(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize(
    "draw",
    [
        lambda model: forcing.padded_table(_blank, ["is"]),
        lambda model: forcing.score_growth(_blank),
        lambda model: forcing.one_step(_blank, ["may 1951"]),
        lambda model: forcing.fed_and_asked(_blank, PAIRS),
        lambda model: forcing.training_curve(None, torch.empty(0)),
    ],
)
def test_a_step_that_is_not_written_leaves_a_sentence(
    draw: Callable[[Any], Drawn], model: Any
) -> None:
    drawn = draw(model)
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
