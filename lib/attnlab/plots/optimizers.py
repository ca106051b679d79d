"""Figures about the size of updates: Adam's first ones, and learning rates that rise and fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.plots.canvas import COLOURS, DASHES, FAINT, Drawn, drawing, panels, points

_STEEP, _FLAT = 50.0, 0.5  # of the bowl, along its two axes
_START = (1.0, 1.0)


@drawing
def first_steps(adam: Callable[..., Any], updates: int = 40) -> Drawn:
    """Left, the way of Adam and of gradient descent in a bowl; right, how far four weights go.

    Args:
        adam: the class of an optimiser, called as ``adam(params, lr=0.1)``.
        updates: on the left.
    """
    ways = {
        "gradient descent": _way(lambda p: torch.optim.SGD(p, lr=0.038), updates),
        "Adam": _way(lambda p: adam(p, lr=0.1), updates),
    }
    moved = _moved(adam)
    ends = "; ".join(
        f"{name} ends at ({way[-1, 0]:.2f}, {way[-1, 1]:.2f})" for name, way in ways.items()
    )
    far = "; ".join(f"{name} moved by {path[-1]:.2f}" for name, path in moved.items())
    alt = (
        f"Left, {updates} updates in a bowl that is steep in x and flat in y: {ends}. Right: {far}."
    )
    with panels(2, 7.6, 3.0, alt) as (bowl, weights):
        across = torch.linspace(-1.25, 1.25, 81)
        x, y = across[None, :], across[:, None]
        height = _STEEP / 2 * x**2 + _FLAT / 2 * y**2
        levels = [0.02, 0.1, 0.3, 1, 3, 10, 30]
        bowl.contour(points(across), points(across), points(height), levels, colors=FAINT,
                     linewidths=0.6)  # fmt: skip
        for (name, way), colour in zip(ways.items(), reversed(COLOURS[:2]), strict=True):
            bowl.plot(points(way[:, 0]), points(way[:, 1]), ".-", color=colour, linewidth=1.2,
                      markersize=4, label=name)  # fmt: skip
        bowl.set(title=f"{updates} updates in a bowl", xlabel="steep", ylabel="flat")
        bowl.legend(loc="lower left")
        for (name, path), colour, width in zip(
            moved.items(), COLOURS, (6, 3.5, 1.2, 2), strict=False
        ):
            weights.plot(points(path), color=colour, linewidth=width, label=name)
        weights.set(title="distance from the start", xlabel="update", ylim=(0, None))
        weights.legend(title="gradients")
    return Drawn((bowl, weights), {**ways, **moved})


def _way(make: Callable[[list[nn.Parameter]], Any], updates: int) -> Tensor:
    """(updates + 1, 2): the points on an optimiser's way through the bowl."""
    place = nn.Parameter(torch.tensor(_START, dtype=torch.float64))
    optimizer, slopes, way = make([place]), torch.tensor([_STEEP, _FLAT]), [place.detach().clone()]
    for _ in range(updates):
        place.grad = slopes * place.detach()
        optimizer.step()
        way.append(place.detach().clone())
    return torch.stack(way)


def _moved(adam: Callable[..., Any], updates: int = 10) -> dict[str, Tensor]:
    """(updates + 1,) each: how far weights with certain gradients are from their start."""
    sizes = torch.tensor([1000.0, 1.0, 0.001, 1.0], dtype=torch.float64)
    weight = nn.Parameter(torch.zeros(4, dtype=torch.float64))
    optimizer, way = adam([weight], lr=0.1), [torch.zeros(4, dtype=torch.float64)]
    for number in range(updates):
        signs = torch.tensor([1.0, 1.0, 1.0, (-1.0) ** number], dtype=torch.float64)
        weight.grad = sizes * signs
        optimizer.step()
        way.append(weight.detach().abs().clone())
    names = ("1000", "1", "0.001", "±1 in turn")
    return dict(zip(names, torch.stack(way).unbind(1), strict=True))


@drawing
def warm_up_curves(
    noam: Callable[[int, int, int], float],
    curves: Sequence[tuple[int, int]] = ((512, 4000), (512, 8000), (256, 4000)),
    steps: int = 20_000,
) -> Drawn:
    """The learning rate against the number of the update, with a dot on each peak.

    Args:
        noam: called as ``noam(step, d_model, warmup)``.
        curves: d_model and warmup of each curve.
        steps: the last update.
    """
    every = torch.arange(1, steps + 1, max(1, steps // 400))
    data = {
        f"d = {d_model}, warm-up {warmup:,}": torch.tensor(
            [float(noam(int(step), d_model, warmup)) for step in every], dtype=torch.float64
        )
        for d_model, warmup in curves
    }
    alt = "Learning rates that rise in a line and fall with the root of the update's number: " + (
        "; ".join(f"{name} is at most {rates.max():.1e}" for name, rates in data.items())
    )
    with panels(1, 6.6, 2.9, f"{alt}.") as (axes,):
        for (name, rates), colour, dash in zip(data.items(), COLOURS, DASHES, strict=False):
            axes.plot(points(every), points(rates), color=colour, linestyle=dash, label=name)
            peak = int(rates.argmax())
            axes.plot(points(every[peak]), points(rates[peak]), "o", color=colour, markersize=5)
        axes.set(title="learning rate", xlabel="update", xlim=(0, steps), ylim=(0, None))
        axes.legend()
    return Drawn((axes,), data)
