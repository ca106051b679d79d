"""Figures about heads: where each one looks, how widely, and the results without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    HATCHES,
    INK,
    NOTHING_TO_DRAW,
    Drawn,
    drawing,
    panels,
    points,
)
from attnlab.plots.heatmap import attention_cells, attention_maps

Made = Callable[[], Tensor | None]


@drawing
def head_grid(make: Made, queries: Sequence[str], keys: Sequence[str]) -> Drawn:
    """The attention weights of every head, side by side.

    Args:
        make: returns the weights of one sentence, (h, Lq, Lk).
        queries: Lq names for the rows.
        keys: Lk names for the columns.
    """
    weights = make()
    if weights is None:
        return Drawn((), {}, NOTHING_TO_DRAW)
    tables = {f"head {i}": table for i, table in enumerate(weights)}
    return attention_maps(tables, queries, keys, digits=None)


@drawing
def head_entropy(make: Made) -> Drawn:
    """How widely each head spreads its attention: the entropy of its weights.

    Args:
        make: returns the weights, (h, Lq, Lk) or (B, h, Lq, Lk).
    """
    weights = make()
    if weights is None:
        return Drawn((), {}, NOTHING_TO_DRAW)
    weights = weights.detach().double()
    entropy = -torch.xlogy(weights, weights).sum(-1)  # (..., h, Lq)
    each = entropy.movedim(-2, 0).flatten(1)  # (h, Lq) or (h, B * Lq)
    most = math.log(weights.shape[-1])
    names = [f"head {i}" for i in range(len(each))]
    alt = (
        "Bars with the mean entropy of each head's attention weights, a dot for each query, and a "
        f"dashed line at log {weights.shape[-1]}."
    )
    with panels(1, 7.2, 0.9 + 0.4 * len(each), alt) as (axes,):
        axes.barh(names, points(each.mean(1)), color=COLOURS[0], height=0.55)
        for row, values in enumerate(each[:, :60]):
            axes.plot(
                points(values),
                np.full(len(values), row),
                ".",
                color=COLOURS[4],
                markersize=7,
                markeredgecolor=INK,
                markeredgewidth=0.4,
            )
        axes.axvline(most, color=COLOURS[1], linestyle="--")
        axes.annotate(
            f"log {weights.shape[-1]} = {most:.2f}:\nall keys alike",
            (most, 0.5),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
            color=COLOURS[1],
        )
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.set(
            title="how widely a head looks: its mean (bar), each query (dot)",
            xlabel="entropy of the weights [nats]",
            xlim=(0, 1.08 * most),
        )
    return Drawn((axes,), {"entropy": each})


@drawing
def ablation_bars(
    make: Callable[[], Mapping[str, Tensor] | None],
    measures: Sequence[str],
    ylabel: str,
    title: str = "results without a head",
    *functions: Callable[..., Any],
) -> Drawn:
    """The results of a layer or model with all heads, and with each head ablated in turn.

    Args:
        make: returns for each name (a model, an ablated head) its numbers, (n,).
        measures: names of the n numbers.
        ylabel: the label of the numbers' axis.
        title: above the picture.
        functions: what a model was trained with; if a step among them is not right, it is named.
    """
    rows = make()
    if rows is None:
        return Drawn((), {}, NOTHING_TO_DRAW)
    values = torch.stack([row.detach().double() for row in rows.values()])  # (rows, n)
    places, width = np.arange(len(rows)), 0.8 / len(measures)
    alt = f"{title}, as bars: " + "; ".join(
        f"{name} {', '.join(f'{value:.2f}' for value in row)}"
        for name, row in zip(rows, values.tolist(), strict=True)
    ).replace("\n", " ")
    with panels(1, 7.2, 2.9, alt + ".") as (axes,):
        for column, measure in enumerate(measures):
            heights = points(values[:, column])
            bars = axes.bar(
                places + (column - (len(measures) - 1) / 2) * width,
                heights,
                width * 0.92,
                color=COLOURS[column],
                hatch=HATCHES[column % 3],
                edgecolor="white",
                label=measure,
            )
            axes.bar_label(bars, [f"{height:.2f}" for height in heights], padding=2, fontsize=9)
        axes.set_xticks(places.tolist(), list(rows), fontsize=_size_that_fits(rows, inches=5.4))
        axes.grid(False, axis="x")
        # Nothing moves if a step returns the model itself: then every bar is 0.
        axes.set(title=title, ylabel=ylabel, ylim=(0, 1.15 * float(values.max()) or 1))
        if len(measures) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Drawn((axes,), {"values": values})


def _size_that_fits(labels: Iterable[str], inches: float) -> float:
    """The largest size of text, 10 or less, in which labels side by side do not touch."""
    lines = [max(label.split("\n"), key=len) for label in labels]
    room = 72 * inches / len(lines)  # of one label, in points
    return min(10.0, room / (0.58 * (max(map(len, lines)) + 1)))  # a letter is about 0.58 wide


@drawing
def heads_on_boxes(one: Made, two: Made, *functions: Callable[..., Any]) -> Drawn:
    """Where the heads of two models look: the mean weight on the first and the second box.

    Args:
        one: returns the table of the model with one head, (1, 2).
        two: returns the table of the model with two heads, (2, 2).
        functions: what the models were trained with; if a step among them is not right, it is
            named.
    """
    tables = one(), two()
    if tables[0] is None or tables[1] is None:
        return Drawn((), {}, NOTHING_TO_DRAW)
    alt = (
        "Two tables, one row for each head: its mean attention weight on the first and on the "
        "second box in the question, for a model with one head and one with two."
    )
    with panels(2, 4.8, 1.7, alt, gridspec_kw={"wspace": 0.55}) as axes:
        for panel, table in zip(axes, tables, strict=True):
            if table is not None:
                _table_of_heads(panel, table)
    return Drawn(axes, {"one": tables[0], "two": tables[1]})


@drawing
def shape_diagram(make: Callable[[], Mapping[str, Tensor]]) -> Drawn:
    """The shapes of a tensor through some steps: each step's name, and the shape of its result.

    Args:
        make: runs the steps and returns their results by name, in order. After a comma, a name may
            say what the axes are: ``"split_heads, B h T d"``.
    """
    made = make()
    shapes = {name: tuple(tensor.shape) for name, tensor in made.items()}
    alt = "Boxes from left to right: " + ", ".join(f"{n} {shape}" for n, shape in shapes.items())
    with panels(1, 1.5 * len(shapes), 1.2, alt + ".") as (axes,):
        for place, (name, shape) in enumerate(shapes.items()):
            axes.text(
                place,
                0,
                str(shape).replace(" ", ""),
                ha="center",
                va="center",
                color="white",
                fontsize=9,
                family="monospace",
                bbox={"boxstyle": "round,pad=0.4", "facecolor": COLOURS[0], "edgecolor": "none"},
            )
            step, _, names = name.partition(", ")
            axes.text(place, 0.7, step, fontsize=9, ha="center", va="center", color=INK)
            axes.text(place, -0.6, names, fontsize=9, ha="center", va="center", color=INK)
        for here, there in pairwise(range(len(shapes))):
            axes.annotate(
                "",
                (there - 0.35, 0),
                (here + 0.35, 0),
                arrowprops={"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 0},
            )
        axes.set(xlim=(-0.5, len(shapes) - 0.5), ylim=(-0.9, 0.9))
        axes.axis("off")
    sizes = {name: torch.tensor(shape) for name, shape in shapes.items()}
    return Drawn((axes,), sizes)


def lab04_preview() -> Drawn:
    """The last figures of lab 4: one head that mixes up two answers, and two heads that do not."""
    one, two = torch.tensor([[0.43, 0.48]]), torch.tensor([[0.98, 0.0], [0.0, 0.98]])
    right = torch.tensor([0.10, 1.0])
    alt = (
        "Left, where one head looks: at both boxes equally. In the middle, two heads: each looks "
        "at one box. Right, how often both digits are right: about one in ten, and always."
    )
    spaces = {"wspace": 0.55, "width_ratios": (1, 1, 1.3)}
    with panels(3, 7.2, 1.7, alt, gridspec_kw=spaces) as axes:
        _table_of_heads(axes[0], one)
        _table_of_heads(axes[1], two)
        bars = axes[2].barh(["1 head", "2 heads"], points(right), color=COLOURS[0], height=0.5)
        axes[2].bar_label(bars, ["10 %", "100 %"], padding=4)
        axes[2].invert_yaxis()
        axes[2].grid(False, axis="y")
        axes[2].set(title="both digits right", xlim=(0, 1.3), xticks=[0, 0.5, 1])
        axes[2].set_xlabel("share of questions")
    return Drawn(axes, {"one": one, "two": two, "right": right})


def _table_of_heads(axes: Axes, table: Tensor) -> None:
    heads = [f"head {i}" for i in range(len(table))]
    attention_cells(axes, table, heads, ["1st", "2nd"])
    title = f"{len(heads)} heads' weights" if len(heads) > 1 else "1 head's weights"
    axes.set(title=title, xlabel="box in the question", ylabel="", anchor="N")
