"""A training that is slow and never fails: the wrong decay in Adam's average of squares."""

from __future__ import annotations

import copy

import torch
from torch import nn

from attnlab.plots import symptoms
from gradekit.exercise import Case
from gradekit.exercise.clinic import Step


class Adam(torch.optim.Optimizer):
    """Adam, as in the paper.

    m and v are the averages of the gradients and of their squares, in which the newest value counts
    1 - beta1 and 1 - beta2, and older ones less and less. Both start at 0; each is divided by what
    its weights add up to, so that the first update already has the right size. An update subtracts
    lr times the corrected m, divided by the root of the corrected v plus eps. Each parameter counts
    its own updates; one without a gradient is left alone.

    Args:
        params: parameters, or groups of them with numbers of their own.
        lr: the learning rate.
        betas: beta1 and beta2.
        eps: added to the root.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                m, v = state["m"], state["v"]
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                m_hat = m / (1 - beta1 ** state["t"])
                v_hat = v / (1 - beta2 ** state["t"])
                p.sub_(group["lr"] * m_hat / (v_hat.sqrt() + group["eps"]))


case = Case(
    Adam,
    title="The slow optimiser",
    breaks={"value=1 - beta2": "value=1 - beta1"},
    most_lines=1,
    complaint="""
> *"I wrote Adam myself, as in lab 8, and it works: every loss falls. My colleague uses torch's with
> the same learning rate and is done long before me. I tried three seeds and two models. It must be
> the data."*

The cell below trains the same small network twice, from the same weights, on the same batches and
with the same learning rate. The folded one holds the optimiser; run it first.
""",
    finding=Step(
        15,
        3,
        """
**Predict.** With lr = 0.01, how far does a weight move in Adam's *first* update, if its gradient is
3? And if it is 0.003? (8.1)

No loss curve proves that an optimiser is wrong: with another learning rate, another curve is the
better one. So your test should not train. It should look at the updates.
""",
        (
            "For which updates of Adam do you know the right result without running any code?",
            "Make one parameter with a few numbers, set its `grad` by hand, and call `step`. After "
            "the first update you know how far each number moved. Two different betas and a second "
            "step with another gradient show more: compute them on paper, or compare with an "
            "optimiser that you trust.",
        ),
    ),
    fixing=Step(
        5,
        2,
        """
By which *factor* is the first update too short or too long? Compute m, v and both
corrected averages on paper for one gradient g, then print the four in `step`. Which of them is not
what you computed?
""",
        (
            "After one gradient g: what are m, v, and the two numbers that they are divided by?",
            "Print `m`, `v`, `m_hat` and `v_hat` in the first update, for a gradient of 1. Two of "
            "the four should be the same number, whatever the betas are.",
        ),
    ),
    look="""The same training with your fix. Do the two lines lie on one another now? By which
factor was the broken optimiser too slow with these betas, and what would the factor be if both
betas were equal?
""",
    cause="""The average of squares took in each new square with 1 - beta1 instead of 1 - beta2,
so after the correction v was a hundred times too large and every update ten times too short (the
root of 0.001 / 0.1); a shorter update still goes downhill, so every loss fell and nothing looked
broken.
""",
    scheme={
        "names the weight of the new square in v (beta1 in the place of beta2)": 1,
        "says that all updates were shorter by a constant factor": 1,
        "says that the loss falls with any learning rate that is small enough": 1,
    },
)


@case.symptom
def beside_torchs(adam):
    points = torch.Generator().manual_seed(0)
    x = torch.rand(64, 2, generator=points) * 4 - 2
    y = (x[:, :1] * x[:, 1:]).sin()
    torch.manual_seed(0)
    start = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
    losses = {}
    for name, optimiser in {"torch's Adam": torch.optim.Adam, "this Adam": adam}.items():
        model, losses[name] = copy.deepcopy(start), []
        steps = optimiser(model.parameters(), lr=0.01)
        for _ in range(300):
            loss = (model(x) - y).square().mean()
            steps.zero_grad()
            loss.backward()
            steps.step()
            losses[name].append(loss.item())
        print(f"{name + ':':13} {losses[name][-1]:.4f} after 300 updates")
    return symptoms.curves(losses, "training, lr = 0.01", "update", "squared error", log=True)


@case.slow_version
class NumberByNumber(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b, c = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                past = self.state[p].setdefault("gradients", [])  # all of them, the newest first
                past.insert(0, p.grad.clone())
                m = sum(b**age * g for age, g in enumerate(past)) / sum(
                    b**age for age in range(len(past))
                )
                v = sum(c**age * g * g for age, g in enumerate(past)) / sum(
                    c**age for age in range(len(past))
                )
                p -= group["lr"] * m / (v**0.5 + group["eps"])


@case.other_program("divides the learning rate by both corrections at once")
class OneStepSize(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in filter(lambda p: p.grad is not None, group["params"]):
                state = self.state[p]
                step = state["step"] = state.get("step", 0) + 1
                state["m"] = torch.lerp(p.grad, state.get("m", torch.zeros_like(p)), beta1)
                square = p.grad.square()
                state["v"] = torch.lerp(square, state.get("v", torch.zeros_like(p)), beta2)
                root = (1 - beta2**step) ** 0.5
                size = group["lr"] * root / (1 - beta1**step)
                p.addcdiv_(state["m"], state["v"].sqrt() + group["eps"] * root, value=-size)


@case.other_program("is torch's own")
class ByTorch(torch.optim.Adam):
    pass


# Checks of the fix.


def updates(lab, draw, scales, betas=(0.9, 0.999), eps=1e-8, lr=0.1):
    """A parameter after each update, with gradients of the given scales; None is no gradient."""
    p = nn.Parameter(draw.normal(4))
    optimiser = lab.Adam([p], lr=lr, betas=betas, eps=eps)
    places = []
    for scale in scales:
        p.grad = None if scale is None else scale * draw.normal(4)
        optimiser.step()
        places.append(p.detach().clone())
    return places


@case.fix.check(points=1)
def updates_of_the_paper(lab, draw):
    """Updates with gradients that grow and shrink are those of the formula."""
    return {
        "the usual betas": updates(lab, draw, (1, 100, 0.01, 1)),
        "other betas": updates(lab, draw, (1, 0.1, 3), betas=(0.5, 0.98)),
    }


@case.fix.check(points=1, hidden=True)
def other_numbers(lab, draw):
    """Is right with a large eps, with beta1 above beta2, and over many updates."""
    return {
        "large eps": updates(lab, draw, (1, 0.01, 5), eps=0.5),
        "beta1 above beta2": updates(lab, draw, (1, 2, 3), betas=(0.99, 0.8)),
        "beta1 of 0": updates(lab, draw, (1, 2, 3), betas=(0.0, 0.9)),
        "many": updates(lab, draw, [1.0] * 60, betas=(0.8, 0.95), lr=1e-2)[-1],
    }


@case.fix.check(points=1, hidden=True)
def parameters_and_groups(lab, draw):
    """Each parameter counts its own updates, has its group's numbers, and may lack a gradient."""
    p, q = nn.Parameter(draw.normal(2, 3)), nn.Parameter(draw.normal(5))
    groups = [{"params": [p]}, {"params": [q], "lr": 0.3, "betas": (0.7, 0.9), "eps": 1e-3}]
    optimiser = lab.Adam(groups, lr=0.1)
    seen = []
    for number in range(4):
        p.grad = draw.normal(2, 3)
        q.grad = None if number in (0, 2) else draw.normal(5)
        optimiser.step()
        seen += [p.detach().clone(), q.detach().clone()]
    usual = nn.Parameter(draw.normal(3))
    alone = lab.Adam([usual])
    usual.grad = draw.normal(3)
    alone.step()
    return {"parameters": seen, "the usual numbers": usual.detach(), "lr": alone.defaults["lr"]}


case.fix.promises(
    {
        "m and v are the averages of the gradients and of their squares, in which the newest value "
        "counts 1 - beta1 and 1 - beta2, and older ones less and less.": (
            "updates_of_the_paper other_numbers"
        ),
        "Both start at 0; each is divided by what its weights add up to, so that the first update "
        "already has the right size.": "updates_of_the_paper",
        "An update subtracts lr times the corrected m, divided by the root of the corrected v plus "
        "eps.": "updates_of_the_paper other_numbers",
        "Each parameter counts its own updates; one without a gradient is left alone.": (
            "parameters_and_groups"
        ),
        "params: parameters, or groups of them with numbers of their own.": "parameters_and_groups",
    },
    explained=[
        "Adam, as in the paper.",
        "lr: the learning rate.",
        "betas: beta1 and beta2.",
        "eps: added to the root.",
    ],
)
