"""A figure about label smoothing: what it costs to be certain."""

from __future__ import annotations

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import COLOURS, DASHES, Drawn, drawing, panels, points, tip

_SYMBOLS, _PAD = 5, 4
_NEVER = -20.0  # the logit of padding, where padding gets no share


@drawing
def penalty(label_smoothing_loss: Callable[..., Tensor]) -> Drawn:
    """The loss of one prediction against the lead of the right logit, with its lowest points.

    Left, for three values of eps; right, for the three styles.

    Args:
        label_smoothing_loss: called as ``label_smoothing_loss(logits, y, eps, style, pad)``.
    """
    lead = torch.linspace(-1, 9, 101, dtype=torch.float64)

    def curve(eps: float, style: str) -> Tensor:
        pad = _PAD if style == "pad" else None
        return torch.stack(
            [label_smoothing_loss(row[None], torch.zeros(1).long(), eps, style, pad)
             for row in _logits(lead, pad)]
        ).double()  # fmt: skip

    by_eps = {f"ε = {eps:g}": curve(eps, "deck") for eps in (0.0, 0.1, 0.4)}
    by_style = {f'"{style}"': curve(0.1, style) for style in ("deck", "torch", "pad")}
    alt = (
        "The loss of one prediction against the lead of the right logit. Without smoothing it "
        "falls for ever; with it, it is lowest at some lead and then rises in a line."
    )
    with panels(2, 7.4, 2.9, alt, sharey=True) as (left, right):
        for axes, curves in ((left, by_eps), (right, by_style)):
            _curves(axes, lead, curves)
            axes.set(xlabel="logit of the right symbol minus another's", ylim=(0, 2.5))
        left.set(title='style "deck"', ylabel="loss [nats]")
        right.set(title="ε = 0.1")
    return Drawn((left, right), {**by_eps, **by_style})


def _logits(lead: Tensor, pad: int | None) -> Tensor:
    """(L, V): the first symbol is the right one, and all others are equal but for padding."""
    logits = torch.zeros(len(lead), _SYMBOLS, dtype=torch.float64)
    logits[:, 0] = lead
    if pad is not None:
        logits[:, pad] = _NEVER
    return logits


def _curves(axes: Axes, lead: Tensor, curves: dict[str, Tensor]) -> None:
    """One panel: lines, and a dot on each that rises again."""
    for (name, losses), colour, dash in zip(curves.items(), COLOURS, DASHES, strict=False):
        axes.plot(points(lead), points(losses), color=colour, linestyle=dash, label=name)
        lowest = int(losses.argmin())
        if lowest == len(lead) - 1:
            continue
        (dot,) = axes.plot(points(lead[lowest]), points(losses[lowest]), "o", color=colour)
        tip(dot, f"{name}: lowest at a lead of {lead[lowest]:.1f}, with {losses[lowest]:.3f} nats")
    axes.legend()
