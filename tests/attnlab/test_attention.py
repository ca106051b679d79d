"""Basic self-attention and the equivariance gap: the lectures' apples, and what order does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from attnlab.attention import basic_self_attention
from attnlab.data.apples import (
    Sentence,
    attention_scores,
    brand_sentence,
    fruit_sentence,
    toy_alignment,
)
from attnlab.symmetry import equivariance_gap


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def moved(sentence: Sentence, mode: str, word: str) -> list[float]:
    out = basic_self_attention(sentence.vectors, mode, sentence.similarity)
    result: list[float] = out[sentence.index(word)].tolist()
    return result


def weights(sentence: Sentence, mode: str, word: str) -> list[float]:
    axes = torch.eye(5, dtype=torch.float64)
    out = basic_self_attention(axes, mode, sentence.similarity)
    result: list[float] = out[sentence.index(word)].tolist()
    return result


def test_lecture_n_apples() -> None:
    fruit, brand = fruit_sentence(), brand_sentence()
    assert moved(fruit, "sum", "apple") == pytest.approx([4.0, 7.2])
    assert moved(fruit, "sum", "fruit") == pytest.approx([1.0, 7.8])
    assert moved(fruit, "sum", "my") == pytest.approx([1.0, 1.0])
    # The lecture rounds .11/1.11 to .1.
    assert moved(brand, "sum", "apple") == pytest.approx([5.1, 6.3], abs=0.01)
    assert weights(fruit, "sum", "apple") == pytest.approx([0, 0, 0.2, 0, 0.8])
    assert weights(brand, "sum", "apple") == pytest.approx([0, 0, 0.0991, 0, 0.9009], abs=5e-5)


def test_softmax_gives_other_weights() -> None:
    expected = [0.1428, 0.1428, 0.1834, 0.1428, 0.3882]
    assert weights(fruit_sentence(), "softmax", "apple") == pytest.approx(expected, abs=5e-5)


def test_the_lectures_tables_are_as_printed() -> None:
    fruit = fruit_sentence()
    assert fruit.words == ("my", "favourite", "fruit", "is", "apple")
    assert torch.equal(fruit.similarity, fruit.similarity.T)
    vectors = {word: fruit.vectors[fruit.index(word)] for word in ("apple", "fruit")}
    brand = brand_sentence()
    vectors["brand"] = brand.vectors[brand.index("brand")]
    assert float(vectors["apple"] @ vectors["fruit"]) == 56
    assert float(vectors["apple"] @ vectors["brand"]) == 30
    assert attention_scores().sum(1).tolist() == pytest.approx([1, 1, 1.1, 1])
    assert toy_alignment().sum(1).tolist() == pytest.approx([5 / 6, 2 / 3, 2 / 3, 2 / 3])
    assert toy_alignment().sum(0).tolist() == pytest.approx([1, 5 / 6, 1])


def test_softmax_mode_is_torchs_attention_without_its_scale() -> None:
    X = normal(2, 5, 3)
    expected = torch.nn.functional.scaled_dot_product_attention(X, X, X, scale=1.0)
    assert torch.allclose(basic_self_attention(X), expected, atol=1e-12)


def test_sentences_of_a_batch_do_not_see_each_other() -> None:
    X = normal(2, 3, 5, 4).exp()
    for mode in ("softmax", "sum"):
        one_by_one = torch.stack([
            torch.stack([basic_self_attention(x, mode) for x in row]) for row in X
        ])
        assert torch.allclose(basic_self_attention(X, mode), one_by_one, atol=1e-12)


def test_a_word_that_resembles_nothing() -> None:
    X = normal(4, 3).exp()
    X[2] = 0
    assert torch.equal(basic_self_attention(X, "sum")[2], torch.zeros(3))
    assert torch.allclose(basic_self_attention(X, "softmax")[2], X.mean(0))


def test_gradients_reach_words_and_table() -> None:
    X, table = normal(4, 3).exp().requires_grad_(), normal(4, 4).exp().requires_grad_()
    assert gradcheck(lambda X: basic_self_attention(X, "softmax"), X)
    assert gradcheck(lambda X, S: basic_self_attention(X, "sum", S), (X, table))


def test_attention_has_no_gap_and_places_make_one() -> None:
    X, perm = normal(6, 4), torch.tensor([2, 0, 1, 5, 3, 4])
    places = torch.arange(6.0)[:, None]
    assert float(equivariance_gap(basic_self_attention, X, perm)) < 1e-12
    assert float(equivariance_gap(lambda X: basic_self_attention(X + places), X, perm)) > 0.1


def test_the_gap_is_the_largest_difference() -> None:
    X = torch.zeros(3, 2)
    places = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, -7.0]])
    gap = equivariance_gap(lambda X: X + places, X, torch.tensor([2, 0, 1]))
    assert gap == 7
    assert gap.shape == ()
