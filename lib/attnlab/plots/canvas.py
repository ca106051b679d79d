"""What all figures share: colours, sizes, and what a plotting function returns."""

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

# Okabe and Ito's colours, from dark to light, so that they stay apart in grey print as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK, FAINT = "#222222", "#8A8A8A"
# Blue to orange with white in the middle: signs can be told apart without red and green.
DIVERGING, SEQUENTIAL = "PuOr_r", "Blues"
# Attention weights, wherever they are drawn: from 0, white, to 1, dark.
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
    # Notebooks crop a figure to what it shows, so a layout engine would only cost a third draw.
    "figure.subplot.wspace": 0.28,
}


@dataclass(frozen=True)
class Drawn:
    """A figure that was drawn, or the reason why there is none.

    Attributes:
        axes: its panels, from left to right.
        data: what the panels show, by name.
        missing: one sentence where there is nothing to draw yet.
    """

    axes: tuple[Axes, ...]
    data: Mapping[str, Tensor] = field(repr=False)
    missing: str = ""

    def _ipython_display_(self) -> None:
        """The sentence, if there is one; a figure is shown by the notebook itself."""
        if self.missing:
            face = notice(self.missing)
            display({"text/plain": face.text(), "text/html": face.html()}, raw=True)


class Described(Figure):
    """A figure that a notebook shows with a sentence for those who do not see it."""

    alt = ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = io.BytesIO()
        self.savefig(data, format="png", bbox_inches="tight", facecolor="white")
        png = base64.b64encode(data.getvalue()).decode()
        image = f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{png}">'
        return {"text/plain": self.alt, "text/html": image, "image/png": png}


def drawing(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """A figure that says which function is still to be written, where one is, and draws nothing."""

    @wraps(draw)
    def draw_if_written(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        if any(argument is None for argument in args):
            return Drawn((), {}, "No picture yet: a cell above has made nothing to draw.")
        try:
            return draw(*args, **kwargs)
        except NotImplementedError as error:
            name = unwritten_step(error)
            return Drawn((), {}, f"No picture yet: `{name}` is still to be written.")

    return draw_if_written


@contextmanager
def panels(
    columns: int, width: float, height: float, alt: str, **options: Any
) -> Iterator[tuple[Axes, ...]]:
    """`columns` panels side by side, in the labs' style; sizes in inches, `alt` in words."""
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(
            1, columns, figsize=(width, height), squeeze=False, FigureClass=Described, **options
        )
        figure.alt = alt
        yield tuple(axes.flat)
        interactive = plt.isinteractive()
    # The first figure of a notebook switches interactive mode on, and leaving the context would
    # switch it off again: later figures would not be shown.
    matplotlib.interactive(interactive)
    if os.environ.get(GRADING_VARIABLE) == "1":
        # Making the picture takes longer than all else in a lab, and nobody's points hang on it.
        plt.close(figure)
        display({"text/plain": f"[A figure, not drawn while grading. {alt}]"}, raw=True)


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
                column,
                row,
                _number(value, digits),
                ha="center",
                va="center",
                fontsize=9,
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
