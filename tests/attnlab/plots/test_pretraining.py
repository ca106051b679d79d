"""The figures about a small BERT draw what was trained, and say if nothing was."""

from __future__ import annotations

import pytest
import torch

from attnlab.bert import Bert
from attnlab.models.topics_bert import small_bert
from attnlab.plots import pretraining
from tests.helpers.figures import assert_fits_a_page, assert_named

pytestmark = pytest.mark.usefixtures("no_windows")


def test_the_staircase_divides_the_scores() -> None:
    drawn = pretraining.staircase(torch.tensor([5.05, 0.5, 4.2, 0.7, 3.5, 0.99]))
    assert_named(drawn)
    assert_fits_a_page(drawn)
    torch.testing.assert_close(drawn.data["mlm"], torch.tensor([5.05, 4.2, 3.5]))
    torch.testing.assert_close(drawn.data["nsp"], torch.tensor([0.5, 0.7, 0.99]))
    assert pretraining.staircase(torch.empty(0)).missing


def test_every_word_has_a_place_in_the_plane() -> None:
    fresh = small_bert(Bert)
    drawn = pretraining.words_in_the_plane({"before": fresh, "after": small_bert(Bert, 1).eval()})
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert [list(places.shape) for places in drawn.data.values()] == [[150, 2], [150, 2]]
    assert fresh.training
    assert pretraining.words_in_the_plane({"before": fresh, "after": None}).missing


def test_guesses_are_a_distribution_for_each_sentence() -> None:
    model = small_bert(Bert).eval()
    drawn = pretraining.guesses(model, ["violin [MASK] flute drum", "[MASK] tide"])
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert all(abs(float(p.sum()) - 1) < 1e-5 for p in drawn.data.values())
    assert len(drawn.note.splitlines()) == 2
    assert pretraining.guesses(None, ["[MASK]"]).missing
