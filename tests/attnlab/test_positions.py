"""Positions: the lectures' numbers, properties of waves, and what word order changes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from attnlab.checking.dtypes import under_default_dtype
from attnlab.data.chicken import SENTENCES, WORDS, place_of, token_ids
from attnlab.models.word_order import D_MODEL, WordOrder, blind_to_order, vectors_of
from attnlab.positions import (
    LearnedPositions,
    PositionalEncoding,
    alibi_bias,
    apply_rope,
    shift_matrix,
    sinusoidal_pe,
)


def in_float64(n: int, d: int, base: float = 10000.0) -> Tensor:
    found: Tensor = under_default_dtype(torch.float64, sinusoidal_pe, n, d, base)
    return found


@pytest.mark.parametrize(
    ("base", "row"),
    [
        (10000.0, [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000]),
        (1000.0, [0.8415, 0.5403, 0.1769, 0.9842, 0.0316, 0.9995, 0.0056, 1.0000]),
    ],
)
def test_position_1_is_as_in_the_lectures(base: float, row: list[float]) -> None:
    torch.testing.assert_close(sinusoidal_pe(2, 8, base)[1], torch.tensor(row), atol=6e-5, rtol=0)


def test_each_entry_is_the_formula() -> None:
    for d in (1, 2, 7, 8):
        table = in_float64(6, d)
        for p in range(6):
            for c in range(d):
                angle = p / 10000 ** ((c - c % 2) / d)
                right = math.cos(angle) if c % 2 else math.sin(angle)
                assert abs(float(table[p, c]) - right) < 1e-12


def test_far_positions_keep_six_digits_in_float32() -> None:
    exact = in_float64(5001, 512)
    assert sinusoidal_pe(5001, 512).dtype == torch.float32
    assert (sinusoidal_pe(5001, 512)[5000] - exact[5000]).abs().max() < 1e-6
    position = torch.arange(5001.0)[:, None]
    angle = position / 10000 ** (torch.arange(0, 512, 2) / 512)
    assert (angle.sin()[5000] - exact[5000, 0::2]).abs().max() > 1e-4, "float32 angles are worse"


def test_rows_of_even_width_have_one_length_and_similarity_depends_on_the_distance() -> None:
    for base in (1000.0, 10000.0):
        table = in_float64(40, 64, base)
        torch.testing.assert_close(table.square().sum(-1), torch.full((40,), 32.0).double())
        gram = table @ table.T
        for k in range(40):
            diagonal = gram.diagonal(k)
            assert (diagonal - diagonal[0]).abs().max() < 1e-10
    assert float(sinusoidal_pe(100, 512)[77].norm()) == pytest.approx(16.0, abs=1e-4)


def test_bases_differ_from_column_2_on_and_in_the_longest_wave() -> None:
    differs = (sinusoidal_pe(9, 8, 1000.0) != sinusoidal_pe(9, 8)).any(0)
    assert differs.tolist() == [False, False] + [True] * 6
    longest = {base: 2 * math.pi * base ** (510 / 512) for base in (1000, 10000)}
    assert longest == {1000: pytest.approx(6116, abs=1), 10000: pytest.approx(60612, abs=1)}


def test_half_precision_positions_are_not_unique() -> None:
    assert len(torch.arange(5001).half().unique()) == 3299
    assert torch.tensor(257).to(torch.bfloat16) == 256


@pytest.mark.parametrize("k", [3, -3, 0, 4000])
def test_one_matrix_moves_every_position(k: int) -> None:
    matrix = under_default_dtype(torch.float64, shift_matrix, k, 16)
    table = in_float64(4100, 16)
    for p in (0, 5, 40) if k >= 0 else (50, 60):
        assert (matrix @ table[p + k] - table[p]).abs().max() < 1e-9
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(16).double())


def test_shifts_add_up_and_odd_widths_are_refused() -> None:
    torch.testing.assert_close(shift_matrix(3, 8) @ shift_matrix(-3, 8), torch.eye(8))
    torch.testing.assert_close(shift_matrix(2, 8) @ shift_matrix(5, 8), shift_matrix(7, 8))
    with pytest.raises(ValueError, match="7 columns"):
        shift_matrix(1, 7)


def test_the_encoding_is_a_buffer_that_follows_the_module() -> None:
    layer = PositionalEncoding(6, 9)
    assert list(layer.parameters()) == []
    assert layer.double()(torch.zeros(2, 4, 6).double()).dtype == torch.float64
    assert layer.to("meta").pe.is_meta
    with torch.device("meta"):
        assert PositionalEncoding(6, 9).pe.is_meta


def test_rows_go_to_positions_and_too_many_are_refused() -> None:
    layer = PositionalEncoding(6, 5).eval()
    for batch, length in ((1, 5), (3, 4), (4, 4)):
        out = layer(torch.zeros(batch, length, 6))
        assert all(torch.equal(row, sinusoidal_pe(5, 6)[:length]) for row in out)
    for most, length in ((5, 6), (1, 5)):
        with pytest.raises(ValueError, match=rf"{length} .* {most}"):
            PositionalEncoding(6, most)(torch.zeros(2, length, 6))


def test_dropout_is_of_the_sum() -> None:
    layer = PositionalEncoding(6, 5, dropout=1.0)
    assert not layer(torch.ones(2, 4, 6)).any()
    assert layer.eval()(torch.ones(2, 4, 6)).any()


def test_a_word_vector_is_shorter_than_a_position() -> None:
    embedding = nn.Embedding(2000, 512)
    nn.init.normal_(embedding.weight, std=512**-0.5, generator=torch.Generator().manual_seed(0))
    lengths = embedding.weight.detach().norm(dim=-1)
    assert 0.98 < float(lengths.mean()) < 1.02
    assert 22 < 512**0.5 < 23


def test_the_four_sentences_are_one_bag_of_words() -> None:
    assert len(set(SENTENCES)) == 4
    assert all(sorted(s.split()) == sorted(SENTENCES[0].split()) for s in SENTENCES)
    ids, at = token_ids(), place_of("chicken")
    assert [WORDS[ids[i, at[i]]] for i in range(4)] == ["chicken"] * 4
    with pytest.raises(ValueError, match="cow"):
        place_of("cow")


def test_without_positions_a_word_has_one_vector_and_with_them_four() -> None:
    at = place_of("chicken")
    assert spread(vectors_of(WordOrder(None), at)) < 1e-6
    for layer in (PositionalEncoding(D_MODEL, 5), LearnedPositions(5, D_MODEL)):
        vectors = vectors_of(WordOrder(layer), at)
        apart = (vectors[:, None] - vectors).norm(dim=-1) + torch.eye(4)
        assert apart.min() > 0.05
        assert apart.max() > 1


def test_the_word_the_has_one_vector_without_positions_and_eight_with_them() -> None:
    ids = token_ids()
    for layer, count in ((None, 1), (PositionalEncoding(D_MODEL, 5), 8)):
        with torch.no_grad():
            found = WordOrder(layer)(ids)[ids == 0]
        assert len({tuple(v) for v in found.round(decimals=4).tolist()}) == count


def test_one_causal_layer_is_blind_to_the_order_of_earlier_words_and_two_are_not() -> None:
    assert blind_to_order(1) < 1e-6
    assert blind_to_order(2) > 0.05


def spread(vectors: Tensor) -> float:
    return float((vectors - vectors[0]).norm(dim=-1).max())


def test_learned_positions_are_a_table() -> None:
    layer = LearnedPositions(7, 3)
    x = torch.randn(2, 5, 3)
    torch.testing.assert_close(layer(x) - x, layer.embedding.weight[:5].expand(2, 5, 3))
    assert [tuple(p.shape) for p in layer.parameters()] == [(7, 3)]


def test_scores_of_turned_vectors_depend_on_distances_alone_even_with_gaps() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 4, 8, generator=generator, dtype=torch.float64)
    positions = torch.tensor([0, 3, 4, 90])
    scores = apply_rope(q, positions) @ apply_rope(k, positions).T
    later = apply_rope(q, positions + 1000) @ apply_rope(k, positions + 1000).T
    torch.testing.assert_close(scores, later)
    assert (scores - q @ k.T).abs().max() > 0.1
    torch.testing.assert_close(apply_rope(q, positions).norm(dim=-1), q.norm(dim=-1))
    with pytest.raises(ValueError, match="7 features"):
        apply_rope(torch.zeros(2, 7), torch.arange(2))


def test_a_turn_is_the_inverse_of_the_shift_matrix() -> None:
    x = torch.randn(1, 8, dtype=torch.float64)
    matrix = under_default_dtype(torch.float64, shift_matrix, -5, 8)
    # Features 2i and 2i + 1 are cosine and sine here, so the blocks are those of the transpose.
    torch.testing.assert_close(apply_rope(x, torch.tensor([5])), x @ matrix)


def test_slopes_of_eight_heads() -> None:
    bias = alibi_bias(8, 5)
    torch.testing.assert_close(-bias[:, 1, 0], torch.tensor([2.0**-i for i in range(1, 9)]))
    assert torch.equal(alibi_bias(8, 2, 5), bias[:, -2:])
    assert not bias.diagonal(dim1=1, dim2=2).any()
    assert (bias <= 0).all()
