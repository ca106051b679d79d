"""leaks: ask a model what it looks at, later tokens or padding, whatever its code says."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.causality import leaks, pad_invariant
from gradekit.exercise import Exercise

from .models import (
    Mixer,
    invariant,
    other_at_padding,
    pairs,
    real_keys,
    rounded,
    seen_leak,
    up_to,
)

DRAWN = "torch.randint(vocab, (SEQUENCES, T), generator=torch.Generator().manual_seed(0))"
exercise = Exercise(
    leaks,
    pad_invariant,
    equivalent={
        "leaks: `0` → `1` in `torch.manual_seed(0)`": "any seed will do",
        f"leaks: `{DRAWN}` → `torch.randint(vocab, (SEQUENCES, T))` in `ids = {DRAWN}`": (
            "any random sequences will do"
        ),
        f"leaks: `torch.Generator().manual_seed(0)` → `torch.Generator()` in `ids = {DRAWN}`": (
            "any random sequences will do"
        ),
        f"leaks: `0` → `1` in `ids = {DRAWN}`": "any random sequences will do",
        "leaks: `torch.random.fork_rng(devices=[])` → `torch.random.fork_rng()` in "
        "`with torch.no_grad(), torch.random.fork_rng(devices=[]):`": (
            "there is no other device here"
        ),
        "leaks: `(run(other) - before).abs()` → `run(other) - before` in "
        "`gap = (run(other) - before).abs().amax((0, 2))`": (
            "among so many sequences, some output rises"
        ),
        "leaks: `LtE` → `Lt` in `same = gap <= ROUNDING`": "no difference is exactly 1e-9",
        "pad_invariant: `LtE` → `Lt` in `if not (seen - alone).abs().max() <= ROUNDING:`": (
            "no difference is exactly 1e-9"
        ),
        "pad_invariant: `Mod` → `FloorDiv` in "
        "`ids = real[torch.arange(2 * T).view(2, T) % len(real)]`": "any real tokens will do",
    },
)


@exercise.check(points=1)
def a_sorted_list_of_pairs(lab, draw):
    """`leaks` returns a sorted list of pairs, empty for a model that never looks ahead."""
    table = draw.normal(4, 3)
    found = lab.leaks(Mixer(table, up_to(3)), 5, 4)
    return {
        "types": [type(found).__name__, type(lab.leaks(Mixer(table, up_to(0)), 3, 4)).__name__],
        "looks three ahead: pairs with an output at or behind the token": sum(
            int(i) >= int(j) for i, j in found
        ),
        "looks three ahead": [f"({int(i)}, {int(j)})" for i, j in found],
        "looks at no later token": list(lab.leaks(Mixer(table, up_to(0)), 3, 4)),
    }


@exercise.check(points=2)
def who_looks_ahead(lab, draw):
    """`leaks` finds every output that moves when one later token changes, and no other output."""
    table, T, start = draw.normal(4, 3), int(draw.integers(5, 9)), int(draw.integers(0, 3))

    def every_third(ids):
        place = torch.arange(ids.shape[1])
        return (place <= place[:, None]) | (place % 3 == start)

    seen = {
        "one ahead": Mixer(table, up_to(1)),
        "everything": Mixer(table, up_to(20)),
        "the past only, itself excluded": Mixer(table, up_to(-1)),
        "some places are seen by all": Mixer(table, every_third),
        "the next token alone": lambda ids: table[ids].roll(-1, 1),
        "the next token, in one number of three": lambda ids: (
            table[ids] + table[ids].roll(-1, 1) * torch.tensor([0, 0, 1])
        ),
    }
    return {
        **{f"{name}, T={T}": pairs(lab, fn, T, 4) for name, fn in seen.items()},
        "everything, T=2": pairs(lab, seen["everything"], 2, 4),
    }


@exercise.check(points=2)
def who_looks_at_padding(lab, draw):
    """`pad_invariant` distinguishes a model that masks padding from one that attends to it."""
    table, pad = draw.normal(6, 3), 4
    models = {
        "masks padding": rounded(Mixer(table, real_keys(pad))),
        "masks padding and later tokens": rounded(Mixer(table, real_keys(pad, causal=True))),
        "each token by itself": lambda ids: table[ids],
        "attends to all": Mixer(table, up_to(20)),
        "the mean of all": lambda ids: table[ids] + table[ids].mean(1, keepdim=True),
    }
    seen = {name: invariant(lab, fn, 5, 6, pad) for name, fn in models.items()}
    # Whoever takes 0 for padding, whatever `pad` is, is right here.
    zero = invariant(lab, rounded(Mixer(table, real_keys(0))), 5, 6, 0)
    return seen | {"masks padding, which is token 0": zero}


def with_a_faint_leak(table, size):
    """A model of the past that also looks two tokens ahead: 0 and 3 differ there by `size`."""
    past = Mixer(table, up_to(0))
    return lambda ids: 1e3 + past(ids) + size / 3 * ids.roll(-2, 1)[..., None]


def up_here_down_there(table, *signs):
    """A model that looks one token ahead; its numbers change by as much in each direction."""
    past, signs = Mixer(table, up_to(0)), torch.tensor(signs)
    return lambda ids: past(ids) + table[ids].roll(-1, 1)[..., :1] * signs


@exercise.check(points=0.5)
def faint_leaks(lab, draw):
    """`leaks` finds a faint leak and one whose mean is 0, and ignores rounding."""
    table = draw.normal(4, 3)
    return {
        "3e-6": pairs(lab, with_a_faint_leak(table, 3e-6), 5, 4),
        "rounding, 1e-12": pairs(lab, with_a_faint_leak(table, 1e-12), 5, 4),
        "one number up, one down": pairs(lab, up_here_down_there(table, 1, -1, 0), 4, 4),
    }


@exercise.check(points=0.5, hidden=True)
def fainter_leaks(lab, draw):
    """`leaks` finds even fainter leaks, in one number of many, and up here and down there."""
    table = draw.normal(4, 3)

    def one_of_many(ids):
        moved = torch.zeros(*ids.shape, 200, dtype=torch.float64)
        moved[..., 7] = 1e-7 * (ids.roll(-1, 1) == 0)
        return moved

    return {
        "3e-8": pairs(lab, with_a_faint_leak(table, 3e-8), 5, 4),
        "6e-9": pairs(lab, with_a_faint_leak(table, 6e-9), 5, 4),
        "1e-7 in one number of two hundred": pairs(lab, one_of_many, 4, 4),
        "two numbers down, one up": pairs(lab, up_here_down_there(table, -1, -1, 2), 4, 4),
    }


def looks_ahead_after(table, token):
    """Output i depends on token i + 1 if token i is this one."""
    return lambda ids: table[ids] + (ids == token)[..., None] * table[ids.roll(-1, 1)]


@exercise.check(points=0.5)
def after_one_word(lab, draw):
    """`leaks` finds a model that looks ahead only after one word, whichever word it is."""
    table, seen = draw.normal(5, 3), {}
    for token in (1, 3):
        fn = looks_ahead_after(table, token)
        seen[f"after word {token}"] = seen_leak(lab, fn, 4, 5, distance=1)
    return seen


@exercise.check(points=1, hidden=True)
def certain_words(lab, draw):
    """`leaks` finds a model that looks ahead only after certain words, at any distance."""
    table, seen = draw.normal(5, 3), {}

    def started_by(token):
        return lambda ids: table[ids] + (ids[:, :1] == token)[..., None] * table[ids.roll(-2, 1)]

    def after_two_words(ids):
        differ = (ids[:, :1] != ids[:, 1:2])[..., None]
        return table[ids] + differ * table[ids.roll(-2, 1)]

    for token in (0, 2, 4):
        fn = looks_ahead_after(table, token)
        seen[f"after word {token}"] = seen_leak(lab, fn, 4, 5, distance=1)
    seen["started by word 3"] = seen_leak(lab, started_by(3), 4, 5, distance=2)
    seen["if the first two words differ"] = seen_leak(lab, after_two_words, 4, 5, distance=2)
    return seen


@exercise.check(points=0.5)
def answers_without_a_number(lab, draw):
    """A model that answers NaN passes neither probe; a sequence of one token has no leaks."""
    table = draw.normal(4, 3)

    def nan_at_padding(ids):
        return table[ids].masked_fill((ids == 0).any(1)[:, None, None], torch.nan)

    return {
        "leaks, always NaN": pairs(lab, lambda ids: table[ids] * torch.nan, 3, 4),
        "pad_invariant, NaN beside padding": invariant(lab, nan_at_padding, 3, 4, 0),
        "pad_invariant, always NaN": invariant(lab, lambda ids: table[ids] * torch.nan, 3, 4, 0),
        "leaks, one token": pairs(lab, Mixer(table, up_to(9)), 1, 4),
    }


def all_of_sixty_tried(lab, draw):
    """Whether every leak is found if each place shows one token of sixty, after some words."""
    table, wanted = draw.normal(60, 3), draw.integers(0, 60, 5)

    def fn(ids):
        shown = (ids == wanted)[:, 1:] & (ids[:, :1] < 12)
        return table[ids] + shown.sum(1)[:, None, None]

    found = pairs(lab, fn, 5, 60) == [[i, j] for i in range(5) for j in range(i + 1, 5)]
    return "the right pairs are found" if found else "pairs are missed, or others reported"


@exercise.check(points=1)
def one_token_in_particular(lab, draw):
    """`leaks` works if a model looks ahead for one token only, and if there are only two tokens."""
    table, T = draw.normal(7, 3), int(draw.integers(4, 7))

    def looks_for(token, place, sign=1):
        def fn(ids):
            return sign * (table[ids] + (ids[:, place] == token).double()[:, None, None])

        return fn

    places = (draw.permutation(3) + 1).tolist()
    seen = {
        f"looks for token {token} at place {place}": pairs(lab, looks_for(token, place), T, 7)
        for token, place in zip((0, 3, 6), places, strict=True)
    }
    for token, place in zip((2, 5, 6), places, strict=True):
        fn = looks_for(token, place, sign=-1)
        seen[f"subtracts for token {token} at place {place}"] = pairs(lab, fn, T, 7)
    seen["looks for one token of sixty at each place"] = all_of_sixty_tried(lab, draw)
    two = draw.normal(2, 3)
    for T in (3, 6):
        seen[f"two tokens, T={T}"] = pairs(lab, Mixer(two, up_to(9)), T, 2)
    return seen


@exercise.check(points=0.5)
def same_random_numbers(lab, draw):
    """`leaks` does not take dropout for a leak: two runs draw the same random numbers."""
    model = Mixer(draw.normal(3, 4), up_to(0), dropout=0.4)
    return {"dropout, no leak": pairs(lab, model, 4, 3)}


@exercise.check(points=0.5)
def as_in_training(lab, draw):
    """`leaks` runs a model in the mode that it is in, training or evaluation."""
    table = draw.normal(3, 4)
    norm = nn.BatchNorm1d(4, dtype=torch.float64)
    dropped = Mixer(table, up_to(1), dropout=0.1)
    normed = Mixer(table, up_to(0), norm=norm)
    seen = {
        "dropout, one ahead": pairs(lab, dropped, 4, 3),
        "batch norm": pairs(lab, normed, 4, 3),
        "batch norm, switched off": pairs(lab, normed.eval(), 4, 3),
    }
    return {**seen, "left in training mode": dropped.training}


@exercise.check(points=0.5)
def where_padding_matters(lab, draw):
    """`pad_invariant` detects padding that matters only in front, behind or in some number."""
    table, pad = draw.normal(6, 3), 2
    causal, masked = Mixer(table, up_to(0)), rounded(Mixer(table, real_keys(pad)))

    def if_there_are(number):
        return lambda ids: masked(ids) + ((ids == pad).sum(1) == number)[:, None, None]

    models = {
        "in front": causal,
        "behind": lambda ids: causal(ids.flip(1)).flip(1),
        "if there is one": if_there_are(1),
        "if there are two": if_there_are(2),
        "if there are three": if_there_are(3),
    }
    return {f"padding {name}": invariant(lab, fn, 4, 6, pad) for name, fn in models.items()}


@exercise.check(points=0.5)
def real_tokens_alone(lab, draw):
    """`pad_invariant` compares outputs at real tokens alone, and none of these is padding."""
    table, pad = draw.normal(6, 3), 2
    masked = rounded(Mixer(table, real_keys(pad)))

    def wild(ids):
        return masked(ids) + 1e6 * (ids == pad)[..., None] * ids.shape[1]

    def nan_there(ids):
        return masked(ids).masked_fill((ids == pad)[..., None], torch.nan)

    return {
        "NaN at padding": invariant(lab, nan_there, 4, 6, pad),
        "only what it gives at padding": invariant(lab, wild, 4, 6, pad),
        **{
            f"only what it gives at padding {side}": invariant(
                lab, other_at_padding(table, pad, behind=side == "behind"), 4, 6, pad
            )
            for side in ("in front", "behind")
        },
    }


@exercise.check(points=1, hidden=True)
def how_padding_matters(lab, draw):
    """`pad_invariant` detects padding that matters faintly or for some outputs, whatever its id."""
    table, pad = draw.normal(6, 3), 2

    def counts(ids):
        return (ids == pad).sum(1)[:, None, None].double()

    def wild(ids):
        return masked(ids) + 1e6 * (ids == pad)[..., None] * ids.shape[1]

    def at_the_first(ids):
        place = torch.arange(ids.shape[1])
        first = (place == (ids != pad).int().argmax(1, keepdim=True)).double()
        return masked(ids) + (first * (ids == pad).sum(1, keepdim=True))[..., None]

    masked = rounded(Mixer(table, real_keys(pad)))
    zero = rounded(Mixer(table, real_keys(0)))
    last = rounded(Mixer(table, real_keys(5)))
    models = {
        "only what it gives at the first token": at_the_first,
        "up here, down there": lambda ids: masked(ids) + counts(ids) * torch.tensor([1, -1, 0]),
        "lowers all outputs": lambda ids: masked(ids) - counts(ids),
        "faintly": lambda ids: 1e3 + masked(ids) + 3e-8 * counts(ids),
        "rounding only": masked,
        "only what it gives at padding": wild,
        "tells padding from real tokens by another id": Mixer(table, real_keys(5)),
    }
    seen = {name: invariant(lab, fn, 4, 6, pad) for name, fn in models.items()}
    seen["padding is 0, masked"] = invariant(lab, zero, 4, 6, 0)
    seen["padding is 5, masked"] = invariant(lab, last, 4, 6, 5)
    seen["padding is 0, not masked"] = invariant(lab, Mixer(table, real_keys(1)), 4, 6, 0)
    return seen
