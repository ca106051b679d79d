"""The figures of a translator at work: the weights are the model's, bad text is one sentence."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from attnlab.data import dates, measured_lab07
from attnlab.data.vocabulary import split_words
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models.small_transformers import small_transformer
from attnlab.plots import reading
from demo.course_folder import REPOSITORY
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")
TRAINED = REPOSITORY / "autograder" / "exercises" / "lab07" / "train_transformer"


def trained(task: str) -> Any:
    model = small_transformer(task, Transformer, init_weights)
    model.load_state_dict(load_file(TRAINED / f"{task}.safetensors"))
    return model.eval()


@pytest.fixture(scope="module")
def dater() -> Any:
    return trained("dates")


@pytest.fixture(scope="module")
def counter() -> Any:
    return trained("numbers")


def test_a_date_is_drawn_over_its_words(dater: Any) -> None:
    drawn = reading.date(dater, greedy_decode, " Thursday, March 5th 1998 ")
    assert_named(drawn)
    assert_fits_a_page(drawn)
    (axes,) = drawn.axes
    assert axes.get_title("left") == "“thursday, march 5th 1998” → 1998-03-05"
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "thursday", ",", "march", "5th", "1998",
    ]  # fmt: skip
    assert [label.get_text() for label in axes.get_yticklabels()] == [*"1998-03-05", "end"]
    weights = drawn.data["weights"]
    assert weights.shape == (11, 5)
    assert bool((weights.sum(1) <= 1 + 1e-5).all())  # spaces belong to no word
    assert int(weights[3].argmax()) == 4, "for the 8 of 1998 it looks at the year"


def test_a_hover_names_the_letter(dater: Any) -> None:
    figure = reading.date(dater, greedy_decode, "5 march 1998").axes[0].figure
    tips = list(figure.tips.values())
    assert len(tips) == 11 * 3
    assert any("looked at “1998”" in tip and "most at its letter" in tip for tip in tips)


def test_a_number_is_drawn_and_the_preview_is_the_models(counter: Any) -> None:
    drawn = reading.number(counter, greedy_decode, measured_lab07.ENGLISH)
    assert_named(drawn)
    assert measured_lab07.FRENCH in drawn.axes[0].get_title("left")
    preview = reading.lab07_preview()
    assert_named(preview)
    torch.testing.assert_close(
        drawn.data["weights"].double(), preview.data["weights"], atol=0.03, rtol=0
    )
    assert measured_lab07.weights_of_a_number().shape == (
        len(split_words(measured_lab07.FRENCH)) + 1,
        len(split_words(measured_lab07.ENGLISH)),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("5 march 1998 q", "that no date of the training has"), (" , ", ""), ("", "Write a date")],
)
def test_a_text_that_is_no_date_is_one_sentence(dater: Any, text: str, sentence: str) -> None:
    drawn = reading.date(dater, greedy_decode, text)
    assert sentence in drawn.missing
    assert bool(drawn.axes) == (text == " , ")


@pytest.mark.parametrize(("text", "sentence"), [("one zillion", "'zillion'"), ("", "Write a")])
def test_a_text_that_is_no_number_is_one_sentence(counter: Any, text: str, sentence: str) -> None:
    drawn = reading.number(counter, greedy_decode, text)
    assert sentence in drawn.missing
    assert not drawn.axes


def test_new_formats_are_tried_one_line_each(dater: Any) -> None:
    drawn = reading.new_formats(dater, greedy_decode, count=5)
    assert len(drawn.note.splitlines()) == len(dates.NEW_FORMATS)
    assert 0 < float(drawn.data["shares"].mean()) < 1


def test_a_step_not_written_is_named(dater: Any) -> None:
    for drawn in (
        reading.date(dater, unwritten, "5 march 1998"),
        reading.new_formats(dater, unwritten),
    ):
        assert drawn.missing == "No picture yet: `unwritten` is not written."
    assert reading.date(None, greedy_decode, "5 march 1998").missing
