"""Shared by all figures: colours, panels, tables, and the return value of a plotting function."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from typing import Any, ParamSpec

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from torch import Tensor

from attnlab.checking.render import notice
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.notebook.unwritten import unwritten_step

P = ParamSpec("P")

# Okabe and Ito's colours; their brightness differs, so they also differ in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK, FAINT = "#222222", "#8A8A8A"
# Purple to orange with white in the middle: the signs differ without red and green.
DIVERGING, SEQUENTIAL = "PuOr_r", "Blues"
# Attention weights in every figure: from 0, white, to 1, dark.
ATTENTION = SEQUENTIAL

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
    # Notebooks crop a figure to its content, so a layout engine would only need a third draw.
    "figure.subplot.wspace": 0.28,
}


@dataclass(frozen=True)
class Drawn:
    """A figure, or the reason why there is none.

    Attributes:
        axes: its panels, from left to right.
        data: the data that the panels show, by name.
        missing: one sentence if there is nothing to draw yet, or else empty.
    """

    axes: tuple[Axes, ...]
    data: Mapping[str, Tensor] = field(repr=False)
    missing: str = ""

    def _ipython_display_(self) -> None:
        """Show the sentence, if there is one; the notebook itself shows a figure."""
        if self.missing:
            shown = notice(self.missing)
            display({"text/plain": shown.text(), "text/html": shown.html()}, raw=True)


class Described(Figure):
    """A figure with a description for readers who cannot see it (an HTML ``alt`` text).

    Attributes:
        alt: the description.
        html: what a notebook shows in place of the image, such as an SVG that answers a pointer;
            if empty, the image.
    """

    alt = ""
    html = ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = io.BytesIO()
        self.savefig(data, format="png", bbox_inches="tight", facecolor="white")
        png = base64.b64encode(data.getvalue()).decode()
        image = f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{png}">'
        return {"text/plain": self.alt, "text/html": self.html or image, "image/png": png}


NOTHING_TO_DRAW = "No picture yet: a cell above has no result to draw."


def drawing(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """A decorator: if the figure needs a function that is not written yet, say so instead.

    The figure then returns a :class:`Drawn` without axes, whose sentence names the function. The
    same holds if an argument is None, because a cell above has made no result.
    """

    @wraps(draw)
    def draw_if_written(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        if any(argument is None for argument in args):
            return Drawn((), {}, NOTHING_TO_DRAW)
        try:
            return draw(*args, **kwargs)
        except NotImplementedError as error:
            name = unwritten_step(error)
            return Drawn((), {}, f"No picture yet: `{name}` is not written.")

    return draw_if_written


@contextmanager
def panels(
    columns: int, width: float, height: float, alt: str, **options: Any
) -> Iterator[tuple[Axes, ...]]:
    """Panels side by side in the labs' style, for a ``with`` block that draws into them.

    Args:
        columns: the number of panels.
        width: of the figure, in inches.
        height: of the figure, in inches.
        alt: a description of the figure in words.
        options: further arguments of ``plt.subplots``.
    """
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            1, columns, figsize=(width, height), squeeze=False, FigureClass=Described, **options
        )
        figure.alt = alt
        yield tuple(axes.flat)
        interactive = plt.isinteractive()
    # The first figure of a notebook switches interactive mode on, and leaving the context would
    # switch it off again, so later figures would not appear.
    matplotlib.interactive(interactive)
    if os.environ.get(GRADING_VARIABLE) == "1":
        # Drawing takes longer than everything else in a lab, and no points depend on it.
        plt.close(figure)
        display({"text/plain": f"[A figure, not drawn while grading. {alt}]"}, raw=True)


def points(values: Tensor) -> np.ndarray[Any, Any]:
    """The tensor as an array, because matplotlib does not accept every tensor."""
    return values.detach().numpy()


def cells(
    axes: Axes, values: Tensor, colours: str, digits: int, limits: tuple[float, float]
) -> None:
    """Draw a table of numbers. The colours of the cells range between two limits.

    Args:
        axes: the panel.
        values: (R, C).
        colours: the name of a colour map.
        digits: digits after the decimal point.
        limits: the values with the first and the last colour.
    """
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
                column,
                row,
                _number(value, digits),
                ha="center",
                va="center",
                fontsize=9,
                color="white" if dark else INK,
            )


def ticks(axes: Axes, rows: list[str], columns: list[str]) -> None:
    """Write the names of the rows and columns of a table."""
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)


def decades(axes: Axes) -> None:
    """Write plain numbers at the powers of ten, for a horizontal axis from 0.05 to 100."""
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.xaxis.set_minor_locator(NullLocator())


def _number(value: float, digits: int) -> str:
    """A number with a true minus sign, and without a sign if it rounds to 0."""
    text = f"{value:.{digits}f}"
    return (text[1:] if float(text) == 0 and text.startswith("-") else text).replace("-", "−")
