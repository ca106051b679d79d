"""Attention weights as a table of shaded cells: rows are queries, columns are keys.

Every lab draws attention with this module, so the same shade means the same weight in all labs:
white is 0, the darkest blue is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    ATTENTION,
    FAINT,
    Described,
    Drawn,
    cell_tips,
    cells,
    drawing,
    panels,
    points,
    ticks,
)

Weights = Tensor | Callable[[], Tensor]

_MOST_NUMBERS = 8  # columns of the largest table with a number in each cell
_MOST_TIPS = 1000  # cells of the largest table that answers a hover
_LONGEST_LEVEL = 4  # letters of the longest key's name that fits under its column


def attention_cells(
    axes: Axes,
    weights: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
    digits: int | None = 2,
    tips: Sequence[Sequence[str]] | None = None,
) -> None:
    """Draw a table of attention weights into an existing panel.

    Args:
        axes: the panel.
        weights: (Lq, Lk), from 0 to 1, or boolean (a mask: True is dark, with a check mark). A NaN
            is grey.
        queries: Lq names, from top to bottom; empty for none.
        keys: Lk names, from left to right; empty for none.
        digits: digits of the number in each cell; None writes nothing.
        tips: what the pointer shows for each cell; None: query, key and weight.
    """
    shades = weights.detach().cpu()
    if shades.dtype is not torch.bool:
        shades = shades.double()
    if digits is None:
        axes.imshow(
            points(shades), cmap=ATTENTION, aspect="equal", vmin=0, vmax=1, interpolation="none"
        )
        axes.grid(False)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_linewidth(0.6)
            spine.set_visible(True)
    else:
        cells(axes, shades, ATTENTION, digits, (0, 1))
    image = axes.images[-1]
    image.set_cmap(image.get_cmap().with_extremes(bad=FAINT))  # the colour of NaN
    ticks(axes, list(queries), list(keys))
    if isinstance(axes.figure, Described) and weights.numel() <= _MOST_TIPS:
        cell_tips(axes, tips or _tips(weights, queries, keys))
    if any(len(name) > _LONGEST_LEVEL for name in keys):
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set(xlabel="keys", ylabel="queries")


def _tips(weights: Tensor, queries: Sequence[str], keys: Sequence[str]) -> list[list[str]]:
    """For each cell the query, the key and the weight, in words."""

    def said(weight: float | bool) -> str:
        if isinstance(weight, bool):
            return "may attend" if weight else "must not attend"
        return f"{weight:.3f}"

    rows, columns = (
        list(names) or [str(place) for place in range(count)]
        for names, count in zip((queries, keys), weights.shape, strict=True)
    )
    return [
        [f"{query} → {key}: {said(weight)}" for key, weight in zip(columns, line, strict=True)]
        for query, line in zip(rows, weights.detach().tolist(), strict=True)
    ]


@drawing
def attention_map(
    weights: Weights, queries: Sequence[str], keys: Sequence[str], title: str = ""
) -> Drawn:
    """One table of attention weights.

    Args:
        weights: (Lq, Lk); or a function without arguments that makes them, so that a step that is
            not written yet can give a sentence instead of the picture.
        queries: Lq names for the rows.
        keys: Lk names for the columns.
        title: above the table.
    """
    return attention_maps({title: weights}, queries, keys)


@drawing
def attention_maps(
    tables: Mapping[str, Weights],
    queries: Sequence[str],
    keys: Sequence[str],
    digits: int | None = 2,
) -> Drawn:
    """Tables of attention weights side by side, for the same queries and keys.

    Args:
        tables: by title, each (Lq, Lk) or a function without arguments that makes it.
        queries: Lq names for the rows.
        keys: Lk names for the columns.
        digits: digits of the number in each cell; None writes no numbers, and neither does a table
            with many keys. The pointer shows the number of any cell.
    """
    made = {title: make if isinstance(make, Tensor) else make() for title, make in tables.items()}
    few = len(keys) <= _MOST_NUMBERS
    cell = 0.46 if few else max(0.17, 3.4 / len(keys))
    width = max(1.6, cell * len(keys)) + 0.35
    height = max(0.9, cell * len(queries)) + 0.35
    alt = (
        f"Attention weights as a table of {len(queries)} queries by {len(keys)} keys, from white "
        "for 0 to dark blue for 1"
    )
    alt += ": " + ", ".join(filter(None, made)) + "." if any(made) else "."
    with panels(len(made), width * len(made), height, alt, sharey=True) as axes:
        for panel, (title, weights) in zip(axes, made.items(), strict=True):
            attention_cells(panel, weights, queries, keys, digits if few else None)
            panel.set(title=title, ylabel="queries" if panel is axes[0] else "")
    return Drawn(axes, made)
