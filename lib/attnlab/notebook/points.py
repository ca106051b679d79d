"""The value of ``check()``: a number of points that a notebook shows as a card.

Tested in ``tests/attnlab/notebook/test_check.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Points(float):
    """A number of points. A notebook shows it as HTML; ``repr`` is the number alone.

    Attributes:
        shown: whether a notebook has asked for the HTML.
    """

    shown: bool
    _html: Callable[[], str]

    def __new__(cls, value: float, html: Callable[[], str]) -> Points:
        """Points of this `value`; `html` returns the HTML for notebooks."""
        points = super().__new__(cls, value)
        points._html = html
        points.shown = False
        return points

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        self.shown = True
        return {"text/plain": repr(self), "text/html": self._html()}


def show_after_cell(points: Points, shell: Any) -> None:
    """Show `points` when the running cell has ended, unless they were the cell's own value.

    Args:
        shell: IPython's shell.
    """

    def show() -> None:
        shell.events.unregister("post_execute", show)
        if not points.shown:
            from IPython.display import display

            display(points)

    shell.events.register("post_execute", show)
