"""Shared by all figures: colours, panels, tables, and the return value of a plotting function."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator
from torch import Tensor

from attnlab.checking.render import notice
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.notebook.not_right_yet import failing_note
from attnlab.notebook.running import kernel_shell
from attnlab.notebook.unwritten import why_not
from attnlab.plots.svg import inline

P = ParamSpec("P")

# Okabe and Ito's colours; their brightness differs, so they also differ in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
HATCHES = ("", "///", "...")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK, FAINT = "#222222", "#8A8A8A"
PAPER, GRID, SHADE = "#FDFEFE", "#E6E6E6", "#F1F1F1"
# What these are in a page, which may be dark. Nothing else in a figure has these colours.
_OF_THE_PAGE = {
    INK: "currentColor",
    PAPER: "var(--jp-layout-color0, var(--vscode-editor-background, white))",
    GRID: "rgba(128, 128, 128, 0.25)",
    SHADE: "rgba(128, 128, 128, 0.12)",
}
ON_LIGHT, ON_DARK = "#1A1A1A", "#FFFFFF"  # text on a cell, whose colour is the same on every page
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
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
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
        note: lines of text that belong to the figure; may be empty.
    """

    axes: tuple[Axes, ...]
    data: Mapping[str, Tensor] = field(repr=False)
    missing: str = ""
    note: str = field(default="", repr=False)

    def _ipython_display_(self) -> None:
        """Show the sentence or the note, if there is one; the notebook itself shows a figure."""
        if self.missing:
            shown = notice(self.missing)
            display({"text/plain": shown.text(), "text/html": shown.html()}, raw=True)
        if self.note:
            display({"text/plain": self.note}, raw=True)


class Described(Figure):
    """A figure with a description for readers who cannot see it, and tips for its parts.

    A page shows it as inline SVG, in the colours of the page; a PNG on white goes with it, for
    programs that show no SVG.
    """

    alt = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tips: dict[str, str] = {}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = io.BytesIO()
        self.savefig(data, format="png", bbox_inches="tight", facecolor="white")
        png = base64.b64encode(data.getvalue()).decode()
        html = inline(self, self.alt, self.tips, _OF_THE_PAGE)
        return {"text/plain": self.alt, "text/html": html, "image/png": png}


# The functions behind the figure that is being drawn, also where it calls another one to draw it.
_BEHIND: ContextVar[tuple[Callable[..., Any], ...]] = ContextVar("_BEHIND", default=())
NOTHING_TO_DRAW = "No picture yet: a cell above has no result to draw."


def drawing(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """A decorator: if a function that the figure needs is not written or stops, say so instead.

    The figure then returns a :class:`Drawn` without axes, whose sentence names the function or the
    error. The same holds if an argument is None, because a cell above has made no result. If the
    figure can be drawn although a step behind it fails its checks, a line below it says so.
    """

    @wraps(draw)
    def draw_if_written(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        drawn = draw_or_say_why(*args, **kwargs)
        if drawn.missing and kernel_shell() is not None:
            # At once: a notebook shows a value only if it is the last one of its cell.
            drawn._ipython_display_()
            return replace(drawn, missing="", note="")
        return drawn

    def draw_or_say_why(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        if any(argument is None for argument in args):
            return Drawn((), {}, NOTHING_TO_DRAW)
        given = [*args, *kwargs.values()]
        given += [value for one in given if isinstance(one, dict) for value in one.values()]
        functions = tuple(one for one in given if isinstance(one, FunctionType | type))
        said_outside = bool(_BEHIND.get())  # by the figure that calls this one to draw it
        behind = _BEHIND.set(functions or _BEHIND.get())
        try:
            drawn = draw(*args, **kwargs)
            if drawn.axes and not said_outside and os.environ.get(GRADING_VARIABLE) != "1":
                _add_doubt(drawn.axes[0].get_figure(), failing_note(*functions))
        except Exception as error:  # whatever is wrong with a step, the cells below must run
            return Drawn((), {}, f"No picture yet: {why_not(error, *_BEHIND.get())}")
        finally:
            _BEHIND.reset(behind)
        return drawn

    return draw_if_written


def _add_doubt(figure: Any, doubt: str) -> None:
    """Write below a figure of `panels` which steps are not right yet; nothing without `doubt`."""
    if not doubt:
        return
    bottom = figure.get_tightbbox().y0 / figure.get_figheight()
    figure.text(0.5, bottom - 0.15 / figure.get_figheight(), f"({doubt})", ha="center", va="top")
    figure.alt += f" ({doubt})"


def not_while_grading(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """A decorator: leave out a figure that takes seconds, because no points depend on it."""

    @wraps(draw)
    def draw_unless_grading(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        if os.environ.get(GRADING_VARIABLE) == "1":
            return Drawn((), {}, "This figure takes seconds, so it is not made while grading.")
        return draw(*args, **kwargs)

    return draw_unless_grading


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
    interactive = plt.isinteractive()
    try:
        with plt.rc_context(_STYLE):
            figure, axes = plt.subplots(
                1, columns, figsize=(width, height), squeeze=False, FigureClass=Described, **options
            )
            figure.alt = alt
            try:
                yield tuple(axes.flat)
            except BaseException:
                plt.close(figure)  # a notebook would show what is drawn so far
                raise
            finally:
                interactive = plt.isinteractive()
    finally:
        # The first figure of a notebook switches interactive mode on, and leaving the context would
        # switch it off again, so later figures would not appear.
        matplotlib.interactive(interactive)
    if os.environ.get(GRADING_VARIABLE) == "1":
        # Drawing takes longer than everything else in a lab, and no points depend on it.
        plt.close(figure)
        display({"text/plain": f"[A figure, not drawn while grading. {alt}]"}, raw=True)


def points(values: Tensor) -> np.ndarray[Any, Any]:
    """The tensor as an array of float64: matplotlib takes neither bfloat16 nor a GPU's memory."""
    return values.detach().cpu().double().numpy()


def tip(artist: Artist, text: str) -> None:
    """Let a browser show `text` when the pointer is on a part of the figure."""
    figure = artist.get_figure()
    assert isinstance(figure, Described), "only figures from `panels` have tips"
    gid = f"tip{len(figure.tips)}"
    artist.set_gid(gid)
    figure.tips[gid] = text


def cell_tips(axes: Axes, texts: Sequence[Sequence[str]]) -> None:
    """Give every cell of a table a tip: one text for each row and column. None while grading.

    A hundred tips take a tenth of a second, and nobody points at a figure that is not drawn.
    """
    if os.environ.get(GRADING_VARIABLE) == "1":
        return
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            cell = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor="none", edgecolor="none")
            axes.add_patch(cell)
            tip(cell, text)


def cells(
    axes: Axes,
    values: Tensor,
    colours: str,
    digits: int,
    limits: tuple[float, float],
    aspect: float = 1.0,
) -> None:
    """Draw a table of numbers. The colours of the cells range between two limits.

    Args:
        axes: the panel.
        values: (R, C); booleans are drawn as a check mark or a dot.
        colours: the name of a colour map.
        digits: digits after the decimal point.
        limits: the values with the first and the last colour.
        aspect: the height of a cell divided by its width.
    """
    low, high = limits
    image = axes.imshow(
        points(values), cmap=colours, aspect=aspect, vmin=low, vmax=high, interpolation="none"
    )
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
                _written(value, digits),
                ha="center",
                va="center",
                fontsize=9,
                color=ON_DARK if dark else ON_LIGHT,
            )


def ticks(axes: Axes, rows: list[str], columns: list[str]) -> None:
    """Write the names of the rows and columns of a table."""
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)


def decades(axes: Axes) -> None:
    """Write plain numbers at the powers of ten, for a horizontal axis from 0.05 to 100."""
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.xaxis.set_minor_locator(NullLocator())


def _written(value: float | bool, digits: int) -> str:
    """A number with a true minus sign, and without a sign if it rounds to 0; or a mark."""
    if isinstance(value, bool):
        return "✓" if value else "·"
    text = f"{value:.{digits}f}"
    return (text[1:] if float(text) == 0 and text.startswith("-") else text).replace("-", "−")
