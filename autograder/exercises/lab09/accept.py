"""accept: speculative decoding, whose tokens are draws from the large model."""

from __future__ import annotations

import torch

from attnlab.checking.judges import SameShares
from attnlab.checking.observation import dtype_of
from attnlab.speculative import accept
from gradekit.exercise import Exercise

exercise = Exercise(
    accept,
    equivalent={
        "accept: `GtE` → `Gt` in `if chance * q[i, x] >= p[i, x]:`": (
            "differs only if the random number is exactly the limit"
        ),
        "accept: `drafted.tolist()` → `drafted` in `for i, x in enumerate(drafted.tolist()):`": (
            "a tensor of one number indexes as the number does"
        ),
        "accept: `torch.rand((), generator=generator, dtype=p.dtype)` → "
        "`torch.rand((), generator=generator)` in "
        "`chance = torch.rand((), generator=generator, dtype=p.dtype)`": (
            "a random number of fewer digits is as good"
        ),
    },
)

V, CALLS = 4, 2500
LARGE = ((0.5, 0.25, 0.15, 0.1), (0.1, 0.2, 0.3, 0.4), (0.4, 0.4, 0.1, 0.1))
DRAFTS = {
    "a similar draft": ((0.4, 0.35, 0.15, 0.1), (0.2, 0.2, 0.2, 0.4)),
    "another draft": ((0.1, 0.1, 0.2, 0.6), (0.6, 0.2, 0.1, 0.1)),
}


def written(lab, draw, q, calls=CALLS):
    """Many calls on freshly drafted tokens: the first and the last ones, and how many there are."""
    q = torch.tensor(q, dtype=torch.float64)
    p = torch.tensor(LARGE[: len(q) + 1], dtype=torch.float64)
    drafts, generator = draw.generator(), draw.generator()
    drafted = torch.multinomial(q, calls, True, generator=drafts).T
    found = [lab.accept(row, q, p, generator=generator).tolist() for row in drafted]
    return {
        "first tokens": torch.tensor([row[0] for row in found]).bincount(minlength=V),
        "numbers of tokens": torch.tensor([len(row) for row in found]).bincount(minlength=4),
        "last tokens": torch.tensor([row[-1] for row in found]).bincount(minlength=V),
    }


@exercise.check(points=0, judge=SameShares())
def draws_of_the_large_model(lab, draw):
    """Whatever the draft is, the first token has the large model's probabilities."""
    return {
        "the large model's": torch.tensor(LARGE[0]),
        **{name: written(lab, draw, q)["first tokens"] for name, q in DRAFTS.items()},
    }


@exercise.check(points=0, judge=SameShares())
def how_many(lab, draw):
    """As many tokens stay, and the last ones are drawn, as the task says."""
    kept = ("numbers of tokens", "last tokens")
    seen = {}
    for name, q in DRAFTS.items():
        found = written(lab, draw, q)
        seen |= {f"{name}, {what}": found[what] for what in kept}
    return seen


@exercise.check(points=0)
def equal_and_opposite(lab, draw):
    """Equal models: all stay. Models without a common token: none does. Nothing was drafted."""
    same = torch.tensor(LARGE[:2], dtype=torch.float64)
    one = torch.eye(V, dtype=torch.float64)
    generator = draw.generator()
    seen = {}
    for name, q, p in (("equal models", same, torch.cat((same, one[2:3]))),
                       ("nothing in common", one[:2], one[2:3].repeat(3, 1)),
                       ("the draft is right", one[:2], one[:3])):  # fmt: skip
        drafted = torch.tensor([0, 1])
        before = drafted.clone(), q.clone(), p.clone()
        rows = [lab.accept(drafted, q, p, generator=generator) for _ in range(30)]
        given = all(torch.equal(a, b) for a, b in zip((drafted, q, p), before, strict=True))
        seen[name] = {"rows": [row.tolist() for row in rows], "inputs as they were": given}
    none = lab.accept(torch.tensor([]).long(), one[:0], one[3:], generator=generator)
    return {**seen, "no token was drafted": none, "dtype": dtype_of(none)}


@exercise.check(points=0)
def randomness(lab, draw):
    """All randomness comes from the generator, if one is given; each token has its own number."""
    q = torch.tensor([[0.25, 0.3, 0.25, 0.2]], dtype=torch.float64).repeat(12, 1)
    p = torch.tensor(LARGE[:1], dtype=torch.float64).repeat(13, 1)
    drafted, before = torch.ones(12).long(), torch.get_rng_state()
    lengths = [
        len(lab.accept(drafted, q, p, generator=torch.Generator().manual_seed(seed)))
        for seed in (1, 1, 2, 3, 4, 5, 6, 7, 8)
    ]
    untouched = torch.equal(before, torch.get_rng_state())
    lab.accept(drafted, q, p)
    return {
        "equal generators": lengths[0] == lengths[1],
        "different generators": len(set(lengths)) > 2,
        "torch's own generator was not used": untouched,
    }


exercise.promises(
    {
        "Decide which drafted tokens stay, so that each written token is a draw of the large "
        "model.": "draws_of_the_large_model",
        "The tokens are looked at in order.": "how_many equal_and_opposite",
        "Token x stays with the probability min(1, p[x] / q[x]), with the rows of its place.": (
            "how_many"
        ),
        "The first one that does not stay is replaced by a draw in proportion to max(0, p - q), "
        "and all tokens after it are dropped.": "draws_of_the_large_model how_many",
        "If all stay, one more token is drawn from the last row of p.": "how_many",
        "K may be 0.": "equal_and_opposite",
        "p: (K + 1, V), probabilities.": "how_many",
        "All three stay unchanged.": "equal_and_opposite",
        "the only source of randomness if it is given": "randomness",
        "(n,), int64, n from 1 to K + 1": "equal_and_opposite",
    },
    explained=[
        "A small model has drafted K tokens",
        "The large model has read all of them in one call.",
        "A row of p is its distribution at the same place",
        "(K, V), probabilities",
    ],
)


@exercise.also_right
def in_a_loop(drafted, q, p, *, generator=None):
    kept = []
    for i in range(len(drafted)):
        x = int(drafted[i])
        u = float(torch.rand(1, generator=generator))
        if u < min(1.0, float(p[i, x] / q[i, x])):
            kept.append(x)
            continue
        rest = torch.relu(p[i] - q[i])
        kept.append(int(torch.multinomial(rest / rest.sum(), 1, generator=generator)))
        return torch.tensor(kept)
    kept.append(int(torch.multinomial(p[-1], 1, generator=generator)))
    return torch.tensor(kept)


@exercise.also_right
def all_at_once(drafted, q, p, *, generator=None):
    K = len(drafted)
    places = torch.arange(K)
    limit = p[places, drafted] / q[places, drafted]
    stays = torch.rand(K, generator=generator, dtype=p.dtype) < limit
    n = int(stays.long().cumprod(0).sum())
    last = p[K] if n == K else (p[n] - q[n]).clamp_min(0)
    return torch.cat([drafted[:n], torch.multinomial(last, 1, generator=generator)])


wrong = exercise.edits(in_a_loop)
edited = exercise.edits(all_at_once)

wrong(
    "all_stay",
    "if u < min(1.0, float(p[i, x] / q[i, x])):",
    "if True:",
    "All drafted tokens stay, so the small model writes. With which probability should one stay?",
)
wrong(
    "ratio_inverted",
    "float(p[i, x] / q[i, x])",
    "float(q[i, x] / p[i, x])",
    "Tokens that the large model likes more than the small one are often refused. Which of the two "
    "probabilities is divided by the other?",
)
wrong(
    "probability_of_the_large_model",
    "float(p[i, x] / q[i, x])",
    "float(p[i, x])",
    "A token stays with the large model's probability alone. Its draft counts, too: how?",
)
wrong(
    "certain_or_never",
    "if u < min(1.0, float(p[i, x] / q[i, x])):",
    "if p[i, x] >= q[i, x]:",
    "A token that the large model likes a little less never stays. With which probability should "
    "it?",
)
wrong(
    "replaced_from_p",
    "torch.relu(p[i] - q[i])",
    "p[i]",
    "A refused token is replaced by a draw from p. Tokens that often stayed come too often then. "
    "What is left of p?",
)
wrong(
    "replaced_from_q",
    "torch.relu(p[i] - q[i])",
    "q[i]",
    "A refused token is replaced by a draw of the small model. What is left of p?",
)
wrong(
    "distance_instead_of_rest",
    "torch.relu(p[i] - q[i])",
    "torch.abs(p[i] - q[i])",
    "Tokens of which the draft has too many can replace a refused one. What happens to negative "
    "differences?",
)
wrong(
    "differences_the_other_way",
    "torch.relu(p[i] - q[i])",
    "torch.relu(q[i] - p[i]) + 1e-12",
    "A refused token is replaced by one of which the draft has too many already. Which tokens does "
    "it have too few of?",
)
wrong(
    "refused_token_kept",
    "        rest = torch.relu",
    "        kept.append(x)\n        rest = torch.relu",
    "The refused token is still there, before its replacement. Which tokens are returned?",
)
wrong(
    "not_replaced",
    "    return torch.tensor(kept)\n    kept.append",
    "    return torch.tensor(kept[:-1] or kept)\n    kept.append",
    "A refused token is dropped without a replacement if others stayed. What does the task return?",
)
wrong(
    "goes_on_after_a_refusal",
    "        kept.append(int(torch.multinomial(rest / rest.sum(), 1, generator=generator)))\n"
    "        return torch.tensor(kept)\n",
    "        kept.append(int(torch.multinomial(rest / rest.sum(), 1, generator=generator)))\n",
    "After a refused token you go on with the draft. On which text did the small model write the "
    "rest of it?",
)
wrong(
    "nothing_after_the_last",
    "    kept.append(int(torch.multinomial(p[-1], 1, generator=generator)))\n",
    "    kept = kept or [int(torch.multinomial(p[-1], 1, generator=generator))]\n",
    "If all tokens stay, one more is free: the large model has read them all. Which row of p is it "
    "for?",
)
edited(
    "one_more_from_the_row_before",
    "last = p[K] if",
    "last = p[max(K - 1, 0)] if",
    "The token after the last one comes from the row of the token before. How many rows has p?",
)
edited(
    "counts_all_that_stay",
    "stays.long().cumprod(0).sum()",
    "stays.sum()",
    "You count all tokens that would stay, those after a refused one too. In which order are they "
    "looked at?",
)
edited(
    "one_number_for_all",
    "torch.rand(K, generator=generator, dtype=p.dtype)",
    "torch.rand((), generator=generator, dtype=p.dtype)",
    "All tokens share one random number. How many decisions are there?",
)
wrong(
    "own_randomness",
    "float(torch.rand(1, generator=generator))",
    "float(torch.rand(1))",
    "You decide with torch's own generator although another one is given. Where is `generator` "
    "used?",
)
edited(
    "rows_one_late",
    "limit = p[places, drafted]",
    "limit = p[places + 1, drafted]",
    "You compare a drafted token with the large model's distribution of the next place. Which row "
    "of p is about the first token?",
)
