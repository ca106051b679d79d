"""The Markov source: its entropy rate is right, its bytes are the same on every machine."""

from __future__ import annotations

import hashlib
import math

import pytest
import torch
from torch import Tensor

from attnlab.data.markov import NUM_SYMBOLS, TICKETS, course_source, sparse_source

SOURCE = course_source()


def digest(ids: Tensor) -> str:
    return hashlib.sha256(bytes(ids.flatten().tolist())).hexdigest()


def test_the_urns_and_the_sequences_are_the_same_bytes_on_every_machine() -> None:
    assert digest(SOURCE.urns) == URNS
    assert {split: digest(SOURCE.sequences(split, 256, 32)) for split in SPLITS} == SPLITS


URNS = "c618003ba2bfa2baa2085b0167459c898eeb37a6f4e2c5775e9a02cf7a03ebb9"
SPLITS = {
    "train": "277f1e647a64e0916dc510131aa95b20d5d64267f9b85e6008713823315f4a37",
    "validation": "1d599016fb483de47b1203a5f073503048d44667ba34322a2d80cf33bbedc3a1",
    "hidden": "fe27db94089f900beb21922ee67a42ec2c0a6381099544faadbfdb60d680d18a",
}


def test_each_pair_of_symbols_has_an_urn_full_of_tickets() -> None:
    assert SOURCE.urns.shape == (NUM_SYMBOLS, NUM_SYMBOLS, TICKETS)
    transitions = SOURCE.transitions
    torch.testing.assert_close(transitions.sum(-1), torch.ones(8, 8, dtype=torch.float64))
    assert bool((transitions > 0).all()), "every symbol can follow every pair"


def test_the_entropy_rate_is_the_floor_of_the_lab() -> None:
    assert SOURCE.entropy_rate == pytest.approx(1.373, abs=5e-4)
    none, one, two = SOURCE.entropies
    assert math.log(NUM_SYMBOLS) > none > one > two == SOURCE.entropy_rate


def test_the_entropy_rate_equals_that_from_eigenvectors() -> None:
    transitions = SOURCE.transitions
    steps = torch.zeros(8, 8, 8, 8, dtype=torch.float64)
    for a in range(8):
        for b in range(8):
            steps[a, b, b] = transitions[a, b]
    steps = steps.reshape(64, 64)
    values, vectors = torch.linalg.eig(steps.T)
    stationary = vectors[:, values.real.argmax()].real
    stationary = stationary / stationary.sum()
    torch.testing.assert_close(stationary.reshape(8, 8), SOURCE.pairs)
    rows = -torch.xlogy(steps, steps).sum(1)
    assert float(stationary @ rows) == pytest.approx(SOURCE.entropy_rate, abs=1e-12)


def test_the_pairs_are_stationary() -> None:
    pairs = SOURCE.pairs
    assert float(pairs.sum()) == pytest.approx(1)
    torch.testing.assert_close(pairs.sum(0), pairs.sum(1))


def test_sequences_are_drawn_with_these_probabilities() -> None:
    ids = SOURCE.sequences("train", 2000, 32, seed=4)
    p = SOURCE.transitions[ids[:, :-2], ids[:, 1:-1]].gather(-1, ids[:, 2:, None])
    assert float(-p.log().mean()) == pytest.approx(SOURCE.entropy_rate, abs=0.015)
    counts = torch.bincount(ids[:, 0] * 8 + ids[:, 1], minlength=64) / len(ids)
    torch.testing.assert_close(counts.double(), SOURCE.pairs.flatten(), atol=0.012, rtol=0)


def test_no_sequence_is_in_two_splits_whatever_the_seeds() -> None:
    def drawn(split: str) -> set[bytes]:
        return {bytes(row) for seed in range(3) for row in SOURCE.sequences(split, 500, 4, seed)}

    train, validation, hidden = (drawn(split) for split in SPLITS)
    assert not train & validation
    assert not train & hidden
    assert not validation & hidden


def test_equal_seeds_give_equal_sequences_and_others_do_not() -> None:
    first, again = (SOURCE.sequences("hidden", 20, 32, seed=7) for _ in range(2))
    other = SOURCE.sequences("hidden", 20, 32, seed=8)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert (first.shape, first.dtype) == ((20, 32), torch.int64)
    assert 0 <= int(first.min()) <= int(first.max()) < NUM_SYMBOLS


def test_an_unknown_split_is_an_error() -> None:
    with pytest.raises(ValueError, match="train, validation, hidden"):
        SOURCE.sequences("test", 1, 8)


def test_no_sequences_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        SOURCE.sequences("train", 0, 8)


def test_sources_are_compared_without_their_tensors() -> None:
    assert SOURCE == SOURCE
    assert course_source() != SOURCE


def test_the_sparse_source_is_the_same_on_every_machine_and_its_entropy_is_known() -> None:
    source = sparse_source()
    assert source.urns.shape == (24, 24, TICKETS)
    assert digest(source.urns) == SPARSE_URNS
    assert source.entropy_rate == pytest.approx(0.98931, abs=1e-5)
    pairs = source.pairs
    assert int((pairs > 0).sum()) == 24 * 24, "every pair of symbols occurs"
    followed = (pairs[..., None] * source.transitions).sum(0)
    torch.testing.assert_close(followed, pairs, msg="the long run is reached")
    ids = source.sequences("train", 400, 50)
    surprise = -source.transitions[ids[:, :-2], ids[:, 1:-1], ids[:, 2:]].log().mean()
    assert float(surprise) == pytest.approx(source.entropy_rate, abs=0.03)


SPARSE_URNS = "7d46268a4b1a81b38f087af53320a020d65072773da700cbbb3e8df1f7a70f15"
