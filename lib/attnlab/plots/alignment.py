"""Figures about a decoder with attention: where it looks, and what attention and beams improve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.data import measured_lab02
from attnlab.data.dates import BOS, EOS, PAD, SOURCE, TARGET
from attnlab.plots.canvas import COLOURS, FAINT, INK, Drawn, drawing, panels, points
from attnlab.plots.heatmap import attention_cells

Greedy = Callable[..., list[list[int]]]

_MOST_STEPS = 12
_SPACE = "␣"


@drawing
def alignments(model: Any, greedy: Greedy, humans: Sequence[str]) -> Drawn:
    """Where the decoder looks while it writes some dates: one table of weights for each.

    Args:
        model: a trained translator.
        greedy: decodes with the model; the weights of its steps are recorded.
        humans: the dates as people write them.
    """
    watched = [_recorded(model, greedy, human) for human in humans]
    widths = [len(human) for human in humans]
    alt = "Attention weights of each written symbol over the characters read: " + "; ".join(
        f"“{human}” became {written}" for human, (written, _) in zip(humans, watched, strict=True)
    )
    with panels(
        len(humans), 0.19 * sum(widths) + 0.6 * len(humans), 3.2, alt + ".", width_ratios=widths
    ) as axes:
        for panel, human, (written, weights) in zip(axes, humans, watched, strict=True):
            _table(panel, human, written, weights)
        axes[0].set_ylabel("written")
        scale = axes[0].figure.colorbar(
            axes[-1].images[0], ax=list(axes), fraction=0.02, pad=0.02, ticks=[0, 0.5, 1]
        )
        scale.set_label("weight")
    names = {human: weights for human, (_, weights) in zip(humans, watched, strict=True)}
    return Drawn(axes, names)


@drawing
def copied_by_length() -> Drawn:
    """How many strings of digits are copied without a mistake, by length: with attention, without.

    The numbers were measured once (see `attnlab.data.measured_lab02`).
    """
    alt = (
        "The share of strings copied without a mistake against their length. With attention: all "
        "up to 16 digits, and none from 22 on. Without, after the same training: fewer from 8 "
        "digits on, none from 16 on. Without, trained four times as long: fewer from 12 digits on, "
        "two of three at 16."
    )
    with panels(1, 6.4, 2.9, alt) as (axes,):
        data = _copied(axes)
        axes.set_title("copying digits: with attention, or from one summary vector")
    return Drawn((axes,), data)


def lab02_preview() -> Drawn:
    """The last figures of lab 2: where a translator looks, and what attention improves."""
    weights, data = measured_lab02.weights_of_a_date(), measured_lab02.copied()
    alt = (
        "Left, a table of attention weights: while 1998-03-05 is written, the dark cells run down "
        "the diagonal of “1998, march 5”. Right, the share of strings of digits copied without a "
        "mistake against their length: with attention, all up to 16; without, fewer from 8 on, or "
        "from 12 on after four times as much training."
    )
    with panels(2, 7.6, 2.9, alt, width_ratios=(1, 1.25)) as (left, right):
        _table(left, measured_lab02.DATE, measured_lab02.ISO, weights)
        left.set_ylabel("written")
        left.set_title("where it looks")
        _copied(right)
        right.set_title("with and without attention")
    return Drawn((left, right), {"weights": weights, **data})


class _Recorder:
    """A translator that records its cell's attention weights, step by step."""

    def __init__(self, model: Any) -> None:
        self.encode = model.encode
        self.weights: list[Tensor] = []
        self._cell = model.cell

    def cell(self, *args: Any, **kwargs: Any) -> Any:
        out = self._cell(*args, **kwargs)
        self.weights.append(out[2][0].detach())
        return out


def _recorded(model: Any, greedy: Greedy, human: str) -> tuple[str, Tensor]:
    """The text that the model writes for one date, and its weights (steps, characters)."""
    recorder = _Recorder(model)
    source = torch.tensor([SOURCE.encode(human)])
    (written,) = greedy(recorder, source, source != PAD, BOS, EOS, _MOST_STEPS)
    return TARGET.decode(written), torch.stack(recorder.weights)


def _table(axes: Axes, human: str, written: str, weights: Tensor) -> None:
    rows = [*written, "end"][: len(weights)]
    attention_cells(axes, weights, rows, [c.replace(" ", _SPACE) for c in human], digits=None)
    axes.set(title=f"→ {written}", xlabel="read", ylabel="")
    axes.tick_params(labelsize=9.5)


def _copied(axes: Axes) -> dict[str, Tensor]:
    """Draw both curves, each with a band from its worst to its best seed."""
    data, lengths = measured_lab02.copied(), list(measured_lab02.LENGTHS)
    for (name, shares), colour, style in zip(data.items(), COLOURS, ("-", "--", ":"), strict=False):
        low, high = shares.amin(0), shares.amax(0)
        axes.fill_between(lengths, points(low), points(high), color=colour, alpha=0.2, linewidth=0)
        name = name.replace(", ", ",\n")
        axes.plot(lengths, points(shares.mean(0)), color=colour, linestyle=style, label=name)
    axes.legend(loc="lower left", fontsize=8.5)
    axes.axvline(measured_lab02.LONGEST, color=FAINT, linewidth=1)
    axes.annotate(
        "longest in training",
        (measured_lab02.LONGEST, 1.09),
        xytext=(0, 0),
        ha="center",
        textcoords="offset points",
        va="center",
        color=INK,
        fontsize=8.5,
    )
    axes.set(
        xlabel="length of the string [digits]",
        ylabel="share copied without a mistake",
        ylim=(-0.03, 1.15),
        xticks=lengths[1::2],
    )
    return data
