"""Figures about the size of updates: learning rates that rise and fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from attnlab.plots.canvas import COLOURS, DASHES, Drawn, drawing, panels, points


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
