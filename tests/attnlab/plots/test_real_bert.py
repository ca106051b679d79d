"""The figures about real weights, drawn with a small model of the same form."""

from __future__ import annotations

import pytest
import torch

from attnlab.bert import Bert, BertConfig
from attnlab.models.minilm import MiniLM
from attnlab.plots import real_bert
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")


@pytest.fixture
def small() -> MiniLM:
    texts = [text for texts in real_bert.BANKS.values() for text in texts]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({w for t in texts for w in t.split()})]
    torch.manual_seed(0)
    cfg = BertConfig(len(words), d_model=12, num_heads=2, d_ff=16, num_layers=3, max_len=20)
    return MiniLM(Bert(cfg).eval(), {word: number for number, word in enumerate(words)})


def test_similarities_are_listed_next_to_published_ones(small: MiniLM) -> None:
    drawn = real_bert.published_similarities(small)
    assert len(drawn.note.splitlines()) == 5
    assert "0.2568761" in drawn.note
    assert real_bert.published_similarities(None).missing


def test_one_word_starts_with_one_vector_and_is_followed_through_the_layers(small: MiniLM) -> None:
    drawn = real_bert.one_word(small)
    assert_fits_a_page(drawn)
    same, other = drawn.data["the same sense"], drawn.data["another sense"]
    assert (same.shape, other.shape) == ((2, 4), (4, 4))
    torch.testing.assert_close(other[:, 0], torch.ones(4))
    assert (other[:, -1] < 0.999).all()
    assert not any(layer._forward_hooks for layer in small.model.layers)
    assert real_bert.one_word(None).missing
