"""Other right versions of `mask_tokens`; the mistakes edit the first two."""

from __future__ import annotations

import numpy as np
import torch

from . import exercise


@exercise.also_right
def step_by_step(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    x, labels = ids.clone(), ids.clone()
    is_special = torch.isin(ids, special)
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))
    chance = torch.full(ids.shape, float(p))
    chance[is_special] = 0.0
    chosen = torch.bernoulli(chance, generator=generator).bool()
    labels[~chosen] = -100
    hidden = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool() & chosen
    x[hidden] = mask_id
    other = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool()
    other = other & chosen & ~hidden
    drawn = torch.randint(len(words), ids.shape, generator=generator)
    x[other] = words[drawn][other]
    return x, labels


@exercise.also_right
def one_number_decides(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    ordinary = sorted(set(range(vocab_size)) - set(special.tolist()))
    u = torch.rand(ids.shape, generator=generator)
    drawn = torch.randint(0, len(ordinary), ids.shape, generator=generator)
    drawn = torch.tensor(ordinary)[drawn]
    word = ~torch.isin(ids, special)
    chosen = word & (u < p)
    x = torch.where(word & (u < 0.9 * p), drawn, ids)
    x = torch.where(word & (u < 0.8 * p), mask_id, x)
    return x, torch.where(chosen, ids, -100)


@exercise.also_right
def token_by_token(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    never = set(special.tolist())
    words = [v for v in range(vocab_size) if v not in never]
    rows, labels = ids.tolist(), []
    for row in rows:
        found = [-100] * len(row)
        u = torch.rand(len(row), generator=generator).tolist()
        for t, token in enumerate(row):
            if token in never or u[t] >= p:
                continue
            found[t] = token
            what = torch.rand((), generator=generator).item()
            if what < 0.8:
                row[t] = mask_id
            elif what < 0.9:
                row[t] = words[int(torch.randint(len(words), (), generator=generator))]
        labels.append(found)
    return torch.tensor(rows), torch.tensor(labels)


@exercise.also_right
def by_their_places(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    x, labels = ids.clone(), torch.full_like(ids, -100)
    word = (ids[..., None] != special).all(-1)
    places = (word & (torch.rand(ids.shape, generator=generator) < p)).nonzero()
    u = torch.rand(len(places), generator=generator)
    rows, columns = places.T
    labels[rows, columns] = ids[rows, columns]
    kind = torch.bucketize(u, torch.tensor([0.1, 0.2]))
    x[rows[kind == 2], columns[kind == 2]] = mask_id
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())), dtype=torch.int64)
    n = int((kind == 1).sum())
    if n:
        with_repeats = torch.multinomial(torch.ones(len(words)), n, True, generator=generator)
        x[rows[kind == 1], columns[kind == 1]] = words[with_repeats]
    return x, labels


@exercise.also_right
def through_numpy(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    seed = torch.randint(2**31, (), generator=generator).item()
    random = np.random.default_rng(seed)
    old = ids.numpy()
    chosen = ~np.isin(old, special.numpy()) & (random.random(old.shape) < p)
    what = random.choice(3, old.shape, p=[0.8, 0.1, 0.1])
    words = np.setdiff1d(np.arange(vocab_size), special.numpy())
    drawn = random.choice(words, old.shape) if len(words) else old
    x = np.where(chosen & (what == 0), mask_id, np.where(chosen & (what == 1), drawn, old))
    return torch.from_numpy(x), torch.from_numpy(np.where(chosen, old, -100))
