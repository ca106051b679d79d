"""Figures of the bug clinic: what a model does that somebody complains about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attnlab.plots.canvas import COLOURS, DASHES, FAINT, Drawn, drawing, panels, points


@drawing
def curves(
    lines: Mapping[str, Sequence[float] | Tensor],
    title: str,
    xlabel: str,
    ylabel: str,
    level: tuple[str, float] | None = None,
    log: bool = False,
    at: Sequence[float] = (),
    up_to: float = 0.0,
) -> Drawn:
    """Lines in one panel, and a level that they are compared with.

    Args:
        lines: by their names, the values.
        title, xlabel, ylabel: what the panel says.
        level: the name and the value of a horizontal line.
        log: whether the values are drawn on a logarithmic scale.
        at: where the values are, on a logarithmic scale; by default at 1, 2, 3 …
        up_to: the vertical axis reaches at least this value, so that figures of two versions
            can be compared.
    """
    data = {name: torch.as_tensor(values, dtype=torch.float64) for name, values in lines.items()}
    ends = ", ".join(f"{name} ends at {values[-1]:.3g}" for name, values in data.items())
    beside = f"; the level “{level[0]}” is at {level[1]:.3g}" if level else ""
    alt = f"{title}: {ends}{beside}."
    with panels(1, 6.6, 2.9, alt) as (axes,):
        for (name, values), colour, dash in zip(data.items(), COLOURS, DASHES, strict=False):
            steps = torch.tensor(at) if at else torch.arange(1, len(values) + 1)
            axes.plot(points(steps), points(values), dash, color=colour, label=name)
        if level:
            axes.axhline(level[1], color=FAINT, linewidth=1.2, linestyle=":", label=level[0])
        if log:
            axes.set_yscale("log")
        else:
            lowest = min(0.0, *(float(values.min()) for values in data.values()))
            highest = max(up_to, axes.get_ylim()[1])
            room = 0.03 * (highest - lowest)
            axes.set_ylim(lowest - room, highest)  # a line at 0 is not drawn over by the axis
        if at:
            axes.set_xscale("log")
            axes.set_xticks(list(at), [f"{place:g}" for place in at])
            axes.minorticks_off()
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        axes.legend()
    return Drawn((axes,), data)
