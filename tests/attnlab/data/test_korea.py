"""The sentence about Korea: two orders of the same words, and matrices that fit their vectors."""

from __future__ import annotations

import pytest

from attnlab.data import korea


def test_both_orders_have_the_same_words_and_an_unknown_word_is_an_error() -> None:
    assert sorted(korea.ONE_ORDER.split()) == sorted(korea.OTHER_ORDER.split())
    assert korea.embed(korea.ONE_ORDER).shape == (6, len(korea.FEATURES))
    w_q, w_k, w_v = korea.projections()
    assert w_q.shape == w_k.shape == (len(korea.FEATURES), len(korea.ASKS))
    assert w_v.shape == (len(korea.FEATURES), 2)
    with pytest.raises(KeyError):
        korea.embed("in France")
