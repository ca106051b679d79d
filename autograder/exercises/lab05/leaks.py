"""leaks: ask a model what it looks at, later tokens or padding, whatever its code says."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.causality import leaks, pad_invariant
from gradekit.exercise import Exercise

exercise = Exercise(
    leaks,
    pad_invariant,
    equivalent={
        f"{function}: {change}": reason
        for function, change, reason in (
            ("leaks", "`0` → `1` in `torch.manual_seed(0)`", "any seed will do"),
            (
                "leaks",
                "`Gt` → `GtE` in `found |= {(i, j) for i in range(j) if moved[i] > ROUNDING}`",
                "no difference is exactly 1e-9",
            ),
            (
                "pad_invariant",
                "`Gt` → `GtE` in `if (seen - alone).abs().max() > ROUNDING:`",
                "no difference is exactly 1e-9",
            ),
            (
                "pad_invariant",
                "`Mod` → `FloorDiv` in `ids = real[torch.arange(2 * T).view(2, T) % len(real)]`",
                "any real tokens will do",
            ),
        )
    },
)


ROUNDING = 1e-9


class Mixer(nn.Module):
    """Embeddings, one attention over the places that `allowed` (ids -> boolean) says, dropout."""

    def __init__(self, table, allowed, dropout=0.0, norm=None):
        super().__init__()
        self.table, self.allowed, self.dropout, self.norm = table, allowed, dropout, norm

    def forward(self, ids):
        x, allowed = self.table[ids], self.allowed(ids)
        scores = (x @ x.mT).masked_fill(~allowed, -1e300)
        mixed = x + scores.softmax(-1).masked_fill(~allowed, 0.0) @ x
        if self.norm is not None:
            mixed = self.norm(mixed.flatten(0, 1)).view_as(mixed)
        return F.dropout(mixed, self.dropout, self.training)


def up_to(offset):
    """Query i may attend to keys up to i + offset."""
    return lambda ids: torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril(offset)


def real_keys(pad, causal=False):
    """Every query may attend to keys that are no padding; to earlier ones only, if causal."""

    def allowed(ids):
        return (ids != pad)[:, None, :] & (up_to(0)(ids) if causal else torch.tensor(True))

    return allowed


def pairs(found):
    """A list of pairs, however its numbers came, in order."""
    return sorted([int(i), int(j)] for i, j in found)


@exercise.check(points=1)
def a_sorted_list_of_pairs(lab, draw):
    """`leaks` gives a sorted list of pairs, an empty one for a model that never looks ahead."""
    table = draw.normal(4, 3)
    found = lab.leaks(Mixer(table, up_to(3)), 5, 4)
    return {
        "looks three ahead": [[int(i), int(j)] for i, j in found],
        "looks at no later token": list(lab.leaks(Mixer(table, up_to(0)), 3, 4)),
        "types": [type(found).__name__, type(lab.leaks(Mixer(table, up_to(0)), 3, 4)).__name__],
    }


@exercise.check(points=2.5)
def who_looks_ahead(lab, draw):
    """`leaks` finds each output that moves when one later token changes, and no other."""
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
        **{f"{name}, T={T}": pairs(lab.leaks(fn, T, 4)) for name, fn in seen.items()},
        "everything, T=2": pairs(lab.leaks(seen["everything"], 2, 4)),
    }


@exercise.check(points=2)
def who_looks_at_padding(lab, draw):
    """`pad_invariant` tells a model that masks padding from one that attends to it."""
    table, pad = draw.normal(6, 3), 4
    models = {
        "masks padding": Mixer(table, real_keys(pad)),
        "masks padding and later tokens": Mixer(table, real_keys(pad, causal=True)),
        "each token by itself": lambda ids: table[ids],
        "attends to all": Mixer(table, up_to(20)),
        "the mean of all": lambda ids: table[ids] + table[ids].mean(1, keepdim=True),
    }
    return {name: bool(lab.pad_invariant(fn, 5, 6, pad)) for name, fn in models.items()}


@exercise.check(points=1.5, hidden=True)
def weak_leaks(lab, draw):
    """`leaks` sees a leak in the last digits of outputs in the thousands, and no rounding."""
    table = draw.normal(4, 3)
    past = Mixer(table, up_to(0))

    def faint(size):
        return lambda ids: 1e3 + past(ids) + size * table[ids].roll(-2, 1)

    return {
        "3e-6": pairs(lab.leaks(faint(3e-6), 5, 4)),
        "3e-8": pairs(lab.leaks(faint(3e-8), 5, 4)),
        "rounding, 1e-12": pairs(lab.leaks(faint(1e-12), 5, 4)),
    }


@exercise.check(points=1.5, hidden=True)
def one_token_in_particular(lab, draw):
    """`leaks` finds a model that looks ahead for one token only, and one that has two tokens."""
    table, T = draw.normal(7, 3), 4

    def looks_for(token, place):
        def fn(ids):
            return table[ids] + (ids[:, place] == token).double()[:, None, None]

        return fn

    seen = {
        f"looks for token {token} at place {place}": pairs(lab.leaks(looks_for(token, place), T, 7))
        for token, place in ((0, 1), (3, 2), (6, 3))
    }
    for token, place in ((2, 1), (5, 2), (6, 3)):
        fn = looks_for(token, place)
        seen[f"fears token {token} at place {place}"] = pairs(lab.leaks(lambda x: -fn(x), T, 7))  # noqa: B023
    two = draw.normal(2, 3)
    for T in (3, 6):
        seen[f"two tokens, T={T}"] = pairs(lab.leaks(Mixer(two, up_to(9)), T, 2))
    return seen


@exercise.check(points=1.5, hidden=True)
def as_in_training(lab, draw):
    """`leaks` asks a model in the mode in which it comes: dropout is no leak, batch norm is."""
    table = draw.normal(3, 4)
    norm = nn.BatchNorm1d(4, dtype=torch.float64)
    dropped = Mixer(table, up_to(0), dropout=0.4)
    normed = Mixer(table, up_to(0), norm=norm)
    seen = {
        "dropout, no leak": pairs(lab.leaks(dropped, 4, 3)),
        "dropout, one ahead": pairs(lab.leaks(Mixer(table, up_to(1), dropout=0.1), 4, 3)),
        "batch norm": pairs(lab.leaks(normed, 4, 3)),
        "batch norm, switched off": pairs(lab.leaks(normed.eval(), 4, 3)),
    }
    return {**seen, "left in training mode": dropped.training}


@exercise.check(points=2, hidden=True)
def padding_on_either_side(lab, draw):
    """`pad_invariant` finds padding that counts behind only, in front only, or in numbers."""
    table, pad = draw.normal(6, 3), 2
    causal = Mixer(table, up_to(0))

    def masks(wanted):
        return Mixer(table, lambda ids: wanted(ids)[:, None, :])

    def counts(ids):
        return (ids == pad).sum(1)[:, None, None].double()

    def wild(ids):
        return masked(ids) + 1e6 * (ids == pad)[..., None] * ids.shape[1]

    def at_the_first(ids):
        place = torch.arange(ids.shape[1])
        first = (place == (ids != pad).int().argmax(1, keepdim=True)).double()
        return masked(ids) + (first * (ids == pad).sum(1, keepdim=True))[..., None]

    masked = Mixer(table, real_keys(pad))
    zero = Mixer(table, real_keys(0))
    models = {
        "in front": causal,
        "behind": lambda ids: causal(ids.flip(1)).flip(1),
        "takes the first tokens for the real ones": masks(
            lambda ids: torch.arange(ids.shape[1]) < (ids != pad).sum(1, keepdim=True)
        ),
        "one padding token": lambda ids: masked(ids) + (counts(ids) == 1),
        "two padding tokens": lambda ids: masked(ids) + (counts(ids) == 2),
        "three padding tokens": lambda ids: masked(ids) + (counts(ids) == 3),
        "only what it gives at the first token": at_the_first,
        "up here, down there": lambda ids: masked(ids) + counts(ids) * torch.tensor([1, -1, 0]),
        "lowers all outputs": lambda ids: masked(ids) - counts(ids),
        "faintly": lambda ids: 1e3 + masked(ids) + 3e-8 * counts(ids),
        "rounding only": lambda ids: masked(ids) + 1e-12 * counts(ids),
        "only what it gives at padding": wild,
        "tells padding from real tokens by another id": Mixer(table, real_keys(5)),
    }
    seen = {name: bool(lab.pad_invariant(fn, 4, 6, pad)) for name, fn in models.items()}
    seen["padding is 0, masked"] = bool(lab.pad_invariant(zero, 4, 6, 0))
    seen["padding is 5, masked"] = bool(lab.pad_invariant(Mixer(table, real_keys(5)), 4, 6, 5))
    seen["padding is 0, not masked"] = bool(lab.pad_invariant(Mixer(table, real_keys(1)), 4, 6, 0))
    return seen


# What wrong versions share with the right one.


def start(T, vocab):
    """Two sequences to start from."""
    return torch.arange(2 * T).view(2, T) % vocab


def run(fn, ids):
    torch.default_generator.manual_seed(3)  # fifty times as fast as torch.manual_seed
    return fn(ids)


def changes(T, vocab):
    """For each place: each way to write another token there."""
    ids = start(T, vocab)
    for j in range(T):
        for step in range(1, vocab):
            other = ids.clone()
            other[:, j] = (other[:, j] + step) % vocab
            yield j, other


def moved(fn, ids, other):
    """(T,), how far each output moves."""
    return (run(fn, other) - run(fn, ids)).abs().amax((0, 2))


@exercise.mistake(
    "You change the outputs, not the tokens: the model never gets to see anything new. What goes "
    "into `fn` the second time?",
    of="leaks",
)
def outputs_changed(fn, T, vocab):
    before = run(fn, start(T, vocab))
    found = []
    for j in range(T):
        after = before.clone()
        after[:, j] += 1.0
        difference = (after - before).abs().amax((0, 2))
        found += [(i, j) for i in range(j) if difference[i] > ROUNDING]
    return sorted(found)


@exercise.mistake(
    "Your comparison is too lenient (torch.allclose allows 1e-5 of the number itself unless told "
    "otherwise). A faint leak is a leak: what does the task say from where on a difference counts?",
    of="leaks",
)
def hidden_by_tolerance(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        before, after = run(fn, ids), run(fn, other)
        close = torch.isclose(before, after).all(-1).all(0)
        found |= {(i, j) for i in range(j) if not close[i]}
    return sorted(found)


@exercise.mistake(
    "You ask for outputs that agree to the last bit, so rounding counts as a leak. What does the "
    "task say from where on a difference counts?",
    of="leaks",
)
def rounding_counts(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        far = moved(fn, ids, other)
        found |= {(i, j) for i in range(j) if far[i] > 0}
    return sorted(found)


@exercise.mistake(
    "You compare the likeliest tokens, not the outputs: a leak that does not change the winner "
    "goes "
    "unseen. What does the task compare?",
    of="leaks",
)
def winners_compared(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        differs = (run(fn, other).argmax(-1) != run(fn, ids).argmax(-1)).any(0)
        found |= {(i, j) for i in range(j) if differs[i]}
    return sorted(found)


@exercise.mistake(
    "You compare one number of each output (`[..., 0]`). A leak may show in any of them.",
    of="leaks",
)
def first_number_only(fn, T, vocab):
    return leaks(lambda ids: fn(ids)[..., :1], T, vocab)


@exercise.mistake(
    "You add differences up with their signs, and what goes up here cancels what goes down there. "
    "What turns both signs into a size?",
    of="leaks",
)
def signs_cancel(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        far = (run(fn, other) - run(fn, ids)).sum((0, 2))
        found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You change the last token only. Which places can a query look at too early?",
    of="leaks",
)
def last_token_only(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        if j == T - 1:
            far = moved(fn, ids, other)
            found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You look at the output just before the changed token and at no other. How far ahead may a "
    "model look?",
    of="leaks",
)
def neighbour_only(fn, T, vocab):
    return [(i, j) for i, j in leaks(fn, T, vocab) if i == j - 1]


@exercise.mistake(
    "The last output is never reported or the last token never changed: a range ends one too soon. "
    "Which j does your loop reach for T places?",
    of="leaks",
)
def last_place_left_out(fn, T, vocab):
    return [(i, j) for i, j in leaks(fn, T, vocab) if j < T - 1]


@exercise.mistake(
    "Dropout draws other random numbers each time you call the model, and you take that for a "
    "leak. "
    "How can two runs be made to draw the same?",
    of="leaks",
)
def other_dice(fn, T, vocab):
    ids = start(T, vocab)
    before = run(fn, ids)
    found = set()
    for j, other in changes(T, vocab):
        difference = (fn(other) - before).abs().amax((0, 2))
        found |= {(i, j) for i in range(j) if difference[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You switch the model to `eval()` first. That silences dropout, and also batch normalisation, "
    "which looks at later tokens in training. The model is to be asked as it comes.",
    of="leaks",
)
def switched_to_eval(fn, T, vocab):
    if isinstance(fn, nn.Module):
        fn.eval()
    return leaks(fn, T, vocab)


@exercise.mistake(
    "The new token is sometimes the old one: drawn at random, it equals it once in `vocab` times. "
    "How do you make sure that something changes?",
    of="leaks",
)
def same_token_by_chance(fn, T, vocab):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(vocab, (1, T), generator=generator)
    found = set()
    for j in range(T):
        other = ids.clone()
        other[:, j] = torch.randint(vocab, (1,), generator=generator)
        far = moved(fn, ids, other)
        found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You try one new token at each place. A model may look ahead for one token in particular: how "
    "many others are there?",
    of="leaks",
)
def one_new_token(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j in range(T):
        other = ids.clone()
        other[:, j] = (ids[:, j] + 1) % vocab
        far = moved(fn, ids, other)
        found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "The last token of the vocabulary is never tried. A model may look ahead for just that one.",
    of="leaks",
)
def last_token_never_tried(fn, T, vocab):
    ids = torch.zeros(2, T, dtype=torch.int64)
    found = set()
    for j in range(T):
        for token in range(vocab - 1):
            other = ids.clone()
            other[:, j] = token
            far = moved(fn, ids, other)
            found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You change all tokens from place j on at once (or cut them off), so an output is blamed on j "
    "when it looks at a token behind j. What is the smallest change that you can make?",
    of="leaks",
)
def everything_from_there_on(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j in range(T):
        for step in range(1, vocab):
            other = ids.clone()
            other[:, j:] = (other[:, j:] + step) % vocab
            far = moved(fn, ids, other)
            found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "Changes pile up: the token at place j is still changed when you come to the next place. What "
    "should each run be compared with, and what with what you start from?",
    of="leaks",
)
def changes_pile_up(fn, T, vocab):
    ids = start(T, vocab)
    other, found = ids.clone(), set()
    for j in range(T - 1, -1, -1):
        for _ in range(1, vocab):
            other[:, j] = (other[:, j] + 1) % vocab
            far = moved(fn, ids, other)
            found |= {(i, j) for i in range(j) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "An output may depend on the token at its own place, and you report that. Which pairs are "
    "asked "
    "for?",
    of="leaks",
)
def own_place_reported(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        far = moved(fn, ids, other)
        found |= {(i, j) for i in range(j + 1) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You report outputs behind the changed token, too. Those may move: only looking ahead is a "
    "leak.",
    of="leaks",
)
def past_reported(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        far = moved(fn, ids, other)
        found |= {(i, j) for i in range(T) if i != j and far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "You report where a change reaches later outputs, which it should. Is i the output or the "
    "token?",
    of="leaks",
)
def later_outputs_only(fn, T, vocab):
    ids = start(T, vocab)
    found = set()
    for j, other in changes(T, vocab):
        far = moved(fn, ids, other)
        found |= {(j, i) for i in range(j + 1, T) if far[i] > ROUNDING}
    return sorted(found)


@exercise.mistake(
    "The two numbers of each pair have changed places: the output comes first, then the token that "
    "it looks at.",
    of="leaks",
)
def pairs_turned_round(fn, T, vocab):
    return sorted((j, i) for i, j in leaks(fn, T, vocab))


@exercise.mistake(
    "Your places are counted from 1. Here, as in torch, the first place is 0.",
    of="leaks",
)
def counted_from_one(fn, T, vocab):
    return [(i + 1, j + 1) for i, j in leaks(fn, T, vocab)]


@exercise.mistake(
    "You stop at the first leak. All of them are asked for: their pattern tells what is wrong.",
    of="leaks",
)
def first_leak_only(fn, T, vocab):
    return leaks(fn, T, vocab)[:1]


@exercise.mistake(
    "The same pair is reported once for each new token. Which container holds each pair once?",
    of="leaks",
)
def reported_repeatedly(fn, T, vocab):
    ids = start(T, vocab)
    found = []
    for j, other in changes(T, vocab):
        far = moved(fn, ids, other)
        found += [(i, j) for i in range(j) if far[i] > ROUNDING]
    return sorted(found)


@exercise.mistake(
    "The pairs are the right ones in another order. How are they to be sorted?",
    of="leaks",
)
def sorted_by_token(fn, T, vocab):
    return sorted(leaks(fn, T, vocab), key=lambda pair: pair[::-1])


@exercise.mistake(
    "You say whether there are leaks, or how many. A list of pairs was asked for.",
    of="leaks",
)
def only_whether(fn, T, vocab):
    return bool(leaks(fn, T, vocab))


@exercise.mistake(
    "You put padding behind the tokens only. A causal model never looks there; in front of them, "
    "as "
    "in a batch for generation, it does.",
    of="pad_invariant",
)
def behind_only(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3), front=False)
    return all(torch.allclose(p, alone, rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "You put padding in front of the tokens only. Batches for training are padded behind.",
    of="pad_invariant",
)
def in_front_only(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3), behind=False)
    return all(torch.allclose(p, alone, rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "You try one padding token. A model may bear one and not three: how many does the task ask "
    "for?",
    of="pad_invariant",
)
def one_padding_token(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1,))
    return all(torch.allclose(p, alone, rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "You try three padding tokens at once and no fewer. A model may bear three and not one.",
    of="pad_invariant",
)
def three_at_once(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (3,))
    return all(torch.allclose(p, alone, rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "Your comparison is too lenient (torch.allclose allows 1e-5 of the number itself unless told "
    "otherwise). From where on does a difference count, according to the task?",
    of="pad_invariant",
)
def padding_hidden_by_tolerance(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return all(torch.allclose(p, alone) for p in padded)


@exercise.mistake(
    "You ask for outputs that agree to the last bit. Sums over more places round differently: how "
    "much does the task allow?",
    of="pad_invariant",
)
def padding_to_the_last_bit(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return all(torch.equal(p, alone) for p in padded)


@exercise.mistake(
    "Padding in front moves the real tokens to the right, and you compare the first T outputs, "
    "some "
    "of which belong to padding. Where do the real tokens stand?",
    of="pad_invariant",
)
def front_not_shifted(fn, T, vocab, pad):
    ids, alone = real_tokens(T, vocab, pad), fn(real_tokens(T, vocab, pad))
    outputs = []
    for n in (1, 2, 3):
        padding = torch.full((2, n), pad)
        outputs += [fn(torch.cat(parts, 1))[:, :T] for parts in ((ids, padding), (padding, ids))]
    return all(torch.allclose(out, alone, rtol=0, atol=ROUNDING) for out in outputs)


@exercise.mistake(
    "What the model gives at padding decides for you: you compare those outputs, too, or the "
    "padding token is among your real tokens. Nobody reads them: which outputs have to stay?",
    of="pad_invariant",
)
def outputs_at_padding_compared(fn, T, vocab, pad):
    ids = real_tokens(T, vocab, pad)
    few = fn(torch.cat([ids, torch.full((2, 1), pad)], 1))
    many = fn(torch.cat([ids, torch.full((2, 3), pad)], 1))
    same = torch.allclose(many[:, : T + 1], few, rtol=0, atol=ROUNDING)
    return same and pad_invariant(fn, T, vocab, pad)


@exercise.mistake(
    "Outputs that padding makes smaller do not count in your comparison. What turns both signs "
    "into a "
    "size?",
    of="pad_invariant",
)
def padding_sign_kept(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return all((p - alone).max() <= ROUNDING for p in padded)


@exercise.mistake(
    "You compare the output at the last real token only. Which outputs does the task name?",
    of="pad_invariant",
)
def last_real_token_only(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return all(torch.allclose(p[:, -1], alone[:, -1], rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "You look at the mean of the differences, and what goes up here cancels what goes down there. "
    "By how much may any single output differ?",
    of="pad_invariant",
)
def mean_of_differences(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return all((p - alone).mean().abs() <= ROUNDING for p in padded)


@exercise.mistake(
    "It is enough for you that one of several comparisons comes out well (`or`, `any`, a `return "
    "True` inside the loop). The task asks for all of them.",
    of="pad_invariant",
)
def one_side_is_enough(fn, T, vocab, pad):
    alone, padded = both_sides(fn, T, vocab, pad, (1, 2, 3))
    return any(torch.allclose(p, alone, rtol=0, atol=ROUNDING) for p in padded)


@exercise.mistake(
    "What the model gives at padding decides for you: you compare those outputs, too, or the "
    "padding token is among your real tokens. Nobody reads them: which outputs have to stay?",
    of="pad_invariant",
)
def padding_among_the_real(fn, T, vocab, pad):
    ids = start(T, vocab)
    alone, close = fn(ids), True
    for n in (1, 2, 3):
        padding = torch.full((2, n), pad)
        behind = fn(torch.cat([ids, padding], 1))[:, :T]
        in_front = fn(torch.cat([padding, ids], 1))[:, n:]
        close &= bool((torch.stack([behind, in_front]) - alone).abs().max() <= ROUNDING)
    return close


@exercise.mistake(
    "Padding is taken to be the token 0, whatever `pad` says. Which token did you put around the "
    "real ones?",
    of="pad_invariant",
)
def padding_is_zero(fn, T, vocab, pad):
    return pad_invariant(fn, T, vocab, 0)


@exercise.mistake(
    "The answer is the wrong way round: True is for a model to which padding makes no difference.",
    of="pad_invariant",
)
def answer_turned_round(fn, T, vocab, pad):
    return not pad_invariant(fn, T, vocab, pad)


@exercise.mistake(
    "You exchange padding for other tokens and expect nothing to change. Any real token may count: "
    "change how much padding there is, not what it is.",
    of="pad_invariant",
)
def padding_replaced(fn, T, vocab, pad):
    ids = real_tokens(T, vocab, pad)
    with_padding = fn(torch.cat([ids, torch.full((2, 2), pad)], 1))[:, :T]
    with_others = fn(torch.cat([ids, torch.full((2, 2), (pad + 1) % vocab)], 1))[:, :T]
    return torch.allclose(with_padding, with_others, rtol=0, atol=ROUNDING)


def real_tokens(T, vocab, pad):
    """(2, T), tokens that are no padding."""
    real = [token for token in range(vocab) if token != pad]
    return torch.tensor([[real[(i + b) % len(real)] for i in range(T)] for b in range(2)])


def both_sides(fn, T, vocab, pad, counts, front=True, behind=True):
    """The outputs of real tokens alone, and those with padding around them."""
    ids = real_tokens(T, vocab, pad)
    padded = []
    for n in counts:
        padding = torch.full((2, n), pad)
        if behind:
            padded.append(fn(torch.cat([ids, padding], 1))[:, :T])
        if front:
            padded.append(fn(torch.cat([padding, ids], 1))[:, n:])
    return fn(ids), padded


@exercise.also_right(of="leaks")
def one_sequence_all_tokens(fn, T, vocab):
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(0, vocab, (3, T), generator=generator)
    state = torch.get_rng_state()

    def ask(ids):
        torch.set_rng_state(state)
        with torch.no_grad():
            return fn(ids)

    influence = torch.zeros(T, T, dtype=torch.bool)
    for j in range(T):
        for token in range(vocab):
            other = ids.clone()
            other[:, j] = token
            far = (ask(other) - ask(ids)).abs() > 1e-9
            influence[:, j] |= far.any(-1).any(0)
    return [tuple(pair) for pair in influence.triu(1).nonzero().tolist()]


@exercise.also_right(of="leaks")
def one_row_at_a_time(fn, T, vocab):
    found = set()
    ids = torch.zeros((2, T), dtype=torch.long)
    for i in range(T):
        for j in range(i + 1, T):
            for token in range(1, vocab):
                other = ids.clone()
                other[0, j] = token
                torch.manual_seed(11)
                a = fn(ids)[:, i]
                torch.manual_seed(11)
                b = fn(other)[:, i]
                if not torch.allclose(a, b, rtol=0, atol=1e-9):
                    found.add((i, j))
    return sorted(found)


@exercise.also_right(of="leaks")
def with_forked_dice(fn, T, vocab):
    found = []
    ids = torch.arange(T)[None].repeat(2, 1) % vocab

    def ask(tokens):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1234)
            return fn(tokens).detach()

    base = ask(ids)
    for j in range(1, T):
        gap = torch.zeros(T, dtype=torch.float64)
        for token in range(vocab):
            if token == int(ids[0, j]):
                continue
            changed = torch.cat([ids[:, :j], torch.full((2, 1), token), ids[:, j + 1 :]], 1)
            gap = torch.maximum(gap, (ask(changed) - base).abs().flatten(2).amax((0, 2)))
        found.extend((i, j) for i in range(j) if gap[i].item() > 1e-9)
    return sorted(found)


@exercise.also_right(of="pad_invariant")
def sequence_by_sequence(fn, T, vocab, pad):
    generator = torch.Generator().manual_seed(2)
    for _ in range(3):
        ids = torch.randint(0, vocab - 1, (1, T), generator=generator)
        ids = ids + (ids >= pad)
        alone = fn(ids)
        for front in range(4):
            for behind in range(4 - front):
                tokens = [pad] * front + ids[0].tolist() + [pad] * behind
                padded = fn(torch.tensor([tokens]))[:, front : front + T]
                if (padded - alone).abs().max().item() > 1e-9:
                    return False
    return True


@exercise.also_right(of="pad_invariant")
def by_padding_functions(fn, T, vocab, pad):
    ids = torch.arange(T).repeat(3, 1) % (vocab - 1)
    ids = torch.where(ids >= pad, ids + 1, ids)
    gaps = []
    for n in range(1, 4):
        gaps.append(fn(F.pad(ids, (0, n), value=pad))[:, :-n] - fn(ids))
        gaps.append(fn(F.pad(ids, (n, 0), value=pad))[:, n:] - fn(ids))
    return torch.stack(gaps).abs().max() <= 1e-9
