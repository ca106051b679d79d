"""Lecture N's sentences about apples, and two score tables of the lectures."""

from __future__ import annotations

import pytest
import torch

from attnlab.data.apples import attention_scores, brand_sentence, fruit_sentence, toy_alignment


@pytest.mark.parametrize(
    ("sentence", "topic", "similarity"),
    [(fruit_sentence(), "fruit", 0.25), (brand_sentence(), "brand", 0.11)],
)
def test_apple_is_similar_to_one_other_word(sentence, topic: str, similarity: float) -> None:
    table, apple = sentence.similarity, sentence.index("apple")
    assert torch.equal(table, table.T)
    assert table.diagonal().tolist() == [1.0] * 5
    assert table[apple].nonzero().flatten().tolist() == [sentence.index(topic), apple]
    assert float(table[apple, sentence.index(topic)]) == similarity
    assert sentence.vectors[apple].tolist() == [5.0, 7.0]
    assert (sentence.vectors.shape, sentence.vectors.dtype) == ((5, 2), torch.float64)


def test_an_unknown_word_is_an_error() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        fruit_sentence().index("pear")


def test_the_tables_of_the_lectures() -> None:
    assert attention_scores().sum(1).tolist() == pytest.approx([1.0, 1.0, 1.1, 1.0])
    assert toy_alignment().shape == (4, 3)
    assert toy_alignment()[0].tolist() == pytest.approx([1 / 2, 1 / 6, 1 / 6])
