"""Boxes and arrows, for the first figure of a lab: which step builds which part.

Tested in tests/attnlab/plots/test_one_update.py and test_text_to_text.py.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from attnlab.plots.canvas import FAINT, PAPER, tip

WIDTH, HEIGHT = 0.84, 0.62


def labelled_box(
    axes: Axes,
    middle: tuple[float, float],
    name: str,
    step: str,
    purpose: str,
    *,
    colour: str,
    width: float = WIDTH,
) -> None:
    """Draw a box with a name and the number of its step; a tip says what it is for.

    Args:
        axes: the panel.
        middle: of the box.
        name: what it is.
        step: the number of the step that builds it.
        purpose: what it is for, in a few words.
        colour: of its frame.
        width: of the box.
    """
    x, y = middle
    box = FancyBboxPatch(
        (x - width / 2, y - HEIGHT / 2), width, HEIGHT, boxstyle="round,pad=0.02",
        facecolor=PAPER, edgecolor=colour, linewidth=1.5,
    )  # fmt: skip
    axes.add_patch(box)
    tip(box, f"{step} {name}: {purpose}")
    axes.text(x, y + 0.1, name, ha="center", va="center", fontsize=9)
    axes.text(x, y - 0.16, step, ha="center", va="center", fontsize=8, color=FAINT)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": FAINT})
