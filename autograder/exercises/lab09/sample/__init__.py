"""sample: the next token by temperature, top-k and top-p. Distributions are judged, never draws."""

from __future__ import annotations

import torch

from attnlab.checking.judges import SameShares
from attnlab.checking.observation import dtype_of
from attnlab.sampling import sample
from gradekit.exercise import Exercise

exercise = Exercise(
    sample,
    equivalent={
        "sample: `Sub` → `Add` in `scores = (logits - logits.amax(-1, keepdim=True)) / "
        "temperature`": "the same number for a whole row does not change its softmax",
        "sample: `Lt` → `LtE` in `stays = before < top_p`": (
            "no total is exactly top_p, because such a total depends on how it was rounded"
        ),
    },
)

FIVE = (0.5, 0.2, 0.15, 0.1, 0.05)
DRAWS = 2000


def tokens(draw, p=FIVE):
    """Logits of these probabilities, or of numbers in proportion to them, at random places."""
    p = torch.tensor(p, dtype=torch.float64)
    return p[draw.permutation(len(p))].log() + draw.normal(1)


def counts(lab, draw, logits, *how, n=DRAWS, **named):
    """How often each token is drawn from n equal rows."""
    drawn = lab.sample(logits.repeat(n, 1), *how, **named, generator=draw.generator())
    return drawn.flatten().bincount(minlength=len(logits))


@exercise.check(points=2.5, judge=SameShares())
def crossing_token(lab, draw):
    """The token that crosses `top_p` stays: of .5 .2 .15 .1 .05, four tokens stay at .9."""
    logits = tokens(draw)
    return {
        "probabilities": logits.softmax(-1),
        **{f"top_p={p}": counts(lab, draw, logits, top_p=p) for p in (0.9, 0.6, 0.4)},
    }


@exercise.check(points=1.5, judge=SameShares())
def temperatures(lab, draw):
    """A temperature below 1 makes the distribution sharper, one above 1 makes it flatter."""
    logits = tokens(draw)
    return {
        "probabilities": logits.softmax(-1),
        **{f"temperature={T}": counts(lab, draw, logits, T) for T in (1.0, 0.5, 2.0)},
    }


@exercise.check(points=2, judge=SameShares())
def order_of_the_filters(lab, draw):
    """First the temperature, then `top_k`; `top_p` counts the probability that `top_k` left."""
    logits = tokens(draw)
    return {
        "probabilities": logits.softmax(-1),
        "top_k=3": counts(lab, draw, logits, top_k=3),
        "top_k=3, top_p=0.8": counts(lab, draw, logits, top_k=3, top_p=0.8),
        "temperature=0.5, top_p=0.9": counts(lab, draw, logits, 0.5, top_p=0.9),
        "temperature=2, top_p=0.9": counts(lab, draw, logits, 2.0, top_p=0.9),
    }


@exercise.check(points=1)
def greedy(lab, draw):
    """With the temperature 0 the likeliest token is taken, whatever `top_k` and `top_p` are."""
    logits = draw.normal(30, 7)
    return {
        "likeliest": logits.argmax(-1).tolist(),
        "temperature=0": lab.sample(logits, 0, generator=draw.generator()),
        "top_k=4": lab.sample(logits, 0.0, 4, generator=draw.generator()),
        "top_k=3, top_p=0.99": lab.sample(logits, 0, 3, 0.99, generator=draw.generator()),
        "no generator": lab.sample(logits, temperature=0),
    }


@exercise.check(points=2, hidden=True, judge=SameShares())
def other_distributions(lab, draw):
    """20,000 draws from one distribution of nine tokens, and some of eleven, have their shares."""
    settings = [(0.7, 6, 0.85), (1.3, 8, 0.5), (1.0, None, 0.7), (1.5, 4, None), (0.8, 3, 0.6)]
    eleven = [0.75**n for n in range(11)]
    return {
        **{f"T={T}, k={k}, p={p}": counts(lab, draw, tokens(draw, eleven), T, k, p)
           for T, k, p in settings},
        "20,000 draws": counts(lab, draw, tokens(draw, eleven[:9]), 1.4, 7, 0.9, n=20_000),
    }  # fmt: skip


@exercise.check(points=1.5, hidden=True, judge=SameShares())
def rows_on_their_own(lab, draw):
    """Each row has its own distribution, and its token is drawn independently of all others."""
    n, ratios = 1000, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    logits = torch.stack([tokens(draw, [ratio**i for i in range(5)]) for ratio in ratios])
    out = lab.sample(logits.repeat(n, 1).view(n, 2, 3, 5), 1.3, 4, 0.9, generator=draw.generator())
    out = out.view(n, 6)
    pairs = 5 * out[:, 4] + out[:, 5], 5 * out[1:, 3] + out[:-1, 3], 5 * out[:, 1] + out[:, 4]
    return {
        "shares of each": torch.stack([row.bincount(minlength=5) for row in out.T]),
        "side by side": pairs[0].bincount(minlength=25),
        "one after the other": pairs[1].bincount(minlength=25),
        "one above the other": pairs[2].bincount(minlength=25),
    }


@exercise.check(points=1, hidden=True)
def any_shape(lab, draw):
    """Any number of axes: the last one goes, and the tokens are int64."""

    def ask(batch, V):
        logits = draw.strided(draw.normal(*batch, V))
        logits[..., 0] = -200.0
        logits[..., -1] = 200.0  # this token for sure
        found = lab.sample(logits, 0.9, 4, 0.9, generator=draw.generator())
        return [found, dtype_of(found), lab.sample(logits, 0, 4, 0.9)]

    return draw.each_size(ask, batch=(3,), V=5)


@exercise.check(points=1, hidden=True, judge=SameShares())
def edges(lab, draw):
    """`top_k` up to V and above, a small `top_p`, forbidden tokens, large logits, float32."""
    logits = tokens(draw)
    forbidden = logits.clone()
    forbidden[int(draw.integers(0, 5))] = -torch.inf
    return {
        "top_k=1": counts(lab, draw, logits, top_k=1, n=200),
        "top_k=5": counts(lab, draw, logits, top_k=5, n=1000),
        "top_k=99": counts(lab, draw, logits, top_k=99, n=1000),
        "top_p=1e-9": counts(lab, draw, logits, top_p=1e-9, n=200),
        "top_p=1": counts(lab, draw, logits, top_p=1.0, n=1000),
        "a token of probability 0": counts(lab, draw, forbidden, 1.5, 99, 0.99, n=1000),
        "logits of 10,000": counts(lab, draw, logits + 1e4, n=1000),
        "temperature=0.001": counts(lab, draw, logits, 0.001, n=200),
        "temperature=1000": counts(lab, draw, logits, 1000.0, n=1000),
        "float32": counts(lab, draw, logits.float(), 0.8, 3, 0.9, n=1000),
    }


@exercise.check(points=1, hidden=True)
def randomness(lab, draw):
    """All randomness comes from the generator, if one is given; `logits` stay as they are."""
    logits = draw.normal(200, 6)
    before = torch.get_rng_state()
    first = lab.sample(logits, 1.5, 5, 0.9, generator=torch.Generator().manual_seed(1))
    again = torch.Generator().manual_seed(1)
    second = lab.sample(logits, 1.5, 5, 0.9, generator=again)
    third = lab.sample(logits, 1.5, 5, 0.9, generator=again)
    lab.sample(logits, 0, generator=again)
    other = lab.sample(logits, 1.5, 5, 0.9, generator=torch.Generator().manual_seed(2))
    seen = {
        "equal generators, equal tokens": torch.equal(first, second),
        "the next call draws new tokens": not torch.equal(second, third),
        "another generator, other tokens": not torch.equal(first, other),
        "torch's own generator was not used": torch.equal(before, torch.get_rng_state()),
    }
    calls = [lab.sample(logits, 1.5, 5, 0.9) for _ in range(2)]
    seen["no generator: new tokens each time"] = not torch.equal(*calls)
    seen["logits as they were"] = draw.untouched()
    return seen


@exercise.check(points=0.5, hidden=True)
def without_a_meaning(lab, draw):
    """A ValueError for a negative temperature, `top_k` below 1, and `top_p` outside (0, 1]."""
    logits = draw.normal(2, 5)
    wrong = {
        "temperature=-0.5": {"temperature": -0.5},
        "top_k=0": {"top_k": 0},
        "top_k=-2": {"top_k": -2},
        "top_p=0": {"top_p": 0.0},
        "top_p=-0.1": {"top_p": -0.1},
        "top_p=1.1": {"top_p": 1.1},
        "top_p=1.1, greedy": {"top_p": 1.1, "temperature": 0},
        "top_k=0, greedy": {"top_k": 0, "temperature": 0},
    }
    return {
        **{name: draw.raises(lab.sample, logits, **how) for name, how in wrong.items()},
        "top_p=1 and top_k=1 have one": draw.raises(lab.sample, logits, 0.5, 1, 1.0),
    }
