"""Bits per byte, counted by hand and compared with what is known."""

from __future__ import annotations

import gzip
import math

import pytest

from attnlab.compression import bigram_loss, compression_curve, gzip_bits_per_byte
from attnlab.data.markov import NUM_SYMBOLS, course_source


def test_gzip_is_the_real_one():
    text = "é and again é " * 50
    data = text.encode()
    assert gzip_bits_per_byte(text) == 8 * len(gzip.compress(data, 9, mtime=0)) / len(data)


def test_a_table_of_pairs_by_hand():
    # Trained on 0 1 0 1 2: (0, 1) twice, (1, 0) and (1, 2) once; p(1) = 3/8 of five and three.
    expected = -(math.log((2 + 3 / 8) / 3) + math.log((1 + 2 / 8) / 3)) / 2
    assert bigram_loss([0, 1, 0, 1, 2], [0, 1, 2], 3) == pytest.approx(expected)


def test_the_table_of_a_source_costs_what_one_known_symbol_leaves():
    """Of the order-2 source, a table of pairs knows one symbol of two."""
    source = course_source()
    ids = source.sequences("train", 400, 100).flatten().tolist()
    loss = bigram_loss(ids, ids[:10_000], NUM_SYMBOLS)
    assert loss == pytest.approx(source.entropies[1], abs=0.03)


def test_tokens_per_word_and_bytes_per_token_for_each_size() -> None:
    merges = [(b"l", b"o"), (b"lo", b"w"), (b" ", b"low")]
    assert compression_curve("low low\n", merges, [3, 0]) == [(1.5, 8 / 3), (4.0, 1.0)]
