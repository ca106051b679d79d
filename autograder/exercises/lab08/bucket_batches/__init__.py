"""bucket_batches: batches of about equal length, in an order that a seed decides."""

from __future__ import annotations

import operator
import random
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
import torch

from attnlab.buckets import bucket_batches
from attnlab.data import dates
from gradekit.exercise import Exercise

exercise = Exercise(
    bucket_batches,
    equivalent={
        "bucket_batches: `0` → `1` in `if max(lengths, default=0) > max_tokens:`": (
            "a limit of no tokens allows no batch"
        ),
        "bucket_batches: `torch.randperm(len(batches), generator=generator).tolist()` → "
        "`torch.randperm(len(batches), generator=generator)` in "
        "`return [batches[place] for place in "
        "torch.randperm(len(batches), generator=generator).tolist()]`": (
            "a list takes a tensor of one whole number as an index"
        ),
    },
)


@lru_cache
def date_lengths():
    return tuple(len(pair.human) for pair in dates.pairs(2501, seed=3))


def mix(count=2500):
    """Lengths of dates as people write them: from 6 symbols to 36, and many are equal."""
    return list(date_lengths()[:count])


def long_tailed(draw, count=2500):
    """Lengths as in running text: many short sentences, and a few of up to 60 tokens."""
    return (3 + 0.6 * draw.normal(count)).exp().round().clamp(1, 60).long().tolist()


def batches_of(lab, lengths, max_tokens, seed):
    """The student's batches, with plain whole numbers in them."""
    found = lab.bucket_batches(lengths, max_tokens, seed)
    return [[operator.index(index) for index in batch] for batch in found]


def once(lengths, batches):
    """Whether every sentence is in one batch, and in one only."""
    found = [index for batch in batches for index in batch]
    return {
        "every sentence is in a batch": set(range(len(lengths))) <= set(found),
        "no sentence twice": len(set(found)) == len(found),
        "no other index": set(found) <= set(range(len(lengths))),
        "no empty batch": all(batches),
    }


def costs(lengths, batches):
    """What each batch costs: its sentences times the longest of them."""
    return [len(batch) * max(lengths[index] for index in batch) for batch in batches if batch]


def padding(lengths, batches):
    """The share of padding, in words: the exact number differs between right versions."""
    needed = sum(lengths[index] for batch in batches for index in batch)
    share = 1 - needed / sum(costs(lengths, batches))
    for limit in (0.15, 0.3, 0.6):
        if share < limit:
            return f"less than {limit:.0%}"
    return "60 % or more"


def filling(lengths, batches, max_tokens):
    """How full the average batch is, in words."""
    found = costs(lengths, batches)
    share = sum(found) / len(found) / max_tokens
    for limit in (0.7, 0.45, 0.2):
        if share >= limit:
            return f"{limit:.0%} or more"
    return "less than 20%"


def longest(lengths, batches):
    return [max(lengths[index] for index in batch) for batch in batches if batch]


def order(lengths, batches):
    """How long and short batches follow one another, in words."""
    if len(batches) < 3:
        return "fewer than three batches"
    sizes = torch.tensor(longest(lengths, batches), dtype=torch.float64)
    steps = [after - before for before, after in pairwise(sizes.tolist()) if after != before]
    rising = sum(step > 0 for step in steps) / max(1, len(steps))
    places = torch.arange(len(sizes), dtype=torch.float64)
    trend = float(torch.corrcoef(torch.stack((places, sizes)))[0, 1])
    if rising > 0.7 or trend > 0.5:
        return "shorter ones first"
    return "longer ones first" if rising < 0.3 or trend < -0.5 else "mixed"


@exercise.check(points=1)
def every_sentence_once(lab, draw):
    """Every sentence is in exactly one batch: none is lost at the end, none comes twice."""
    seen = {}
    for count in (2500, 2501, 37):
        lengths = mix(count)
        seen[f"{count} dates"] = once(lengths, batches_of(lab, lengths, 256, 1))
    return seen


@exercise.check(points=1)
def within_the_limit(lab, draw):
    """No batch costs more than `max_tokens`, padding included."""
    seen = {}
    for name, lengths in (("dates", mix()), ("one long sentence", [1, 2, 1, 3, 1, 2, 2, 20])):
        for limit in (256, 40):
            cost = costs(lengths, batches_of(lab, lengths, limit, 1))
            seen[f"{name}, at most {limit} tokens"] = max(cost) <= limit
    return seen


@exercise.check(points=1.75)
def little_padding(lab, draw):
    """Less than 15 % of all tokens are padding, and yet the batches are full."""
    seen = {}
    for limit in (256, 400):
        lengths = mix()
        batches = batches_of(lab, lengths, limit, 2)
        seen[f"2,500 dates, at most {limit} tokens"] = {
            "padding": padding(lengths, batches),
            "of a batch's limit, the average batch uses": filling(lengths, batches, limit),
        }
    return seen


@exercise.check(points=1)
def another_seed(lab, draw):
    """Equal seeds give equal batches; with another seed, order and companions change."""
    lengths = mix()
    first, again, *others = (batches_of(lab, lengths, 256, seed) for seed in (1, 1, 2, 3))
    companions = {frozenset(batch) for batch in first}
    same = [sum(frozenset(batch) in companions for batch in other) for other in others]
    orders = [longest(lengths, batches) for batches in (first, *others)]
    return {
        "equal seeds, equal batches": first == again,
        "another seed, another order of long and short": all(
            one != other for one, other in combinations(orders, 2)
        ),
        "another seed, other companions": max(same) < len(first) / 2,
    }


@exercise.check(points=0.75, hidden=True)
def long_and_short_are_mixed(lab, draw):
    """Batches come in a mixed order, neither short ones first nor long ones, with every seed."""
    dated, texts = mix(), long_tailed(draw)
    return {
        f"seed {seed}": [
            order(lengths, batches_of(lab, lengths, 256, seed)) for lengths in (dated, texts)
        ]
        for seed in (0, 1, 2**31)
    }


@exercise.check(points=0.75, hidden=True)
def other_lengths(lab, draw):
    """Texts with a few long sentences: every sentence once, within the limit, little padding."""
    lengths = tuple(long_tailed(draw))
    before = list(lengths)
    given = list(lengths)
    batches = batches_of(lab, given, 256, 0)
    seen = {
        **once(lengths, batches),
        "within the limit": max(costs(lengths, batches)) <= 256,
        "padding": padding(lengths, batches),
        "filling": filling(lengths, batches, 256),
        "lengths as they were": given == before,
        "seeds 0 and 1 differ": batches != batches_of(lab, given, 256, 1),
    }
    return {**seen, "a tuple": once(lengths, batches_of(lab, lengths, 256, 3))}


@exercise.check(points=0.5, hidden=True)
def full_batches(lab, draw):
    """Sentences of one length fill their batches to the limit, and the limit itself is allowed."""
    seen = {}
    for count, length, limit in ((23, 5, 40), (24, 5, 40), (23, 5, 33), (3, 7, 7), (1, 4, 4)):
        batches = batches_of(lab, [length] * count, limit, 1)
        name = f"{count} of {length}, at most {limit}"
        seen[name] = sorted(len(batch) for batch in batches)
    return seen


@exercise.check(points=0.5, hidden=True)
def few_sentences(lab, draw):
    """Is right for no sentence, one, two, and some of very different lengths; returns lists."""
    seen = {"no sentence": batches_of(lab, [], 8, 0)}
    for lengths in ([3], [1], [4, 4], [9, 1], [1, 1, 1, 10], [5, 5, 2, 2, 1], [12, 11, 10]):
        batches = batches_of(lab, lengths, 12, 5)
        within = max(costs(lengths, batches)) <= 12
        seen[str(lengths)] = {**once(lengths, batches), "within the limit": within}
    found = lab.bucket_batches([3, 1, 2], 4, 1)
    return {
        **seen,
        "batches are in a list": isinstance(found, list),
        "each batch is a list": all(isinstance(batch, list) for batch in found),
    }


@exercise.check(points=0.25, hidden=True)
def too_long(lab, draw):
    """A sentence that is longer than `max_tokens` is a ValueError."""

    def ask(*lengths):
        found = []
        raised = draw.raises(lambda: found.extend(batches_of(lab, list(lengths), 8, 0)))
        return raised or sum(map(len, found))

    return {
        "one token too long": ask(3, 9, 4),
        "only that": ask(9),
        "the first": ask(90, 2, 2),
        "sentences, one of them just short enough": ask(3, 8, 4),
    }


@exercise.check(points=0.5, hidden=True)
def own_generator(lab, draw):
    """Neither reads nor changes torch's, numpy's or Python's global random state."""
    lengths = mix(500)

    def states():
        own = np.random.get_state()
        return torch.get_rng_state().tolist(), own[1].tolist(), random.getstate()

    before = states()
    first = batches_of(lab, lengths, 128, 4)
    after = states()
    torch.rand(3)
    np.random.rand(3)
    random.random()
    names = ("torch's", "numpy's", "Python's")
    return {
        "unchanged": {
            name: old == new for name, old, new in zip(names, before, after, strict=True)
        },
        "not read": first == batches_of(lab, lengths, 128, 4),
    }


exercise.promises(
    {
        "Sort sentences into batches of about equal length, so that little padding is needed.": (
            "little_padding"
        ),
        "in a list or a tuple.": "other_lengths",
        "They stay unchanged.": "other_lengths",
        "the most that a batch may cost.": "within_the_limit other_lengths few_sentences",
        "Equal seeds give equal batches.": "another_seed own_generator",
        "With another seed, batches come in another order, and other sentences of the same length "
        "are together.": "another_seed",
        "Long and short batches are mixed.": "long_and_short_are_mixed",
        "The global random states stay as they are.": "own_generator",
        "A list with a list for each batch: the indices of its sentences.": "few_sentences",
        "Every sentence is in exactly one batch, and no batch is empty.": (
            "every_sentence_once few_sentences"
        ),
        "less than 15 % of all tokens are padding": "little_padding other_lengths",
        "the average batch costs at least 70 % of `max_tokens`": "little_padding other_lengths",
        "If all sentences are equally long, at most one batch has room for another sentence.": (
            "full_batches"
        ),
        "ValueError: a sentence alone is longer than `max_tokens`.": "too_long",
    },
    explained=[
        "A batch is padded to its longest sentence, so it costs (number of sentences) · (longest "
        "length) tokens.",
        "of the order, 0 or more.",
    ],
)
