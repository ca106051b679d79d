"""Lab 2's figures draw what they return, survive what is still blank, and tell the truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from attnlab.data import measured_lab02
from attnlab.data.dates import BOS, EOS, Pair, validation
from attnlab.decoding import beam_search, greedy, one_sentence
from attnlab.models.dates_translator import dates_translator
from attnlab.plots import alignment, forcing
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
    "alignments": lambda model: alignment.alignments(model, greedy, ["1998, march 5", "may 1951"]),
    "copied_by_length": lambda model: alignment.copied_by_length(),
    "beam_widths": lambda model: alignment.beam_widths(
        model, beam_search, one_sentence, validation()[:3], (1, 2)
    ),
    "lab02_preview": lambda model: alignment.lab02_preview(),
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
        lambda model: alignment.alignments(None, greedy, ["may 1951"]),
        lambda model: alignment.alignments(model, _blank, ["may 1951"]),
        lambda model: alignment.beam_widths(None, beam_search, one_sentence, validation()[:2]),
        lambda model: alignment.beam_widths(model, _blank, one_sentence, validation()[:2]),
        lambda model: forcing.padded_table(_blank, ["is"]),
        lambda model: forcing.score_growth(_blank),
        lambda model: forcing.one_step(_blank, ["may 1951"]),
        lambda model: forcing.fed_and_asked(_blank, PAIRS),
        lambda model: forcing.training_curve(None, torch.empty(0)),
    ],
)
def test_a_blank_step_leaves_a_sentence(draw: Callable[[Any], Drawn], model: Any) -> None:
    drawn = draw(model)
    assert drawn.missing.startswith("No picture yet")
    assert not drawn.axes


def test_the_eye_runs_along_the_diagonal_of_a_date(model: Any) -> None:
    weights = alignment.alignments(model, greedy, ["1998, march 5"]).data["1998, march 5"]
    assert weights.shape == (11, 13)
    assert torch.allclose(weights.sum(1), torch.ones(11))
    assert int(weights[3].argmax()) == 3  # the year's last digit
    assert int(weights[9].argmax()) == 12  # the day


def test_what_the_preview_shows_is_the_solutions_own_attention(model: Any) -> None:
    weights = alignment.alignments(model, greedy, [measured_lab02.DATE]).data[measured_lab02.DATE]
    assert (weights - measured_lab02.weights_of_a_date()).abs().max() < 0.02


def test_the_recorded_shares_are_those_that_were_measured() -> None:
    measured = json.loads((MEASURED / "without_attention.json").read_text("utf-8"))
    assert measured["trained_on"] == [measured_lab02.SHORTEST, measured_lab02.LONGEST]
    assert measured["lengths"] == list(measured_lab02.LENGTHS)
    for ours, theirs in (("with attention", "with attention"), ("without", "without attention")):
        shares = torch.tensor([run["right"] for run in measured[theirs]], dtype=torch.float64)
        assert torch.equal(measured_lab02.copied()[ours], shares)


def test_attention_copies_what_a_summary_forgets() -> None:
    within = torch.tensor(measured_lab02.LENGTHS) <= measured_lab02.LONGEST
    shares = {name: runs.mean(0) for name, runs in measured_lab02.copied().items()}
    assert shares["with attention"][within].min() > 0.99
    assert shares["without"][within][-1] < 0.1


def test_a_watched_loss_shows_what_is_fed_and_what_is_asked() -> None:
    data = forcing.fed_and_asked(teacher_forced_loss, PAIRS).data
    fed, asked = data["fed"], data["asked"]
    assert fed.shape == asked.shape == (2, 11)
    assert fed[:, 0].tolist() == [BOS, BOS]
    assert torch.equal(asked[0, :-1], fed[0, 1:])
    assert int(asked[0, -1]) == EOS
    assert asked[1, 7:].tolist() == [EOS, -1, -1, -1]


def test_a_wider_beam_is_never_said_to_find_less_than_greedy(model: Any) -> None:
    data = alignment.beam_widths(model, beam_search, one_sentence, validation()[:4], (1, 3)).data
    assert data["log-probability"][1] >= data["log-probability"][0] - 1e-9
    assert data["right"].shape == (2,)
