"""Other right versions of `bucket_batches`; most mistakes are edits of the first."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import torch

from . import exercise


@exercise.also_right
def sorted_and_cut(lengths, max_tokens, seed):
    if any(length > max_tokens for length in lengths):
        raise ValueError("a sentence is too long")
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda index: lengths[index])
    batches, batch, longest = [], [], 0
    for index in order:
        longest = max(longest, lengths[index])
        if longest * (len(batch) + 1) > max_tokens:
            batches.append(batch)
            batch, longest = [], lengths[index]
        batch.append(index)
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


@exercise.also_right
def sorted_in_pools(lengths, max_tokens, seed):
    if lengths and max(lengths) > max_tokens:
        raise ValueError(f"{max(lengths)} > {max_tokens}")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(lengths)).tolist()
    batches = []
    for start in range(0, len(order), 1280):
        pool = sorted(order[start : start + 1280], key=lambda i: lengths[i], reverse=True)
        while pool:
            rows = max_tokens // lengths[pool[0]]
            batches.append(pool[:rows])
            pool = pool[rows:]
    rng.shuffle(batches)
    return [list(batch) for batch in batches]


@exercise.also_right
def stable_argsort(lengths, max_tokens, seed):
    rng = np.random.RandomState(seed)
    sizes = np.array(lengths, dtype=np.int64)
    if (sizes > max_tokens).any():
        raise ValueError("too long")
    indices = rng.permutation(len(sizes))
    indices = indices[np.argsort(sizes[indices], kind="mergesort")]
    batches, batch, sample_len = [], [], 0
    for index in indices:
        new_len = max(sample_len, sizes[index])
        if batch and (len(batch) + 1) * new_len > max_tokens:
            batches.append(batch)
            batch, new_len = [], sizes[index]
        batch.append(index)
        sample_len = new_len
    if len(batch) > 0:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


@exercise.also_right
def one_bucket_for_each_length(lengths, max_tokens, seed):
    generator = torch.Generator()
    generator.manual_seed(seed)
    buckets = defaultdict(list)
    for index in torch.randperm(len(lengths), generator=generator):
        buckets[lengths[index]].append(int(index))
    batches = []
    for length, members in buckets.items():
        rows = max_tokens // length
        if rows == 0:
            raise ValueError(f"a sentence of {length} tokens")
        batches += [members[i : i + rows] for i in range(0, len(members), rows)]
    order = torch.randperm(len(batches), generator=generator)
    return [batches[i] for i in order.tolist()]


@exercise.also_right
def boundaries_that_grow(lengths, max_tokens, seed):
    if max(lengths, default=1) > max_tokens:
        raise ValueError("longer than a batch")
    rng, boundaries = random.Random(seed), [8]
    while boundaries[-1] < max(lengths, default=1):
        boundaries.append(max(boundaries[-1] + 1, int(1.1 * boundaries[-1])))
    members = {boundary: [] for boundary in boundaries}
    for index in rng.sample(range(len(lengths)), len(lengths)):
        members[next(b for b in boundaries if lengths[index] <= b)].append(index)
    batches = []
    for group in members.values():
        rows = max_tokens // max((lengths[i] for i in group), default=1)
        for start in range(0, len(group), rows):
            batches.append(group[start : start + rows])
    return rng.sample(batches, len(batches))


@exercise.also_right
def random_ties(lengths, max_tokens, seed):
    rng = random.Random(seed)
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], rng.random()))
    batches = []
    for index in order:
        if lengths[index] > max_tokens:
            raise ValueError(f"sentence {index} is too long")
        # The first sentence of a batch is its longest.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= max_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    batches.sort(key=lambda _: rng.random())
    return batches
