"""The figure of lab 10's runs: loss against size, with the known floor and without one.

Tested in tests/attnlab/plots/test_lab10_figures.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from torch import Tensor, nn

from attnlab.data.markov import sparse_source
from attnlab.models.scaling_runs import trained_sizes
from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
    tip,
)

Fit = Callable[[Tensor, Tensor, float], tuple[float, float]]
Law = Callable[[Tensor, float, float, float], Tensor]

_FAR = 1e7  # parameters at the right end of the lines


_runs = cache(trained_sizes)


@drawing
@not_while_grading
def own_runs(
    num_parameters: Callable[[nn.Module], int], fit_power_law: Fit, power_law: Law
) -> Drawn:
    """Train four sizes on the sparse Markov source, about ten seconds, and fit two laws to them.

    Args:
        num_parameters: counts a model's parameters.
        fit_power_law, power_law: as for `two_floors`.
    """
    power_law(torch.ones(1), 1.0, 1.0, 1.0)  # if it is not written, say so before training
    models, losses = _runs()
    n = torch.tensor([num_parameters(model) for model in models])
    return two_floors(fit_power_law, power_law, n, losses, sparse_source().entropy_rate)


@drawing
def two_floors(
    fit_power_law: Fit, power_law: Law, n: Tensor, losses: Tensor, floor: float
) -> Drawn:
    """Two laws through the same points: one with the known floor, one with floor 0.

    On the left the distance to the assumed floor, which should be a straight line; on the right the
    losses themselves, continued to ten million parameters.

    Args:
        fit_power_law: fits A and alpha.
        power_law: predicts a loss.
        n: (K,), the numbers of parameters.
        losses: (K,), in nats.
        floor: the entropy of the source.
    """
    sizes = torch.logspace(torch.log10(n.double().min()).item() - 0.2, 7, 60, dtype=torch.float64)
    data: dict[str, Tensor] = {"n": n, "losses": losses, "sizes": sizes}
    lines, told = [], []
    for assumed, colour, dash in ((floor, COLOURS[0], "-"), (0.0, COLOURS[1], "--")):
        height, alpha = fit_power_law(n, losses, assumed)
        curve = torch.as_tensor(power_law(sizes, height, alpha, assumed)).double()
        name = f"floor {assumed:.3f}" if assumed else "floor 0"
        data[name], data[f"{name}: A, alpha"] = curve, torch.tensor([height, alpha])
        lines.append((name, assumed, alpha, curve, colour, dash))
        told.append(f"{name}: alpha {alpha:.2f}, and {float(curve[-1]):.2f} nats at 10 million")
    alt = (
        "Left: the loss minus the assumed floor against the parameters, on logarithmic axes: four "
        "points near a line for each floor. Right: the losses and both laws up to ten million "
        f"parameters; the law with floor 0 crosses the entropy. {'; '.join(told)}."
    )
    with panels(2, 8.2, 3.2, alt) as (left, right):
        for name, assumed, alpha, curve, colour, dash in lines:
            near = sizes <= 2 * n.max()
            left.plot(
                points(sizes[near]), points((curve - assumed)[near]), color=colour, linestyle=dash,
                label=rf"{name}: $\alpha$ = {alpha:.2f}",
            )  # fmt: skip
            left.plot(points(n), points(losses - assumed), "o", color=colour, markersize=5)
            right.plot(points(sizes), points(curve), color=colour, linestyle=dash, label=name)
        right.plot(points(n), points(losses), "o", color=INK, markersize=5)
        for size, loss in zip(n.tolist(), losses.tolist(), strict=True):
            dot = right.scatter([size], [loss], s=90, color=INK, alpha=0.01)
            tip(dot, f"{size:,} parameters: {loss:.3f} nats")
        right.axhline(floor, color=FAINT, linewidth=1.2, linestyle=":")
        right.annotate(
            f"entropy {floor:.3f}", (_FAR, floor), xytext=(0, 4),
            textcoords="offset points", ha="right", fontsize=8.5, color=INK,
        )  # fmt: skip
        left.set(yscale="log", title="loss − assumed floor [nats]")
        _plain_numbers(left, [0.2, 0.5, 1, 2])
        right.set(title="loss [nats]", ylim=(0, None))
        for axes in (left, right):
            axes.set(xscale="log", xlabel="parameters")
            axes.legend(loc="lower left")
    return Drawn((left, right), data)


def _plain_numbers(axes: Axes, values: list[float]) -> None:
    axes.set_yticks(values, [f"{value:g}" for value in values])
    axes.yaxis.set_minor_locator(NullLocator())
