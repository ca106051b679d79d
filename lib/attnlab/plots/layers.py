"""Figures of lab 6 about layers: normalised vectors, who depends on whom, and depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    DIVERGING,
    INK,
    SEQUENTIAL,
    Drawn,
    cells,
    drawing,
    not_while_grading,
    panels,
    points,
    ticks,
)

Layer = Callable[[Tensor], Tensor]

_MARKERS = "osD^v"


@drawing
def before_and_after(make: Callable[[], Layer], rows: int = 5, d: int = 24) -> Drawn:
    """The numbers of some vectors before and after a normalisation.

    Args:
        make: returns a normalisation, called as ``norm(x)`` on (rows, d) float32 vectors.
        rows: the number of vectors; each has another mean and another deviation.
        d: features of a vector.
    """
    generator = torch.Generator().manual_seed(6)
    x = torch.randn(rows, d, generator=generator) * torch.linspace(0.4, 2.5, rows)[:, None]
    x = x + torch.linspace(-4, 5, rows)[:, None]
    after = make()(x).detach().double()
    alt = (
        f"The {d} numbers of each of {rows} vectors as dots in a row. Left, before: each row has "
        "another centre and another spread. Right, after: all rows lie around 0, equally wide."
    )
    with panels(2, 7.6, 2.6, alt, sharey=True) as axes:
        for panel, values in zip(axes, (x.double(), after), strict=True):
            for row, numbers in enumerate(values):
                panel.plot(
                    points(numbers),
                    [row] * d,
                    _MARKERS[row % len(_MARKERS)],
                    color=COLOURS[row % len(COLOURS)],
                    markersize=4,
                    alpha=0.7,
                )
                panel.plot([float(numbers.mean())], [row], "|", color=INK, markersize=14)
            panel.set(xlabel="numbers of the vector", xlim=(-10, 10))
            panel.grid(False, axis="y")
        axes[0].set_yticks(range(rows), [f"vector {row}" for row in range(rows)])
        axes[0].set(title="before", ylim=(rows - 0.5, -0.5))
        axes[1].set(title="after, with the mean as a line")
    return Drawn(axes, {"before": x, "after": after})


@drawing
def who_moves(layers: Mapping[str, Callable[[], Layer]], words: Sequence[str], d: int) -> Drawn:
    """Which outputs change if one word changes, a table for each layer.

    Args:
        layers: by name, a function that returns a layer from (1, T, d) to (1, T, d).
        words: T words.
        d: features of a word.
    """
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(1, len(words), d, generator=generator)
    other = torch.randn(d, generator=generator)
    tables = {}
    for name, make in layers.items():
        layer, columns = make(), []
        for j in range(len(words)):
            changed = x.clone()
            changed[0, j] = other
            columns.append((layer(changed) - layer(x))[0].detach().norm(dim=-1) > 1e-5)
        tables[name] = torch.stack(columns, -1)
    alt = "Tables of which outputs change if one word changes: " + "; ".join(
        f"{name}, {int(table.sum())} of {table.numel()}" for name, table in tables.items()
    )
    with panels(len(tables), 3.3 * len(tables), 2.9, alt + ".", sharey=True) as axes:
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            cells(panel, table.double(), SEQUENTIAL, 0, (0, 1.2))
            ticks(panel, list(words), list(words))
            for label in panel.get_xticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")
            panel.set(title=name, xlabel="word that changes")
        axes[0].set(ylabel="output")
    return Drawn(axes, tables)


@drawing
def streams(tables: Mapping[str, Callable[[], Tensor]]) -> Drawn:
    """Tables of vectors side by side, one vector per row.

    Args:
        tables: by title, a function that returns vectors, (T, d).
    """
    made = {title: make().detach().double() for title, make in tables.items()}
    largest = max(float(table.abs().max()) for table in made.values())
    alt = "Tables of vectors, one per row: " + "; ".join(
        f"{title}, the first row {', '.join(f'{value:.1f}' for value in table[0].tolist())}"
        for title, table in made.items()
    )
    with panels(len(made), 2.5 * len(made), 2.0, alt + ".", sharey=True) as axes:
        for panel, (title, table) in zip(axes, made.items(), strict=True):
            cells(panel, table, DIVERGING, 1, (-1.2 * largest, 1.2 * largest))
            ticks(
                panel,
                [f"vector {row}" for row in range(table.shape[0])],
                [str(column) for column in range(table.shape[1])],
            )
            panel.set(title=title, xlabel="feature")
    return Drawn(axes, made)


@not_while_grading
@drawing
def depth_curves(
    measure: Callable[[str, int], tuple[Tensor, Tensor]], depths: Sequence[int]
) -> Drawn:
    """The size of the stream and the last block's gradient against depth, for both modes.

    Args:
        measure: called as ``measure(mode, depth)``; returns the sizes of the stream, (depth + 1,),
            and the norms of the blocks' gradients, (depth,).
        depths: numbers of blocks.
    """
    sizes: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
    for mode in ("pre", "post"):
        found = [measure(mode, depth) for depth in depths]
        sizes[mode] = found[-1][0].detach().double()
        last[mode] = torch.stack([norms[-1].detach().double() for _, norms in found])
    alt = (
        "Left, the deviation of the stream after each block: it grows with pre-norm and stays at 1 "
        "with post-norm. Right, the length of the last block's gradient against the number of "
        "blocks: it falls with pre-norm and stays with post-norm."
    )
    with panels(2, 7.6, 3.0, alt) as (left, right):
        for number, mode in enumerate(sizes):
            colour, dashes, name = COLOURS[number], DASHES[number], f"{mode}-norm"
            size = points(sizes[mode])
            left.plot(range(len(size)), size, color=colour, linestyle=dashes, label=name)
            right.plot(
                list(depths),
                points(last[mode]),
                color=colour,
                linestyle=dashes,
                marker="o",
                markersize=4,
                label=name,
            )
        left.set(
            title="the stream", xlabel="after block", ylabel="standard deviation", ylim=(0, None)
        )
        right.set(
            title="the last block's gradient",
            xlabel="number of blocks",
            ylabel="length",
            ylim=(0, None),
        )
        left.legend()
        right.legend()
    return Drawn(
        (left, right),
        {f"size, {mode}": sizes[mode] for mode in sizes}
        | {f"last gradient, {mode}": last[mode] for mode in last},
    )
