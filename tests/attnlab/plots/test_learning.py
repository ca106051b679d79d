"""The figures about training a Transformer draw what was trained, and name a step not written."""

from __future__ import annotations

import pytest
import torch

from attnlab.batching import make_batch
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models.small_transformers import small_transformer
from attnlab.plots import learning
from attnlab.seq2seq_training import train_transformer
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")
RUN = torch.linspace(3, 0.001, 300)


def test_runs_are_drawn_and_those_without_steps_left_out() -> None:
    drawn = learning.losses({"copy": RUN, "dates": torch.empty(0), "numbers": RUN[:100]})
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert list(drawn.data) == ["copy", "numbers"]
    assert learning.losses({"copy": torch.empty(0)}).missing


def test_right_answers_are_counted() -> None:
    fresh = small_transformer("copy", Transformer, init_weights).eval()
    drawn = learning.right_answers({"copy": fresh, "dates": None}, greedy_decode)
    assert drawn.note.split() == ["copy", "0.0%", "of", "500", "new", "pairs"]
    assert learning.right_answers({"dates": None}, greedy_decode).missing


def test_two_other_models_are_trained_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "_STEPS", 3)
    monkeypatch.setattr(learning, "_NEW", 4)
    fresh = small_transformer("copy", Transformer, init_weights).eval()
    parts = (Transformer, init_weights, train_transformer, make_batch)
    drawn = learning.two_parts_missing(fresh, RUN, *parts, greedy_decode)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert list(drawn.data) == ["yours", "without a causal mask", "without positions"]
    assert len(drawn.data["without positions"]) == 3
    assert len(drawn.note.splitlines()) == 3
    missing = learning.two_parts_missing(
        fresh, RUN, Transformer, init_weights, unwritten, make_batch,
        greedy_decode,
    ).missing  # fmt: skip
    assert missing == "No picture yet: `unwritten` is not written."
