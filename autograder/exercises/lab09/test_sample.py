"""test_sample: a test of a random function, which finds wrong samplers."""

from __future__ import annotations

import torch

from attnlab.sampling import sample
from gradekit.exercise import write_a_test

exercise = write_a_test(
    "test_sample",
    of=sample,
    points=4,
    title="Rejects wrong versions of `sample`, and accepts right ones.",
)


@exercise.check(points=2)
def openly_wrong(lab, draw):
    """Accepts your own `sample`; rejects it once it is obviously wrong."""

    def always_the_likeliest(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
        return lab.sample(logits, 0, top_k, top_p, generator=generator)

    def twice_the_temperature(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
        return lab.sample(logits, 2 * temperature, top_k, top_p, generator=generator)

    def no_filters(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
        lab.sample(logits[..., :1], 0, top_k, top_p)  # the errors, and nothing else
        return lab.sample(logits, temperature, generator=generator)

    def the_next_token(logits, temperature=1.0, top_k=None, top_p=None, *, generator=None):
        token = lab.sample(logits, temperature, top_k, top_p, generator=generator)
        return (token + 1) % logits.shape[-1]

    accepted = draw.accepted(lab.test_sample, lab.sample)
    broken = {
        "rejects one that is always greedy": always_the_likeliest,
        "rejects one with twice the temperature": twice_the_temperature,
        "rejects one without filters": no_filters,
        "rejects one that returns the next token": the_next_token,
    }
    rejected = {name: draw.rejects(lab.test_sample, version) for name, version in broken.items()}
    raised = draw.raises(lab.test_sample, the_next_token)
    return {"accepts your own": accepted, **rejected, "what it raises": raised}


P = torch.tensor([0.15, 0.5, 0.05, 0.2, 0.1], dtype=torch.float64)
# What stays of P, and in which proportion, with each setting of temperature, top_k and top_p.
SETTINGS = {
    (1.0, None, None): P,
    (0.5, None, None): P**2,
    (2.0, None, None): P**0.5,
    (1.0, 1, None): P * (P > 0.4),
    (1.0, 2, None): P * (P > 0.17),
    (1.0, 5, None): P,
    (1.0, 9, None): P,
    (1.0, None, 0.9): P * (P > 0.07),
    (1.0, None, 0.6): P * (P > 0.17),
    (1.0, None, 0.4): P * (P > 0.4),
    (1.0, None, 1e-6): P * (P > 0.4),
    (1.0, None, 1.0): P,
    (1.0, 3, 0.8): P * (P > 0.17),
    (0.5, None, 0.9): P**2 * (P > 0.12),
    (2.0, None, 0.9): P**0.5,
}


def shares(impl, settings, n=2000, generator=None):
    """Assert that the draws have the shares that they should have."""
    generator = generator or torch.Generator().manual_seed(1)
    drawn = impl((P.log() + 800).repeat(n, 1), *settings, generator=generator)
    count = drawn.flatten().bincount(minlength=5)
    expected = SETTINGS[settings] / SETTINGS[settings].sum()
    spread = (n * expected * (1 - expected)).sqrt()
    assert ((count - n * expected).abs() <= 5.5 * spread + 1e-6).all()


def refused(impl, *settings):
    try:
        impl(torch.zeros(3, 5), *settings)
    except ValueError:
        return
    raise AssertionError(f"{settings} are accepted")


def everything_but_shares(impl, rows=True):
    """Temperature 0, shapes, rows, generator, inputs, errors."""
    for settings in (
        *[(-1.0, None, None), (1.0, 0, None), (1.0, -3, None), (1.0, None, 0.0)],
        *[(1.0, None, 1.5), (0, 0, None), (0, None, 1.5)],
    ):
        refused(impl, *settings)
    logits = torch.randn(5, 3, 6, generator=torch.Generator().manual_seed(0))
    before, state = logits.clone(), torch.get_rng_state()
    for k, p in ((None, None), (4, 0.9)):
        assert torch.equal(impl(logits, 0, k, p), logits.argmax(-1))
        one, two = (
            impl(logits, 2.0, k, p, generator=torch.Generator().manual_seed(7)) for _ in range(2)
        )
        assert torch.equal(one, two)
    assert torch.equal(logits, before)
    assert torch.equal(torch.get_rng_state(), state)
    generator = torch.Generator().manual_seed(3)
    flat = torch.zeros(300, 2, 7)
    first, second = (impl(flat, generator=generator) for _ in range(2))
    assert not torch.equal(first, second)
    assert first.shape == (300, 2)
    assert first.dtype == torch.int64
    assert impl(flat).shape == (300, 2)
    assert impl(torch.zeros(7)).shape == ()
    for a, b in ((first[1:], first[:-1]), (first[:, 0], first[:, 1])):
        assert (a == b).double().mean() < 0.4
    assert impl(torch.tensor([[-9e3, 9e3, 0.0]]), 0.3, generator=generator).tolist() == [1]
    if rows:
        many = torch.stack((P, P.roll(2) ** 4)).log()[:, None].repeat(1, 2000, 1)
        drawn = impl(many, 1.0, 2, None, generator=generator)
        for row, kept in zip(drawn, ((1, 3), (3, 0)), strict=True):
            counted = row.bincount(minlength=5)
            assert counted[list(kept)].sum() == 2000
            assert (counted[list(kept)] > 10).all()


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(P.log().repeat(10, 1), 1.0, 3, 0.9, generator=torch.Generator().manual_seed(0))


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    drawn = impl(P.log().repeat(1000, 1), generator=torch.Generator().manual_seed(0))
    return bool((drawn == 1).double().mean() > 0.4)


@exercise.mistake(
    "Your test rejects right versions: it asks for the same tokens as one right version draws. "
    "What do two right versions have in common?"
)
def draws_of_one_version(impl):
    seeded = (torch.Generator().manual_seed(0) for _ in range(2))
    logits = P.log().repeat(50, 1)
    right = torch.multinomial(logits.exp(), 1, generator=next(seeded)).squeeze(1)
    assert torch.equal(impl(logits, generator=next(seeded)), right)


@exercise.mistake(
    "Your test rejects right versions: its tolerance is smaller than the spread that chance gives "
    "to the counts. How large is the standard deviation of a count?"
)
def too_strict(impl):
    for settings, expected in SETTINGS.items():
        drawn = impl(P.log().repeat(500, 1), *settings, generator=torch.Generator().manual_seed(5))
        share = drawn.bincount(minlength=5) / 500
        assert (share - expected / expected.sum()).abs().max() < 0.002


@exercise.mistake(
    "Your test looks at which tokens are drawn, and not at how often. Which wrong versions keep "
    "the right tokens?"
)
def sets_only(impl):
    everything_but_shares(impl)
    generator = torch.Generator().manual_seed(0)
    for settings, expected in SETTINGS.items():
        drawn = impl(P.log().repeat(500, 1), *settings, generator=generator)
        assert set(drawn.tolist()) == set(expected.nonzero().flatten().tolist())


@exercise.mistake(
    "Your test never uses a filter. Which two filters does the function have, and in which order?"
)
def no_filters(impl):
    everything_but_shares(impl, rows=False)
    for settings in list(SETTINGS)[:3]:
        shares(impl, settings)


@exercise.mistake(
    "Your test never uses both filters, or a filter together with a temperature. What may a wrong "
    "version do in another order?"
)
def one_number_at_a_time(impl):
    everything_but_shares(impl)
    for settings in list(SETTINGS)[:12]:
        shares(impl, settings)


@exercise.mistake(
    "In your test the tokens stand in order of probability. Which mistake with sorting does that "
    "hide?"
)
def in_order(impl):
    everything_but_shares(impl, rows=False)
    p, order = P.sort(descending=True)
    for settings, expected in SETTINGS.items():
        drawn = impl(p.log().repeat(2000, 1), *settings, generator=torch.Generator().manual_seed(2))
        share = drawn.flatten().bincount(minlength=5) / 2000
        assert (share - (expected / expected.sum())[order]).abs().max() < 0.06


@exercise.mistake(
    "Your test looks at shares alone. What else does the docstring of 9.7 promise: about errors, "
    "shapes, inputs, and where random numbers come from?"
)
def shares_only(impl):
    for settings in SETTINGS:
        shares(impl, settings)


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    try:
        all_of_it(impl)
    except AssertionError:
        raise ValueError("a wrong version") from None


@exercise.also_right
def all_of_it(impl):
    everything_but_shares(impl)
    for settings in SETTINGS:
        shares(impl, settings)


@exercise.also_right
def one_long_batch(impl):
    """Many rows at once, with a chi-square statistic for each."""
    everything_but_shares(impl)
    generator = torch.Generator().manual_seed(11)
    for settings, weights in SETTINGS.items():
        logits = (P.log() + 800).expand(4, 500, 5).contiguous()
        drawn = impl(logits, *settings, generator=generator)
        expected = 2000 * weights / weights.sum()
        count = drawn.flatten().bincount(minlength=5).double()
        kept = expected > 0
        assert count[~kept].sum() == 0
        assert ((count - expected)[kept] ** 2 / expected[kept]).sum() < 45
