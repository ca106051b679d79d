"""What all figures share: colours, sizes, and what a plotting function returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from torch import Tensor

# Okabe and Ito's colours, from dark to light, so that they stay apart in grey print as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK, FAINT = "#222222", "#8A8A8A"
# Blue to orange with white in the middle: signs can be told apart without red and green.
DIVERGING, SEQUENTIAL = "PuOr_r", "Blues"

_STYLE = {
    "figure.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    # Notebooks crop a figure to what it shows, so a layout engine would only cost a third draw.
    "figure.subplot.wspace": 0.28,
}


@dataclass(frozen=True)
class Drawn:
    """A figure that was drawn.

    Attributes:
        axes: its panels, from left to right.
        data: what the panels show, by name.
    """

    axes: tuple[Axes, ...]
    data: Mapping[str, Tensor] = field(repr=False)

    def _ipython_display_(self) -> None:
        """Nothing: the notebook shows the figure itself."""


@contextmanager
def panels(columns: int, width: float, height: float, **options: Any) -> Iterator[tuple[Axes, ...]]:
    """`columns` panels side by side, in the labs' style; sizes in inches."""
    with plt.rc_context(_STYLE):
        _, axes = plt.subplots(1, columns, figsize=(width, height), squeeze=False, **options)
        yield tuple(axes.flat)
        interactive = plt.isinteractive()
    # The first figure of a notebook switches interactive mode on, and leaving the context would
    # switch it off again: later figures would not be shown.
    matplotlib.interactive(interactive)


def points(values: Tensor) -> np.ndarray[Any, Any]:
    """What matplotlib draws; it takes a tensor itself only under protest."""
    return values.detach().numpy()


def cells(
    axes: Axes, values: Tensor, colours: str, digits: int, limits: tuple[float, float]
) -> None:
    """A table of numbers on cells coloured between two limits, dark cells with light ink."""
    low, high = limits
    image = axes.imshow(points(values), cmap=colours, aspect="equal", vmin=low, vmax=high)
    axes.grid(False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for row, entries in enumerate(values.tolist()):
        for column, value in enumerate(entries):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            axes.text(
                column, row, _number(value, digits), ha="center", va="center", fontsize=9,
                color="white" if dark else INK,
            )


def ticks(axes: Axes, rows: list[str], columns: list[str]) -> None:
    """Names for the rows and columns of a table."""
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)


def decades(axes: Axes) -> None:
    """Plain numbers at the powers of ten of a horizontal axis from 0.05 to 100."""
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.xaxis.set_minor_locator(NullLocator())


def _number(value: float, digits: int) -> str:
    """A number with a real minus sign, and no sign where it rounds to 0."""
    text = f"{value:.{digits}f}"
    return (text[1:] if float(text) == 0 and text.startswith("-") else text).replace("-", "−")
