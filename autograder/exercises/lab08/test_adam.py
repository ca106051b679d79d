"""test_adam: a test that finds wrong versions of Adam, with torch's own for comparison."""

from __future__ import annotations

import copy

import torch
from torch import nn

from attnlab.optimizers import Adam
from gradekit.exercise import write_a_test

VERSIONS = [
    "gradient_subtracted",
    "beta1_in_v",
    "betas_swapped",
    "sum_of_gradients",
    "no_m",
    "no_correction",
    "v_not_corrected",
    "same_correction_always",
    "corrected_twice",
    "one_count_for_all",
    "counts_without_a_gradient",
    "eps_inside_the_root",
    "eps_squared_inside_the_root",
    "eps_before_the_correction",
    "eps_of_ones_own",
    "no_eps",
    "always_coupled",
    "always_decoupled",
    "decoupled_without_lr",
    "decay_after_the_update",
    "missing_gradient_is_an_error",
    "missing_gradient_as_zeros",
    "zeros_skipped",
    "first_group_only",
    "numbers_of_the_beginning",
    "single_precision",
]

exercise = write_a_test(
    "test_adam",
    of=Adam,
    exercise="adam",
    points=2,
    title="Rejects wrong versions of Adam, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=1)
def openly_wrong(lab, draw):
    """Accepts your own Adam; rejects it once it is obviously wrong."""

    class DoesNothing(lab.Adam):
        def step(self, closure=None):
            return None

    class Uphill(lab.Adam):
        def step(self, closure=None):
            for weight in [w for numbers in self.param_groups for w in numbers["params"]]:
                if weight.grad is not None:
                    weight.grad.neg_()
            return super().step(closure)

    class Twice(lab.Adam):
        def step(self, closure=None):
            super().step(closure)
            return super().step()

    class NeverDecays(lab.Adam):
        def step(self, closure=None):
            for numbers in self.param_groups:
                numbers["weight_decay"] = 0.0
            return super().step(closure)

    accepted = draw.accepted(lab.test_adam, lab.Adam)
    broken = {
        "rejects one that does nothing": DoesNothing,
        "rejects one that goes uphill": Uphill,
        "rejects one that updates twice": Twice,
        "rejects one without weight decay": NeverDecays,
    }
    rejected = {name: draw.rejects(lab.test_adam, version) for name, version in broken.items()}
    raised = draw.raises(lab.test_adam, NeverDecays)
    return {"accepts your own": accepted, **rejected, "what it raises": raised}


def weights(*shapes):
    """Parameters with random numbers, and copies of them."""
    made = [nn.Parameter(torch.randn(shape).double()) for shape in shapes]
    return made, [nn.Parameter(parameter.detach().clone()) for parameter in made]


def same_updates(mine, ours, torchs, theirs, updates=4, scale=1.0, missing=()):
    """Update both with the same gradients, and compare."""
    for number in range(updates):
        for place, (p, q) in enumerate(zip(ours, theirs, strict=True)):
            grad = scale * torch.randn(p.shape).double()
            none = (place, number) in missing
            p.grad, q.grad = (None, None) if none else (grad.clone(), grad.clone())
        mine.step()
        torchs.step()
    for p, q in zip(ours, theirs, strict=True):
        assert torch.allclose(p, q, rtol=1e-9, atol=1e-9)


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    ours, _ = weights((3,))
    mine = impl(ours, lr=0.1)
    ours[0].grad = torch.ones(3).double()
    mine.step()


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    ours, theirs = weights((3,))
    mine, torchs = impl(ours, lr=0.1), torch.optim.Adam(theirs, lr=0.1)
    ours[0].grad, theirs[0].grad = torch.ones(3).double(), torch.ones(3).double()
    mine.step()
    torchs.step()
    return torch.allclose(ours[0], theirs[0])


@exercise.mistake(
    "Your test makes a single update. In it, many wrong versions are right by chance: what are t "
    "and the old averages there?"
)
def one_update_only(impl):
    for decoupled, kind in ((False, torch.optim.Adam), (True, torch.optim.AdamW)):
        for eps in (1e-8, 0.1):
            ours, theirs = weights((3,), (4,))
            mine = impl(ours, 0.1, (0.8, 0.9), eps, 0.1, decoupled_weight_decay=decoupled)
            torchs = kind(theirs, 0.1, (0.8, 0.9), eps, 0.1)
            same_updates(mine, ours, torchs, theirs, updates=1)


@exercise.mistake(
    "Your test has gradients of one size and the usual `eps`, which then hardly counts. Which "
    "gradients and which `eps` show where it is added?"
)
def usual_eps_only(impl):
    for decoupled, kind in ((False, torch.optim.Adam), (True, torch.optim.AdamW)):
        ours, theirs = weights((3,), (4,))
        mine = impl(ours, 0.1, (0.8, 0.9), weight_decay=0.1, decoupled_weight_decay=decoupled)
        torchs = kind(theirs, 0.1, (0.8, 0.9), weight_decay=0.1)
        same_updates(mine, ours, torchs, theirs, missing={(1, 0), (1, 2)})


@exercise.mistake(
    "In your test every parameter has a gradient in every update. What may a wrong version do if "
    "one is None?"
)
def no_missing_gradients(impl):
    for decoupled, kind in ((False, torch.optim.Adam), (True, torch.optim.AdamW)):
        for eps, scale in ((1e-8, 1.0), (0.1, 1.0), (1e-8, 1e-6), (1e-8, 0.0)):
            ours, theirs = weights((3,), (4,))
            groups, other = ([{"params": p[:1]}, {"params": p[1:]}] for p in (ours, theirs))
            mine = impl(groups, 0.1, (0.8, 0.9), eps, 0.1, decoupled_weight_decay=decoupled)
            torchs = kind(other, 0.1, (0.8, 0.9), eps, 0.1)
            for made in (mine, torchs):
                made.param_groups[1]["lr"] = 0.03
            same_updates(mine, ours, torchs, theirs, scale=scale)


@exercise.mistake("Your test never decays weights. Which two forms of decay does the class have?")
def no_decay(impl):
    for eps, scale in ((1e-8, 1.0), (0.1, 1.0), (1e-8, 1e-6), (1e-8, 0.0)):
        ours, theirs = weights((3,), (4,))
        mine = impl(ours, 0.1, (0.8, 0.9), eps)
        torchs = torch.optim.Adam(theirs, 0.1, (0.8, 0.9), eps)
        same_updates(mine, ours, torchs, theirs, scale=scale, missing={(1, 0), (1, 2)})


@exercise.mistake(
    "Your test rejects right versions: it compares AdamW with a class that was not asked to "
    "decouple its decay. Which argument asks for it?"
)
def adamw_for_adam(impl):
    ours, theirs = weights((3,))
    mine = impl(ours, lr=0.1, weight_decay=0.1)
    same_updates(mine, ours, torch.optim.AdamW(theirs, lr=0.1, weight_decay=0.1), theirs)


@exercise.mistake(
    "Your test rejects right versions: it takes the default of torch's AdamW for weight decay. "
    "What is the default in 8.1?"
)
def default_decay_of_adamw(impl):
    ours, theirs = weights((3,))
    mine = impl(ours, lr=0.1, decoupled_weight_decay=True)
    same_updates(mine, ours, torch.optim.AdamW(theirs, lr=0.1), theirs)


@exercise.mistake(
    "Your test rejects right versions, because it asks for exactly equal numbers where two ways to "
    "compute the same differ in the last digits. How far apart may they be?"
)
def exactly_equal(impl):
    ours, theirs = weights((30,))
    mine, torchs = impl(ours, lr=0.1), torch.optim.Adam(theirs, lr=0.1)
    for _ in range(9):
        ours[0].grad = torch.randn(30).double()
        theirs[0].grad = ours[0].grad.clone()
        mine.step()
        torchs.step()
    assert torch.equal(ours[0], theirs[0])


@exercise.mistake(
    "Your test rejects right versions: it asks for the averages by names of its own. Which names "
    "does the task of 8.1 fix in a parameter's state?"
)
def asks_for_names(impl):
    ours, _ = weights((3,))
    mine = impl(ours, lr=0.1)
    ours[0].grad = torch.ones(3).double()
    mine.step()
    assert "exp_avg" in mine.state[ours[0]]


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    try:
        on_a_grid(impl)
    except AssertionError:
        raise ValueError("a wrong version") from None


@exercise.also_right
def on_a_grid(impl):
    torch.manual_seed(3)
    for decoupled, kind in ((False, torch.optim.Adam), (True, torch.optim.AdamW)):
        for decay in (0.0, 0.2):
            for eps in (1e-8, 1e-3, 0.1):
                for scale in (0.0, 1e-6, 1.0):
                    ours, theirs = weights((3, 4), (5,), (2,), ())
                    numbers = {"betas": (0.7, 0.9), "eps": eps, "weight_decay": decay}
                    groups = [
                        [{"params": p[:2], "lr": 0.05}, {"params": p[2:]}] for p in (ours, theirs)
                    ]
                    mine = impl(groups[0], 0.1, **numbers, decoupled_weight_decay=decoupled)
                    torchs = kind(groups[1], 0.1, **numbers)
                    missing = {(1, 0), (1, 1), (2, 2), (3, 0), (3, 1), (3, 2), (3, 3)}
                    same_updates(mine, ours, torchs, theirs, scale=scale, missing=missing)
                    for made in (mine, torchs):
                        made.param_groups[0]["lr"] = 0.2
                    same_updates(mine, ours, torchs, theirs, updates=2, scale=scale)


@exercise.also_right
def by_the_formulas(impl):
    """One weight at a time, in Python's own numbers."""

    def expected(p, grads, lr, b1, b2, eps, decay, decoupled):
        m = v = t = 0
        for g in grads:
            if g is None:
                continue
            t += 1
            if decoupled:
                p *= 1 - lr * decay
            else:
                g = g + decay * p
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            p -= lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)
        return p

    rows = [
        [1.0, -2.0, 0.5, 3.0],
        [None, None, 0.3, 0.2],
        [0.2, None, None, -0.4],
        [0.0, 0.0, 0.0, 1.0],
        [3e-6, -1e-6, 2e-6, 1e-6],
        [0.0, 0.0, 0.0, 0.0],
    ]
    for eps in (1e-8, 0.05):
        for decay in (0.0, 0.3):
            for decoupled in (False, True):
                made = [nn.Parameter(torch.tensor(1.5).double()) for _ in rows]
                groups = [{"params": made[:3], "lr": 0.02}, {"params": made[3:]}]
                optimizer = impl(
                    groups, 0.1, (0.6, 0.8), eps, decay, decoupled_weight_decay=decoupled
                )
                optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
                for column in zip(*rows, strict=True):
                    for p, g in zip(made, column, strict=True):
                        p.grad = None if g is None else torch.tensor(g).double()
                    optimizer.step()
                for place, (p, grads) in enumerate(zip(made, rows, strict=True)):
                    lr = 0.02 if place < 3 else 0.1
                    doubles = [
                        None if g is None else torch.tensor(g).double().item() for g in grads
                    ]
                    right = expected(1.5, doubles, lr, 0.6, 0.8, eps, decay, decoupled)
                    assert abs(p.item() - right) < 1e-9, "another update"
