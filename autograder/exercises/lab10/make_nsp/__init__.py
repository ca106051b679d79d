"""make_nsp: pairs of sentences, half of which belong together, in one row each."""

from __future__ import annotations

import random
from itertools import pairwise

import torch

from attnlab.checking.observation import dtype_of
from attnlab.data.topics import CLS, PAD, SEP
from attnlab.pretraining import make_nsp
from gradekit.exercise import Exercise

exercise = Exercise(
    make_nsp,
    equivalent={
        "make_nsp: `torch.randperm(len(pairs), generator=generator).tolist()` → "
        "`torch.randperm(len(pairs), generator=generator)` in `for n, place in "
        "enumerate(torch.randperm(len(pairs), generator=generator).tolist()):`": (
            "a list takes a tensor of one whole number as an index"
        ),
        "make_nsp: `int(torch.randint(others, (), generator=generator))` → "
        "`torch.randint(others, (), generator=generator)` in "
        "`drawn = int(torch.randint(others, (), generator=generator))`": (
            "a list takes a tensor of one whole number as an index"
        ),
        "make_nsp: `pad_sequence(rows, batch_first=True, padding_value=PAD)` → "
        "`pad_sequence(rows, batch_first=True)` in "
        "`ids = pad_sequence(rows, batch_first=True, padding_value=PAD)`": "[PAD] is the token 0",
    },
)


def written(*lengths_of_documents):
    """Documents with sentences of so many words; no two sentences have a word in common."""
    word, documents = 10, []
    for lengths in lengths_of_documents:
        document = []
        for length in lengths:
            document.append(torch.arange(word, word + length))
            word += length
        documents.append(document)
    return documents


USUAL = ([2, 3, 1, 4], [5, 1, 2], [3, 3, 2, 1, 1, 4, 2], [2])


def as_texts(documents):
    return [[tuple(sentence.tolist()) for sentence in document] for document in documents]


def read(row):
    """The two sentences of a row, and where the second begins and ends; None if not a pair."""
    tokens = row.tolist()
    ends = [place for place, token in enumerate(tokens) if token == SEP]
    if tokens[:1] != [CLS] or len(ends) != 2 or set(tokens[ends[1] + 1 :]) - {PAD}:
        return None
    return tuple(tokens[1 : ends[0]]), tuple(tokens[ends[0] + 1 : ends[1]]), ends


def pairs_of(ids):
    return [pair[:2] if pair else None for pair in map(read, ids)]


def number_of(sentence, texts):
    """The numbers of a sentence's document and of its place there; None if it is not a sentence."""
    for d, document in enumerate(texts):
        if sentence in document:
            return d, document.index(sentence)
    return None


def kind_of(pair, texts):
    """How the second sentence of a pair stands to the first, in words."""
    if pair is None:
        return "not a pair"
    places = [number_of(sentence, texts) for sentence in pair]
    if None in places:
        return "not two whole sentences"
    (d, i), (other, j) = places
    if d != other:
        return "from another document"
    return "the one after it" if j == i + 1 else "from the same document, not the one after it"


def kinds(documents, ids, labels):
    """Which kinds of pairs have the label 1, and which have 0."""
    texts = as_texts(documents)
    found = {0: set(), 1: set()}
    for pair, label in zip(pairs_of(ids), labels.tolist(), strict=True):
        found.setdefault(int(label), set()).add(kind_of(pair, texts))
    return {f"label {label}": sorted(seen) for label, seen in found.items()}


@exercise.check(points=1.5)
def rows(lab, draw):
    """A row is [CLS] first [SEP] second [SEP], then padding; segment 1 is second [SEP] alone."""
    ids, segments, labels = lab.make_nsp(written(*USUAL), draw.generator())
    found = [read(row) for row in ids]
    expected = torch.zeros_like(ids)
    for row, pair in enumerate(found):
        if pair:
            expected[row, pair[2][0] + 1 : pair[2][1] + 1] = 1
    longest = max((pair[2][1] + 1 for pair in found if pair), default=0)
    return {
        "shapes agree": list(segments.shape) == list(ids.shape) and len(labels) == len(ids),
        "[SEP] in a row": sorted(set((ids == SEP).sum(1).tolist())),
        "a row ends with [SEP], then padding": all(
            ([t for t in row.tolist() if t != PAD] or [PAD])[-1] == SEP for row in ids
        ),
        "rows of this form": "all" if all(found) else "some" if any(found) else "none",
        "columns beyond the longest pair": ids.shape[1] - longest if all(found) else "unknown",
        "segment of [CLS]": sorted(set(segments[:, 0].tolist())),
        "segment of the first [SEP]": sorted(
            {int(s[pair[2][0]]) for s, pair in zip(segments, found, strict=True) if pair}
        ),
        "segment of the second [SEP]": sorted(
            {int(s[pair[2][1]]) for s, pair in zip(segments, found, strict=True) if pair}
        ),
        "segment of padding": sorted(set(segments[ids == PAD].tolist())),
        "all segments are right": bool((segments == expected).all()),
        "dtypes": [dtype_of(x) for x in (ids, segments, labels)],
    }


@exercise.check(points=2)
def labels(lab, draw):
    """Label 1: the next sentence; label 0: one of another document; as many of each, or one off."""
    seen = {}
    for name, lengths in (("12 pairs", (*USUAL, [1, 2, 3, 4])), ("11 pairs", (*USUAL, [1, 2, 3]))):
        documents = written(*lengths)
        ids, _, found = lab.make_nsp(documents, draw.generator())
        ones = int(found.sum())
        seen[name] = {
            **kinds(documents, ids, found),
            "pairs": len(ids),
            "labels 1 and 0 differ by 1 at most": abs(2 * ones - len(found)) <= 1,
        }
    return seen


@exercise.check(points=1, hidden=True)
def every_first(lab, draw):
    """Each sentence that has one after it is the first of one pair, and no other sentence is."""
    documents = written(*USUAL, [], [1], [2, 2])
    texts = as_texts(documents)
    wanted = sorted(first for document in texts for first, _ in pairwise(document))
    seen = {}
    for number in range(3):
        ids, _, found = lab.make_nsp(documents, draw.generator())
        firsts = sorted(pair[0] if pair else () for pair in pairs_of(ids))
        seen[f"call {number}"] = {
            "pairs": len(firsts),
            "each once": firsts == wanted,
            "no other": set(firsts) <= set(wanted),
            **kinds(documents, ids, found),
        }
    return seen


@exercise.check(points=1, hidden=True)
def any_stranger(lab, draw):
    """Any sentence of any other document can be the second one, whatever the first is."""
    documents = written([1, 2, 1], [2, 1, 3, 1], [1])
    texts, generator = as_texts(documents), draw.generator()
    drawn, differ = set(), 0
    for _ in range(250):
        ids, _, found = lab.make_nsp(documents, generator)
        pairs = [p for p, label in zip(pairs_of(ids), found.tolist(), strict=True) if not label]
        drawn |= {pair for pair in pairs if pair}
        of_document_1 = [b for a, b in filter(None, pairs) if a in texts[1]]
        differ += len(set(of_document_1)) > 1
    reached = {}
    for d in (0, 1):
        places = [number_of(b, texts) for a, b in drawn if (number_of(a, texts) or (-1,))[0] == d]
        reached[f"sentences that can follow document {d}"] = sorted(
            {list_of(place) for place in places if place}
        )
    return {**reached, "in one call, they differ": differ > 10}


def list_of(place):
    return f"sentence {place[1]} of document {place[0]}"


@exercise.check(points=1, hidden=True)
def order(lab, draw):
    """The order of pairs, and which of them belong together, are random, from the generator."""
    documents, generator = written(*USUAL, [1, 1, 1, 1]), draw.generator()
    calls = [lab.make_nsp(documents, generator) for _ in range(120)]
    label = torch.stack([found.double() for _, _, found in calls])
    firsts = [tuple(pair[0] if pair else () for pair in pairs_of(ids)) for ids, _, _ in calls]
    together = [
        {pair[0] for pair, one in zip(pairs_of(ids), found, strict=True) if pair and one}
        for ids, _, found in calls
    ]
    share = label.mean(0)
    neighbours = (label[:, 1:] == label[:, :-1]).double().mean().item()
    seed = int(draw.integers(0, 2**31, 1))
    before = torch.get_rng_state(), random.getstate()
    one, other = (lab.make_nsp(documents, torch.Generator().manual_seed(seed)) for _ in range(2))
    return {
        "first sentences in another order each time": len(set(firsts)) > 100,
        "no row has a fixed label": bool(((share - 0.5).abs() < 0.3).all()),
        "equal labels in a row": (
            "as by chance"
            if abs(neighbours - 0.5) < 0.2
            else "often"
            if neighbours > 0.5
            else "rarely"
        ),
        "other pairs belong together each time": len({frozenset(s) for s in together}) > 60,
        "equal generators, equal results": all(map(torch.equal, one, other)),
        "global random states stay": torch.equal(before[0], torch.get_rng_state())
        and before[1] == random.getstate(),
    }


@exercise.check(points=0.5, hidden=True)
def edges(lab, draw):
    """Is right for two sentences or one pair; impossible documents are a ValueError."""

    def ask(*lengths):
        documents = written(*lengths)
        copies = [[sentence.clone() for sentence in document] for document in documents]
        ids, segments, found = lab.make_nsp(documents, draw.generator())
        return {
            "pairs": len(ids),
            "whole pairs": all(kind != "not a pair" for kind in map(read, ids))
            and all(map(read, ids)),
            "segments": sorted(set(segments.flatten().tolist())),
            "labels within reach": abs(2 * int(found.sum()) - len(found)) <= 1,
            "documents as they were": all(
                len(a) == len(b) and all(map(torch.equal, a, b))
                for a, b in zip(documents, copies, strict=True)
            ),
        }

    def refused(*lengths):
        return draw.raises(lab.make_nsp, written(*lengths), draw.generator())

    return {
        "one pair and a stranger": ask([1, 1], [1]),
        "a long sentence": ask([1, 30], [2], []),
        "equal lengths": ask([3, 3, 3], [3, 3]),
        "only one document": refused([1, 2, 3]),
        "only one document with sentences": refused([], [1, 2, 3], []),
        "no document with two sentences": refused([1], [2], [3]),
        "no document": refused(),
    }
