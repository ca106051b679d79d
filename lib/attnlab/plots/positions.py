"""Figures of lab 6 about positions: the table of waves, its properties, and word order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    DIVERGING,
    FAINT,
    INK,
    SEQUENTIAL,
    Drawn,
    cells,
    drawing,
    panels,
    points,
    ticks,
)

Encode = Callable[..., Tensor]

_CIRCLES = (0, 3, 6)  # the pairs of columns whose turns are drawn


@drawing
def encoding_map(sinusoidal_pe: Encode, n: int = 50, d: int = 64) -> Drawn:
    """The table of encodings as a heat map, and some of its columns as waves.

    Args:
        sinusoidal_pe: called as ``sinusoidal_pe(n, d)``.
        n: the number of positions.
        d: the number of columns, more than 22.
    """
    pe = sinusoidal_pe(n, d).double()
    columns = (4, 10, 16, 22)
    alt = (
        f"Left, a heat map of {n} positions by {d} columns: stripes that are narrow in the first "
        f"columns and get wider to the right. Right, columns {', '.join(map(str, columns))} as "
        "waves, each slower than those before."
    )
    with panels(2, 7.6, 3.0, alt, width_ratios=(1.1, 1)) as (left, right):
        _heat(left, pe)
        left.set(title="the encoding", xlabel="column", ylabel="position")
        for number, column in enumerate(columns):
            right.plot(
                range(n),
                points(pe[:, column]),
                color=COLOURS[number],
                linestyle=DASHES[number],
                linewidth=1.6,
                label=f"column {column}",
            )
        right.set(title="four of its columns", xlabel="position", ylim=(-1.1, 1.1))
        right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.08), ncols=2, fontsize=9)
    return Drawn((left, right), {"encoding": pe, "waves": pe[:, list(columns)]})


@drawing
def two_bases(
    sinusoidal_pe: Encode, bases: Sequence[float] = (1000.0, 10000.0), n: int = 100, d: int = 64
) -> Drawn:
    """The encodings of two bases side by side.

    Args:
        sinusoidal_pe: called as ``sinusoidal_pe(n, d, base)``.
        bases: two bases.
        n: the number of positions.
        d: the number of columns.
    """
    tables = {f"base {base:.0f}": sinusoidal_pe(n, d, base).double() for base in bases}
    alt = (
        f"Two heat maps of {n} positions by {d} columns. The first two columns are the same; "
        "further right, the stripes of the smaller base are narrower."
    )
    with panels(2, 7.6, 2.9, alt, sharey=True) as axes:
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            _heat(panel, table)
            panel.set(title=name, xlabel="column")
        axes[0].set(ylabel="position")
    return Drawn(axes, tables)


@drawing
def gram_matrices(tables: Mapping[str, Callable[[], Tensor]]) -> Drawn:
    """The dot product of every position's vector with every other's, one panel for each table.

    Args:
        tables: by name, a function that returns vectors of positions, (n, d).
    """
    grams = {}
    for name, make in tables.items():
        vectors = make().detach().double()
        grams[name] = vectors @ vectors.T / vectors.square().sum(-1).mean()
    alt = (
        "Dot products of positions as heat maps, divided by the mean squared length of a vector: "
        + ", ".join(grams)
        + ". Sine waves give stripes along the diagonal."
    )
    with panels(len(grams), 3.5 * len(grams) + 0.4, 3.1, alt) as axes:
        for panel, (name, gram) in zip(axes, grams.items(), strict=True):
            image = panel.imshow(points(gram), cmap=DIVERGING, vmin=-1, vmax=1)
            panel.grid(False)
            panel.set(title=name, xlabel="position", ylabel="position" if panel is axes[0] else "")
        axes[0].figure.colorbar(image, ax=list(axes), shrink=0.8, label="similarity")
    return Drawn(axes, grams)


@drawing
def turns(shift_matrix: Encode, sinusoidal_pe: Encode, k: int = 3, d: int = 64) -> Drawn:
    """Pairs of columns as points on a circle, and where the shift matrix takes them.

    Args:
        shift_matrix: called as ``shift_matrix(k, d)``.
        sinusoidal_pe: called as ``sinusoidal_pe(n, d)``.
        k: how many positions back.
        d: the number of columns.
    """
    pe, matrix = sinusoidal_pe(12, d).double(), shift_matrix(k, d).double()
    moved = pe @ matrix.T
    starts = range(k, 12, 4)
    alt = (
        "Three circles, one for each of three pairs of columns, with the positions as dots. Arrows "
        f"show where the matrix takes positions {', '.join(map(str, starts))}: {k} positions back, "
        "by another angle in each circle."
    )
    with panels(len(_CIRCLES), 7.6, 2.9, alt) as axes:
        for panel, pair in zip(axes, _CIRCLES, strict=True):
            columns = [2 * pair, 2 * pair + 1]
            _circle(panel, pe[:, columns])
            for p in starts:
                (x, y), (there_x, there_y) = pe[p, columns].tolist(), moved[p, columns].tolist()
                panel.annotate(
                    "",
                    xy=(there_x, there_y),
                    xytext=(x, y),
                    arrowprops={
                        "arrowstyle": "->",
                        "color": COLOURS[1],
                        "linewidth": 1.6,
                        "connectionstyle": "arc3,rad=0.2",
                    },
                )
            panel.set(title=f"columns {2 * pair} and {2 * pair + 1}", xlabel="sine")
        axes[0].set(ylabel="cosine")
    return Drawn(axes, {"encoding": pe, "moved": moved})


@drawing
def distances_between(vectors: Mapping[str, Callable[[], Tensor]], names: Sequence[str]) -> Drawn:
    """How far the vectors of one word in several sentences are apart, a table for each model.

    Args:
        vectors: by the model's name, a function that returns the word's vectors, (n, d).
        names: of the n sentences.
    """
    made = {name: make().detach().double() for name, make in vectors.items()}
    tables = {name: (v[:, None] - v).norm(dim=-1) for name, v in made.items()}
    largest = max(float(table.max()) for table in tables.values())
    alt = f"Tables of distances between {len(names)} vectors of one word: " + "; ".join(
        f"{name}, at most {float(table.max()):.1f}" for name, table in tables.items()
    )
    with panels(len(tables), 2.5 * len(tables), 2.5, alt + ".", sharey=True) as axes:
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            cells(panel, table, SEQUENTIAL, 1, (0, 1.2 * max(largest, 1e-9)))
            ticks(panel, list(names), list(names))
            panel.set(title=name, xlabel="sentence")
        axes[0].set(ylabel="sentence")
    return Drawn(axes, tables)


@drawing
def rope_scores(apply_rope: Encode, d: int = 32, longest: int = 60) -> Drawn:
    """Scores of a turned query and a turned key against their distance, from several places.

    Args:
        apply_rope: called as ``apply_rope(x, positions)``.
        d: the number of features.
        longest: the largest distance.
    """
    one = torch.ones(1, d, dtype=torch.float64) / math.sqrt(d)
    distances = torch.arange(longest + 1)
    keys = one.expand(longest + 1, d)
    scores = {
        start: (apply_rope(one, torch.tensor([start])) @ apply_rope(keys, start - distances).T)[0]
        for start in (60, 1000)
    }
    alt = (
        "The score of a query and a key of equal features against their distance, for queries at "
        "positions 60 and 1000: the two curves agree. The score is largest at distance 0."
    )
    with panels(1, 5.6, 2.6, alt) as (axes,):
        for number, (start, curve) in enumerate(scores.items()):
            axes.plot(
                points(distances),
                points(curve),
                color=COLOURS[number],
                linestyle=DASHES[number],
                linewidth=3.0 - 1.4 * number,
                label=f"query at position {start}",
            )
        axes.set(title="rotary positions", xlabel="distance to the key", ylabel="score")
        axes.legend()
    return Drawn((axes,), {f"{start}": curve for start, curve in scores.items()})


def lab06_preview() -> Drawn:
    """What lab 6 is about: waves for positions, and two ways to normalise a deep stack."""
    n, d = 50, 64
    angle = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    pe = torch.stack([angle.sin(), angle.cos()], -1).flatten(1).double()
    alt = (
        "Left, the sinusoidal encoding as a heat map. Right, the gradient of the last block "
        "against the number of blocks: it stays with post-norm and falls with pre-norm."
    )
    with panels(2, 7.6, 2.8, alt, width_ratios=(1.1, 1)) as (left, right):
        _heat(left, pe)
        left.set(title="every position has its own stripe", xlabel="column", ylabel="position")
        for number, (mode, norms) in enumerate(_RECORDED.items()):
            right.plot(
                list(_DEPTHS),
                norms,
                color=COLOURS[number],
                linestyle=DASHES[number],
                marker="o",
                markersize=4,
                label=f"{mode}-norm",
            )
        right.set(
            title="what depth does to the last gradient",
            xlabel="number of blocks",
            ylabel="length of the gradient",
            ylim=(0, None),
        )
        right.legend()
    return Drawn((left, right), {"encoding": pe})


# The last block's gradient in the lab's own solution, means over three seeds.
_DEPTHS = (2, 6, 12, 24)
_RECORDED = {"pre": [0.671, 0.465, 0.339, 0.245], "post": [0.877, 1.044, 1.1, 1.083]}


def _heat(axes: Axes, table: Tensor) -> None:
    """Draw a table of numbers from -1 to 1 without any text."""
    axes.imshow(
        points(table), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
    )
    axes.grid(False)


def _circle(axes: Axes, pairs: Tensor) -> None:
    """Draw (sine, cosine) pairs as numbered dots on the unit circle."""
    around = torch.linspace(0, 2 * math.pi, 100)
    axes.plot(points(around.sin()), points(around.cos()), color=FAINT, linewidth=0.8)
    axes.plot(points(pairs[:, 0]), points(pairs[:, 1]), "o", color=COLOURS[0], markersize=4)
    for position in (0, len(pairs) - 1):
        x, y = pairs[position].tolist()
        axes.annotate(
            str(position), (1.18 * x, 1.18 * y), ha="center", va="center", color=INK, fontsize=9
        )
    axes.set(aspect="equal", xlim=(-1.4, 1.4), ylim=(-1.4, 1.4))
