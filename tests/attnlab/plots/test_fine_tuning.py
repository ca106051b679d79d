"""The figure about few labels compares three ways on the same sentences."""

from __future__ import annotations

import pytest
import torch

from attnlab.bert import Bert
from attnlab.fine_tuning import Classifier, accuracy, fine_tune
from attnlab.models.topics_bert import small_bert
from attnlab.plots import fine_tuning
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_three_ways_are_measured_on_the_same_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "PER_TOPIC", (1, 3))
    monkeypatch.setattr(fine_tuning, "DRAWS", 2)
    monkeypatch.setattr(fine_tuning, "SCRATCH_STEPS", 2)

    def short(classifier, ids, labels, steps=2):
        return fine_tune(classifier, ids, labels, steps)

    state = torch.get_rng_state()
    bert = small_bert(Bert).eval()
    drawn = fine_tuning.few_labels_in_three_ways(bert, Bert, Classifier, short, accuracy)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert list(drawn.data) == list(fine_tuning.WAYS)
    assert all(shares.shape == (2, 2) for shares in drawn.data.values())
    counted = drawn.data["counting words (naive Bayes)"].mean(1)
    assert 0.4 < counted[0] < counted[1] < 0.95
    assert torch.equal(torch.get_rng_state(), state)
    assert len(drawn.note.splitlines()) == 4


def test_right_answers_are_counted_and_the_labels_listed() -> None:
    bert = small_bert(Bert).eval()
    drawn = fine_tuning.right_answers(Classifier(bert, 64, 5), accuracy)
    *labelled, counted = drawn.note.splitlines()
    assert [line.split()[-1] for line in labelled] == ["kitchen", "music", "sea", "space", "garden"]
    assert all(line.split()[0] == "[CLS]" for line in labelled)
    assert counted == f"{drawn.data['share'].item():.1%} of 1,000 new sentences are right."
    assert fine_tuning.right_answers(None, accuracy).missing
    assert "`unwritten`" in fine_tuning.right_answers(bert, unwritten).missing


def test_a_missing_model_or_step_is_named() -> None:
    bert = small_bert(Bert)
    parts = (Bert, Classifier, unwritten, accuracy)
    assert fine_tuning.few_labels_in_three_ways(None, *parts).missing
    missing = fine_tuning.few_labels_in_three_ways(bert, *parts).missing
    assert missing == "No picture yet: `unwritten` is not written."
