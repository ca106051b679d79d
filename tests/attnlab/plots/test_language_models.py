"""Figures about language models draw what they are given, and name a step that is not written."""

from __future__ import annotations

import pytest
import torch

from attnlab.decoder_only import GPT, count_gpt_params, init_gpt
from attnlab.language_modeling import get_batch
from attnlab.plots import language_models
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

LOSSES = torch.tensor([6.0, 4.0, 3.0])
MADE = [
    lambda: language_models.before_training(GPT, init_gpt),
    lambda: language_models.sizes(count_gpt_params),
    lambda: language_models.loss_and_staircase(LOSSES, (2.06, 1.93, 1.37)),
    lambda: language_models.bits_per_byte({"gzip": 3.1, "your GPT": 2.3, "x": None}, LOSSES),
]


@pytest.mark.parametrize("make", MADE)
def test_figures_fit_a_page_and_are_named(make):
    drawn = make()
    assert_named(drawn)
    assert_fits_a_page(drawn)


def test_a_fresh_model_sees_its_past_and_its_stream_grows():
    drawn = language_models.before_training(GPT, init_gpt)
    assert torch.equal(drawn.data["logits that change"], torch.ones(7, 7).tril().bool())
    scaled, plain = drawn.data["smaller last layers"], drawn.data["all 0.02"]
    assert scaled[0] == plain[0]
    assert scaled[-1] < plain[-1]


def test_sizes_are_counted_by_the_students_function():
    drawn = language_models.sizes(lambda cfg: 200_000_000)
    assert drawn.data["parameters"].tolist() == [200.0] * 4


def test_windows_are_written_above_their_labels():
    drawn = language_models.windows(get_batch)
    assert torch.equal(drawn.data["y"], drawn.data["x"] + 1)
    assert len(drawn.note.splitlines()) == 4


def test_what_is_missing_is_left_out():
    drawn = language_models.bits_per_byte({"gzip": 3.1, "your GPT": None}, LOSSES)
    assert set(drawn.data) == {"gzip", "losses"}
    assert not language_models.bits_per_byte({"your GPT": None}, LOSSES).axes
    assert not language_models.loss_and_staircase(torch.empty(0), (2.0, 1.9, 1.4)).axes


def test_a_step_that_is_not_written_is_named():
    assert "unwritten" in language_models.before_training(GPT, unwritten).missing
    assert "unwritten" in language_models.sizes(unwritten).missing
