"""RMSNorm: layer normalisation without the mean."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.layers import RMSNorm
from gradekit.exercise import Exercise

exercise = Exercise(RMSNorm, forbids=["torch.nn.functional.rms_norm", "torch.rms_norm"])

SPELLINGS = {"weight": ("gamma", "alpha", "g", "scale", "w", "gain")}


def built(lab, weight, **options):
    """A student's module with a given weight."""
    model = lab.RMSNorm(len(weight), **options).double()
    give_weights(model, {"weight": weight}, SPELLINGS)
    return model


@exercise.check(points=0)
def values(lab, draw):
    """x / √(mean of x² + eps) · weight, with no mean subtracted; zeros give zeros."""
    x = draw.normal(2, 5, 7) + 1
    x[0, 1] = 0.0
    fresh = lab.RMSNorm(7).double()
    return {
        "as it starts": fresh(x),
        "with a weight": built(lab, draw.normal(7))(x),
        "parameters": sum(p.numel() for p in fresh.parameters()),
    }


@exercise.check(points=0)
def where_eps_is(lab, draw):
    """Adds eps under the root, for tiny and huge vectors."""
    x, weight = draw.normal(3, 7), draw.normal(7)
    seen = {f"scale {scale:g}": built(lab, weight)(scale * x) for scale in (1e-3, 1.0, 1e3)}
    return {**seen, "eps=0.5": built(lab, weight, eps=0.5)(x)}


@exercise.check(points=0)
def gradients(lab, draw):
    """Gradients reach x and the weight; x is unchanged."""
    weight, x = draw.normal(5), draw.normal(2, 4, 5)
    x[1, 2] = 0.0
    model = built(lab, weight)
    to_x = draw.gradients(model, x)
    (model(x) * draw.normal(2, 4, 5)).sum().backward()
    return {
        "x": to_x,
        **weight_gradients(model, {"weight": weight}, SPELLINGS),
        "x as it was": draw.untouched(),
    }


@exercise.check(points=0)
def other_sizes(lab, draw):
    """Is right for one feature, one vector, equal sizes and any axes before the last."""

    def ask(batch, T, d):
        return built(lab, draw.normal(d))(draw.normal(*batch, T, d))

    return draw.each_size(ask, batch=(2,), T=5, d=7)


exercise.promises(
    {
        "Divide each vector by the root of its mean square; then scale each feature.": "values",
        "x / √(mean of x² + eps) · weight": "values where_eps_is",
        "it subtracts no mean and adds no bias": "values",
        "The parameter `weight` (ones at first), (d_model,)": "values",
        "d_model: features of a vector.": "values",
        "eps: keeps the root away from 0.": "where_eps_is",
        "Normalise along the last axis.": "values other_sizes",
        "stays unchanged": "gradients",
        "A vector of zeros gives zeros.": "values",
        "Gradients flow back to `x` and `weight`.": "gradients",
        "(..., d_model).": "other_sizes",
    },
)


@exercise.also_right
class ByTheMeanSquare(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        mean_square = (x * x).mean(-1, keepdim=True)
        return x / torch.sqrt(mean_square + self.eps) * self.weight


@exercise.also_right
class ByTheReciprocal(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps, self.scale = eps, nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


wrong = exercise.edits(ByTheMeanSquare)

wrong(
    "MeanSubtracted",
    "mean_square = (",
    "x = x - x.mean(-1, keepdim=True)\n        mean_square = (",
    "You subtract the mean, so this is layer normalisation without a bias. What does RMSNorm leave "
    "out?",
)
wrong(
    "SumOfSquares",
    "(x * x).mean(",
    "(x * x).sum(",
    "You divide by the length of the vector, because you add up the squares. What does the M in "
    "RMS stand for?",
)
wrong(
    "EpsOutsideTheRoot",
    "torch.sqrt(mean_square + self.eps)",
    "(torch.sqrt(mean_square) + self.eps)",
    "You add eps after the root: the gradient of a vector of zeros is NaN. What is under the root?",
)
wrong(
    "NoEps",
    "mean_square + self.eps",
    "mean_square",
    "Without eps, a vector of zeros is 0/0. What should it give?",
)
wrong(
    "NoRoot",
    "torch.sqrt(mean_square + self.eps)",
    "(mean_square + self.eps)",
    "You divide by the mean square itself. What does the R in RMS stand for?",
)
wrong(
    "NoWeight",
    " * self.weight",
    "",
    "The weight is never used. What is the normalised vector multiplied by?",
)
wrong(
    "OverEverything",
    "(x * x).mean(-1, keepdim=True)",
    "(x * x).mean()",
    "You take one mean square of the whole tensor. How many does a batch need?",
)
