"""Other right versions of `make_nsp`; the mistakes edit the first."""

from __future__ import annotations

import random

import torch

from attnlab.data.topics import CLS, PAD, SEP

from . import exercise


@exercise.also_right
def lists_and_loops(documents, generator):
    firsts = []
    for d, document in enumerate(documents):
        for i in range(len(document) - 1):
            firsts.append((d, i))
    strangers = {
        d: [s for e, doc in enumerate(documents) if e != d for s in doc] for d, _ in firsts
    }
    if not firsts or not all(strangers.values()):
        raise ValueError("no pairs")
    N = len(firsts)
    order = torch.randperm(N, generator=generator).tolist()
    firsts = [firsts[k] for k in order]
    labels = torch.zeros(N, dtype=torch.long)
    labels[: N // 2] = 1
    labels = labels[torch.randperm(N, generator=generator)]
    ids, segments = [], []
    for n, (d, i) in enumerate(firsts):
        a = documents[d][i].tolist()
        if labels[n] == 1:
            b = documents[d][i + 1].tolist()
        else:
            others = strangers[d]
            b = others[torch.randint(len(others), (1,), generator=generator).item()].tolist()
        ids.append([CLS, *a, SEP, *b, SEP])
        segments.append([0] * (len(a) + 2) + [1] * (len(b) + 1))
    T = max(len(row) for row in ids)
    for row, seg in zip(ids, segments, strict=True):
        missing = T - len(row)
        row += [PAD] * missing
        seg += [0] * missing
    return torch.tensor(ids), torch.tensor(segments), labels


@exercise.also_right
def another_document_first(documents, generator):
    """Draws another document, then one of its sentences, as the code that came with the paper."""
    rng = random.Random(torch.randint(2**31, (), generator=generator).item())
    pairs = [(d, i) for d, doc in enumerate(documents) for i in range(1, len(doc))]
    filled = [d for d, doc in enumerate(documents) if len(doc)]
    if not pairs or len(filled) < 2:
        raise ValueError("too few documents")
    rng.shuffle(pairs)
    half = len(pairs) // 2
    examples = []
    for place, (d, i) in enumerate(pairs):
        a, b = documents[d][i - 1], documents[d][i]
        if place < half:
            other = rng.choice([e for e in filled if e != d])
            b = rng.choice(documents[other])
        examples.append((a, b, int(place >= half)))
    rng.shuffle(examples)
    longest = max(len(a) + len(b) for a, b, _ in examples) + 3
    ids = torch.full((len(examples), longest), PAD)
    segments = torch.zeros_like(ids)
    for row, (a, b, _) in enumerate(examples):
        middle, end = len(a) + 2, len(a) + len(b) + 3
        ids[row, 0], ids[row, middle - 1], ids[row, end - 1] = CLS, SEP, SEP
        ids[row, 1 : middle - 1] = a
        ids[row, middle : end - 1] = b
        segments[row, middle:end] = 1
    return ids, segments, torch.tensor([label for *_, label in examples])


@exercise.also_right
def drawn_until_it_fits(documents, generator):
    pairs = [
        (d, torch.as_tensor(doc[i]), torch.as_tensor(doc[i + 1]))
        for d, doc in enumerate(documents)
        for i in range(len(doc) - 1)
    ]
    every = [(d, s) for d, doc in enumerate(documents) for s in doc]
    if len(pairs) == 0 or len({d for d, _ in every}) == 1:
        raise ValueError
    negatives = set(torch.randperm(len(pairs), generator=generator)[: len(pairs) // 2].tolist())
    rows = []
    for k, (d, a, b) in enumerate(pairs):
        if k in negatives:
            e = d
            while e == d:
                e, b = every[int(torch.randint(len(every), (1,), generator=generator))]
        cls, sep = torch.tensor([CLS]), torch.tensor([SEP])
        row = torch.cat([cls, a, sep, b, sep])
        seg = torch.cat([torch.zeros(len(a) + 2), torch.ones(len(b) + 1)]).long()
        rows.append((row, seg, k not in negatives))
    rows = [rows[k] for k in torch.randperm(len(rows), generator=generator)]
    ids = torch.nn.utils.rnn.pad_sequence([r for r, _, _ in rows], True, PAD)
    segments = torch.nn.utils.rnn.pad_sequence([s for _, s, _ in rows], True)
    return ids, segments, torch.tensor([int(label) for *_, label in rows])
