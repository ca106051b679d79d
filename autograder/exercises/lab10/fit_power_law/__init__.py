"""fit_power_law: how the loss falls with the size, down to a floor that must be known."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.scaling import fit_power_law, num_parameters, power_law
from gradekit.exercise import Exercise

exercise = Exercise(num_parameters, power_law, fit_power_law)


def a_law(draw):
    """A, alpha and a floor, at random."""
    return [float(draw.uniform(1, low=low, high=high)) for low, high in
            ((20, 300), (0.3, 0.9), (0.5, 2))]  # fmt: skip


def on_the_law(n, A, alpha, floor):
    above = A / n.double().pow(alpha)
    return above + floor


SIZES = torch.tensor([1336, 4208, 14560, 53696])


@exercise.check(points=2)
def exact_points(lab, draw):
    """`fit_power_law`: on points of an exact power law, A and alpha are exact."""
    A, alpha, floor = a_law(draw)
    losses = on_the_law(SIZES, A, alpha, floor)
    return {"points": losses, "A and alpha": list(lab.fit_power_law(SIZES, losses, floor))}


@exercise.check(points=1)
def without_the_floor(lab, draw):
    """`fit_power_law`, `power_law`: with floor 0, large models are predicted below the floor."""
    A, alpha, floor = a_law(draw)
    losses, large = on_the_law(SIZES, A, alpha, floor), torch.tensor([10**9])
    seen = {}
    for name, assumed in (("with the floor", floor), ("with floor 0", 0.0)):
        fitted = lab.fit_power_law(SIZES, losses, assumed)
        found = lab.power_law(large, *fitted, assumed)
        seen[name] = {"A and alpha": list(fitted), "loss of a billion": found}
        seen[name]["below the floor"] = bool((found < floor - 1e-9).all())
    return seen


@exercise.check(points=0.5)
def the_formula(lab, draw):
    """`power_law`: floor + A · n^(-alpha), in float64, for whole numbers n, too."""
    A, alpha, floor = a_law(draw)
    whole, real = lab.power_law(SIZES, A, alpha, floor), lab.power_law(
        SIZES.float() / 7, A, -alpha, 0.0
    )  # fmt: skip
    return {"whole": whole, "real": real, "dtypes": [dtype_of(whole), dtype_of(real)]}


@exercise.check(points=1, hidden=True)
def points_beside_a_line(lab, draw):
    """`fit_power_law`: the least squares of logarithms, for any number of points in any order."""
    A, alpha, floor = a_law(draw)
    seen = {}
    for count in (3, 7, 20):
        n = (10 ** draw.uniform(count, low=2, high=7)).long()
        above = A * n.double() ** -alpha * draw.normal(count).exp()
        seen[f"{count} points"] = list(lab.fit_power_law(n, floor + above, floor))
    twice = torch.tensor([100, 100, 4000, 4000, 4000])
    losses = floor + draw.uniform(5, low=0.1, high=2)
    seen["several of one size"] = list(lab.fit_power_law(twice, losses, floor))
    return seen


@exercise.check(points=1, hidden=True)
def refused(lab, draw):
    """`fit_power_law`: a loss not above the floor, or fewer than two sizes, is a ValueError."""
    losses = torch.tensor([3.0, 2.5, 2.0, 1.5], dtype=torch.float64)
    nan = losses.clone()
    nan[2] = torch.nan
    ask = lab.fit_power_law
    return {
        "a loss at the floor": draw.raises(ask, SIZES, losses, 1.5),
        "a loss below it": draw.raises(ask, SIZES, losses, 2.2),
        "all below it": draw.raises(ask, SIZES, losses, 9.0),
        "a loss of NaN": draw.raises(ask, SIZES, nan, 1.0),
        "one point": draw.raises(ask, SIZES[:1], losses[:1], 1.0),
        "four of one size": draw.raises(ask, torch.full((4,), 700), losses, 1.0),
        "just above the floor": draw.raises(ask, SIZES, losses, 1.4999),
    }


class Tied(nn.Module):
    """Two tables, one of them used twice, a frozen layer and a buffer."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(7, 5), nn.Embedding(3, 5)
        self.body, self.frozen = nn.Linear(5, 5), nn.Linear(5, 2)
        self.head = nn.Linear(5, 7, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", torch.ones(11, 11))
        self.frozen.requires_grad_(False)


@exercise.check(points=1, hidden=True)
def every_parameter_once(lab, draw):
    """`num_parameters`: tables count, tied ones once; buffers and frozen ones do not count."""
    model = Tied()
    before = {name: x.clone() for name, x in model.state_dict().items()}
    found = lab.num_parameters(model)
    return {
        "tied": found,
        "one layer": lab.num_parameters(nn.Linear(4, 9)),
        "a whole number": isinstance(found, int),
        "the model as it was": all(torch.equal(before[k], x) for k, x in
                                   model.state_dict().items()),
    }  # fmt: skip


@exercise.check(points=0.5, hidden=True)
def other_kinds(lab, draw):
    """`fit_power_law`: float32 and real numbers, two points, rising losses; Python numbers."""
    A, alpha, floor = a_law(draw)
    losses = on_the_law(SIZES, A, alpha, floor)
    found = lab.fit_power_law(SIZES, losses, floor)
    return {
        "float32": list(lab.fit_power_law(SIZES, losses.float(), floor)),
        "real numbers": list(lab.fit_power_law(SIZES.double() / 1000, losses, floor)),
        "two points": list(lab.fit_power_law(SIZES[1:3], losses[1:3], floor)),
        "rising": list(lab.fit_power_law(SIZES, losses.flip(0), floor)),
        "Python numbers": [isinstance(value, float) for value in found],
        "as they were": draw.untouched() and SIZES.tolist() == [1336, 4208, 14560, 53696],
    }
