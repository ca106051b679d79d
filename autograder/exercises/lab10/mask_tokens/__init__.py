"""mask_tokens: hide some words at random, and remember which they were."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.pretraining import mask_tokens
from gradekit.exercise import Exercise

NEVER_EQUAL = "a random number is practically never equal to a given one"

exercise = Exercise(
    mask_tokens,
    equivalent={
        "mask_tokens: `Lt` → `LtE` in "
        "`chosen = ordinary[ids] & (torch.rand(ids.shape, generator=generator) < p)`": NEVER_EQUAL,
        "mask_tokens: `Lt` → `LtE` in `x = torch.where(chosen & (what < 0.8), mask_id, ids)`": (
            NEVER_EQUAL
        ),
        "mask_tokens: `GtE` → `Gt` in `return (torch.where(chosen & (what >= 0.9), words[drawn], "
        "x), labels)`": NEVER_EQUAL,
    },
)

IGNORED = -100
PAD, CLS, SEP, MASK = 0, 1, 2, 3
LOW = torch.tensor([PAD, CLS, SEP, MASK])


def share(count, n, expected):
    """A share of `n` draws, in words: right answers draw different numbers.

    Six standard deviations are allowed, which a right answer exceeds once in 500 million draws.
    """
    found, deviation = count / n, (expected * (1 - expected) / n) ** 0.5
    if abs(found - expected) <= 6 * deviation:
        return "as asked"
    than_asked = "more" if found > expected else "fewer"
    return f"{than_asked}, about {5 * round(20 * found)} %"


def spread(counts, expected):
    """How much 250 counts or more differ from one another, in words.

    For independent draws, the ratio is between 0.5 and 2, except once in ten million draws.
    """
    ratio = float(counts.double().var()) / expected
    if ratio < 0.5:
        return "less than independent draws"
    return "more than independent draws" if ratio > 2 else "as independent draws"


def sentences(draw, B, T, vocab_size=1000):
    """Rows of two sentences of random words, [CLS] … [SEP] … [SEP], filled up in every third."""
    draw.integers(0, 2, 7)  # torch's global generator starts from the same seed as `draw`
    ids = draw.integers(4, vocab_size, B, T).clone()
    ids[:, 0], ids[:, T // 2], ids[:, -1] = CLS, SEP, SEP
    ids[::3, -(T // 4) :] = PAD
    return ids


def special_places(ids):
    return torch.isin(ids, LOW)


@exercise.check(points=2.5)
def labels(lab, draw):
    """A label is the old token where a token was chosen, whatever is there now, and else -100."""
    ids = sentences(draw, 100, 60)
    before = ids.clone()
    x, found = lab.mask_tokens(ids, LOW, 1000, MASK, generator=draw.generator())
    unchanged, ids = torch.equal(ids, before), before
    chosen = found != IGNORED
    return {
        "shapes": [list(x.shape), list(found.shape)],
        "dtypes": [dtype_of(x), dtype_of(found)],
        "the most frequent label": found.flatten().mode().values.item(),
        "labels are the old tokens": bool((found == ids)[chosen].all()),
        "tokens without a label are as before": bool((x == ids)[~chosen].all()),
        "many [MASK] have a label": (chosen & (x == MASK)).sum().item() > 3,
        "many tokens that look as before have one": (chosen & (x == ids)).sum().item() > 3,
        "many random tokens have one": (chosen & (x != ids) & (x != MASK)).sum().item() > 3,
        "ids as they were": unchanged,
    }


@exercise.check(points=2.5)
def shares(lab, draw):
    """15 % of the ordinary tokens are chosen; of these, 80 % become [MASK] and 10 % another."""
    ids = sentences(draw, 320, 320)
    x, found = lab.mask_tokens(ids, LOW, 1000, MASK, generator=draw.generator())
    chosen, ordinary = found != IGNORED, ~special_places(ids)
    n = max(1, int(chosen.sum()))
    return {
        "chosen, of the ordinary tokens": share(chosen.sum().item(), ordinary.sum().item(), 0.15),
        "[MASK], of the chosen": share((x == MASK)[chosen].sum().item(), n, 0.8),
        "as before, of the chosen": share((x == ids)[chosen].sum().item(), n, 0.1 + 0.1 / 996),
        "every row has a [MASK]": bool((x == MASK).any(1).all()),
        "every column of words has one": bool(((x == MASK) | ~ordinary).any(0).all()),
    }


@exercise.check(points=1.5)
def special_tokens(lab, draw):
    """Special tokens are never chosen, and no random token is special."""
    ids = sentences(draw, 300, 40, 9)
    x, found = lab.mask_tokens(ids, LOW, 9, MASK, 0.5, generator=draw.generator())
    special = special_places(ids)
    drawn = x[~special & (x != ids)]
    return {
        "special tokens with a label": bool((found != IGNORED)[special].any()),
        "special tokens that changed": bool((x != ids)[special].any()),
        "words that became [CLS], [SEP] or padding": bool(torch.isin(drawn, LOW[:3]).any()),
    }


@exercise.check(points=1.5, hidden=True)
def random_tokens(lab, draw):
    """Random tokens: each ordinary one has the same chance, the old one included, others none."""
    special = torch.tensor([6, 2, 9])  # in no order, between the words, and at the end
    words = [0, 1, 3, 4, 5, 7, 8]
    ids = torch.full((100, 400), 4)
    x, found = lab.mask_tokens(ids, special, 10, 6, 1.0, generator=draw.generator())
    n = max(1, int((x != 6).sum()))
    return {
        "every token has a label": bool((found == 4).all()),
        **{
            f"token {word}, where no [MASK] is": share(
                (x == word).sum().item(), n, 0.5 / 7 + 0.5 * (word == 4)
            )
            for word in words
        },
        "special tokens": int(((x == 2) | (x == 9)).sum()),
    }


@exercise.check(points=2, hidden=True)
def independent(lab, draw):
    """Tokens are chosen independently: counts of rows, columns and calls differ as by chance."""
    ids = draw.integers(4, 1000, 300, 300)
    x, found = lab.mask_tokens(ids, LOW, 1000, MASK, generator=draw.generator())
    chosen, hidden = found != IGNORED, x == MASK
    drawn = x[chosen & ~hidden & (x != ids)]
    few, generator = draw.integers(4, 90, 12, 6), draw.generator()
    calls = [lab.mask_tokens(few, LOW, 90, MASK, 0.15, generator=generator) for _ in range(250)]
    chosen_in_calls = torch.stack([(y != IGNORED).sum() for _, y in calls])
    p = 0.15 * 0.8
    return {
        "chosen in a row": spread(chosen.sum(1), 300 * 0.15 * 0.85),
        "chosen in a column": spread(chosen.sum(0), 300 * 0.15 * 0.85),
        "chosen in a call": spread(chosen_in_calls, 72 * 0.15 * 0.85),
        "[MASK] in a row": spread(hidden.sum(1), 300 * p * (1 - p)),
        "[MASK] in a column": spread(hidden.sum(0), 300 * p * (1 - p)),
        "random tokens differ": len(drawn.unique()) > len(drawn) / 4,
        "in short rows, [MASK] of the chosen": share(
            sum((x == MASK).sum().item() for x, _ in calls), chosen_in_calls.sum().item(), 0.8
        ),
    }


@exercise.check(points=1.5, hidden=True)
def randomness(lab, draw):
    """All randomness is from the generator, and each call goes on where the last one ended."""
    ids = draw.integers(4, 1000, 60, 20)
    seed = int(draw.integers(0, 2**31, 1))

    def ask(generator):
        return lab.mask_tokens(ids, LOW, 1000, MASK, generator=generator)

    def same(one, other):
        return all(map(torch.equal, one, other))

    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    before = torch.get_rng_state()
    first, second = ask(generator), ask(generator)
    unmoved = torch.equal(before, torch.get_rng_state())
    torch.manual_seed(seed + 1)
    again = ask(torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    no_generator = [ask(None) for _ in range(2)]
    torch.manual_seed(seed)
    return {
        "two calls differ": not same(first, second),
        "equal generators, equal results": same(first, again),
        "torch's global state stays": unmoved,
        "without a generator, two calls differ": not same(*no_generator),
        "without one, torch.manual_seed decides": same(no_generator[0], ask(None)),
    }


@exercise.check(points=1.5, hidden=True)
def edges(lab, draw):
    """Is right for p = 0 and p = 1, for one token or row, and if every token is special."""

    def ask(ids, p, special=LOW, vocab_size=1000, mask_id=MASK):
        x, y = lab.mask_tokens(ids, special, vocab_size, mask_id, p, generator=draw.generator())
        chosen = y != IGNORED
        return {
            "shapes": [list(x.shape), list(y.shape)],
            "dtypes": [dtype_of(x), dtype_of(y)],
            "chosen": "none" if not chosen.any() else "all" if chosen.all() else "some",
            "labels": bool((y == ids)[chosen].all()),
            "others as before": bool((x == ids)[~chosen].all()),
        }

    words = draw.integers(4, 1000, 30, 17)
    return {
        "p = 0": ask(words, 0.0),
        "p = 1": ask(words, 1.0),
        "one row": ask(words[:1], 1.0),
        "one column": ask(words[:, :1], 1.0),
        "one token": ask(words[:1, :1], 1.0),
        "not contiguous": ask(draw.strided(words), 0.5),
        "only special tokens": ask(draw.integers(0, 4, 5, 6), 0.5),
        "one ordinary token": ask(torch.full((30, 20), 2), 0.5, torch.tensor([0, 1, 3]), 4, 3),
    }
