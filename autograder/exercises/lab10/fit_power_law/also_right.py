"""Other right versions of the three functions."""

from __future__ import annotations

import math

import numpy as np
import torch

from . import exercise


@exercise.also_right(of="num_parameters")
def in_a_loop(model):
    total = 0
    for parameter in model.parameters():
        if parameter.requires_grad:
            total += parameter.numel()
    return total


@exercise.also_right(of="num_parameters")
def by_shapes(model):
    trained = [p.shape for p in model.parameters() if p.requires_grad]
    return sum(math.prod(shape) for shape in trained)


@exercise.also_right(of="power_law")
def through_logarithms(n, A, alpha, floor):
    return floor + A * torch.exp(-alpha * torch.log(n.double()))


@exercise.also_right(of="power_law")
def divided(n, A, alpha, floor):
    return A / n.to(torch.float64) ** alpha + floor


@exercise.also_right(of="fit_power_law")
def by_sums(n, loss, floor):
    above = loss.double() - floor
    if not (above > 0).all():
        raise ValueError("a loss is not above the floor")
    x, y = n.double().log(), above.log()
    if len(set(n.tolist())) < 2:
        raise ValueError("two sizes are needed")
    xm, ym = x.mean(), y.mean()
    slope = ((x - xm) * (y - ym)).sum() / ((x - xm) ** 2).sum()
    return math.exp(ym - slope * xm), float(-slope)


@exercise.also_right(of="fit_power_law")
def by_polyfit(n, loss, floor):
    above = loss.double().numpy() - floor
    if np.isnan(above).any() or (above <= 0).any():
        raise ValueError("log of a number that is not above 0")
    sizes = n.double().numpy()
    if len(np.unique(sizes)) < 2:
        raise ValueError("a line needs two points")
    slope, height = np.polyfit(np.log10(sizes), np.log10(above), 1)
    return float(10**height), float(-slope)


@exercise.also_right(of="fit_power_law")
def by_lstsq(n, loss, floor):
    above = loss.double() - floor
    if (~(above > 0)).any() or n.unique().numel() < 2:
        raise ValueError("no line")
    rows = torch.stack((torch.ones(len(n), dtype=torch.float64), -n.double().log()), 1)
    height, alpha = torch.linalg.lstsq(rows, above.log()[:, None]).solution.flatten().tolist()
    return math.exp(height), alpha
