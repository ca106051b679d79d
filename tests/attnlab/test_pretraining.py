"""BERT's inputs: shares of hidden tokens within six standard deviations, and balanced pairs."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from attnlab.data.topics import CLS, PAD, SEP
from attnlab.pretraining import IGNORED, make_nsp, mask_tokens

VOCAB, MASK_ID = 1000, 3
SPECIAL = torch.tensor([0, 1, 2, MASK_ID])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def hidden():
    """100,000 ordinary tokens, and what became of them."""
    ids = torch.randint(4, VOCAB, (1000, 100), generator=seeded(1))
    return ids, *mask_tokens(ids, SPECIAL, VOCAB, MASK_ID, generator=seeded())


def within(share, expected, n):
    """Whether a share of n draws is within six standard deviations."""
    return abs(share - expected) <= 6 * (expected * (1 - expected) / n) ** 0.5


def test_tokens_are_chosen_replaced_and_kept_with_the_papers_shares(hidden):
    ids, x, labels = hidden
    chosen = labels != IGNORED
    assert within(chosen.double().mean().item(), 0.15, ids.numel())
    n = int(chosen.sum())
    assert within((x[chosen] == MASK_ID).double().mean().item(), 0.8, n)
    assert within((x[chosen] == ids[chosen]).double().mean().item(), 0.1 + 0.1 / 996, n)
    rows = chosen.sum(1).double()
    assert rows.var().item() == pytest.approx(100 * 0.15 * 0.85, rel=0.3)  # none has a fixed number


def test_labels_are_the_old_tokens_and_all_else_stays(hidden):
    ids, x, labels = hidden
    chosen = labels != IGNORED
    assert labels[chosen].equal(ids[chosen])
    assert x[~chosen].equal(ids[~chosen])
    assert x.dtype == labels.dtype == torch.int64


def test_special_tokens_are_never_chosen_and_never_drawn(hidden):
    _, x, _ = hidden
    assert not torch.isin(x, torch.tensor([0, 1, 2])).any()
    ids = torch.tensor([[1, 2, 0, 0]]).expand(500, -1)
    x, labels = mask_tokens(ids, SPECIAL, VOCAB, MASK_ID, 1.0, generator=seeded())
    assert x.equal(ids)
    assert (labels == IGNORED).all()


def test_each_call_hides_others_and_only_the_generator_moves():
    ids = torch.full((20, 20), 9)
    state, generator = torch.get_rng_state(), seeded()
    first = mask_tokens(ids, SPECIAL, VOCAB, MASK_ID, generator=generator)[1]
    second = mask_tokens(ids, SPECIAL, VOCAB, MASK_ID, generator=generator)[1]
    assert not first.equal(second)
    assert first.equal(mask_tokens(ids, SPECIAL, VOCAB, MASK_ID, generator=seeded())[1])
    assert torch.get_rng_state().equal(state)
    assert (ids == 9).all()


def written(document, *sentences):
    """A document whose sentences have one word each, or several."""
    return [torch.tensor(sentence) + 100 * document for sentence in sentences]


DOCUMENTS = [
    written(1, [1], [2, 3], [4]),
    written(2, [1, 2, 3], [4], [5], [6]),
    written(3, [1]),
    [],
]


@pytest.fixture(params=range(5))
def pairs(request):
    return make_nsp(DOCUMENTS, seeded(request.param))


def test_each_row_is_two_sentences_between_special_tokens(pairs):
    for ids, segments in zip(*(rows.tolist() for rows in pairs[:2]), strict=True):
        end = len(ids) - ids[::-1].index(SEP)
        first = ids.index(SEP) + 1
        assert ids[0] == CLS
        assert ids[:end].count(SEP) == 2
        assert ids[end:] == [PAD] * (len(ids) - end)
        assert segments == [0] * first + [1] * (end - first) + [0] * (len(ids) - end)


def test_half_of_the_pairs_are_neighbours_and_half_are_strangers(pairs):
    ids, _, labels = pairs
    neighbours = {
        (tuple(a.tolist()), tuple(b.tolist()))
        for document in DOCUMENTS
        for a, b in pairwise(document)
    }
    assert len(ids) == len(neighbours) == 5
    assert abs(int(labels.sum()) * 2 - 5) == 1
    firsts = set()
    for row, label in zip(ids.tolist(), labels.tolist(), strict=True):
        middle = row.index(SEP)
        first, second = tuple(row[1:middle]), tuple(row[middle + 1 : row.index(SEP, middle + 1)])
        firsts.add(first)
        assert ((first, second) in neighbours) == bool(label)
        assert (first[0] // 100 == second[0] // 100) == bool(label)
    assert firsts == {first for first, _ in neighbours}


def test_rows_and_strangers_are_random():
    assert len({str(make_nsp(DOCUMENTS, seeded(seed))) for seed in range(8)}) == 8
    labels = torch.stack([make_nsp(DOCUMENTS, seeded(seed))[2] for seed in range(200)])
    assert ((labels.double().mean(0) - 0.5).abs() < 0.25).all()  # no place has a fixed label


def test_every_sentence_of_another_document_can_be_drawn():
    drawn = set()
    for seed in range(100):
        ids, _, labels = make_nsp(DOCUMENTS, seeded(seed))
        drawn |= {tuple(row) for row in ids[labels == 0].tolist()}
    seconds = {row[row.index(SEP) + 1] for row in drawn if 200 <= row[1] < 300}
    assert seconds == {101, 102, 104, 301}


@pytest.mark.parametrize(
    "documents", [[], [[]], DOCUMENTS[:1], DOCUMENTS[2:], [*DOCUMENTS[1:2], []]]
)
def test_documents_without_pairs_or_strangers_are_refused(documents):
    with pytest.raises(ValueError, match="a document of two sentences, and another document"):
        make_nsp(documents, seeded())
