"""Figures about words, and small tables: where attention moves words, tables of the lectures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.data.apples import Sentence, brand_sentence, fruit_sentence
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    SEQUENTIAL,
    Drawn,
    cells,
    decades,
    drawing,
    panels,
    points,
    ticks,
)

Attention = Callable[..., Tensor]
Layer = Callable[[Tensor], Tensor]


@drawing
def apple_arrows(attention: Attention, mode: str = "sum") -> Drawn:
    """Where attention moves the words of the two sentences about apples, in the plane.

    Args:
        attention: called as ``attention(vectors, mode=mode, similarity=table)``.
        mode: "sum" or "softmax".
    """
    sentences = {"fruit": fruit_sentence(), "brand": brand_sentence()}
    moved = {
        topic: attention(sentence.vectors, mode=mode, similarity=sentence.similarity)
        for topic, sentence in sentences.items()
    }
    alt = (
        "Two panels with the words of a sentence as points in the plane, and an arrow from each "
        "word that attention moves to its new place: apple next to fruit, and next to brand."
    )
    with panels(2, 7.2, 3.5, alt, sharex=True, sharey=True) as axes:
        for panel, topic in zip(axes, sentences, strict=True):
            _arrows(panel, sentences[topic], moved[topic], topic)
        axes[0].set_ylabel("second feature")
    return Drawn(axes, moved)


@drawing
def equivariance_bars(
    gap: Callable[..., Tensor],
    layers: Mapping[str, Layer],
    X: Tensor,  # noqa: N803 - a matrix, as in the lecture
    perm: Tensor,
) -> Drawn:
    """How much each layer's result depends on the order of its words, as bars.

    Args:
        gap: called as ``gap(layer, X, perm)``; 0 or more.
        layers: by name, each from (T, d) to (T, k).
        X: (T, d), the words.
        perm: (T,), the new order.
    """
    values = torch.tensor([float(gap(layer, X, perm)) for layer in layers.values()])
    alt = "Bars with the equivariance gap of each layer: " + ", ".join(
        f"{name} {_gap(value)}" for name, value in zip(layers, values.tolist(), strict=True)
    )
    with panels(1, 7.2, 0.8 + 0.4 * len(layers), alt + ".") as (axes,):
        bars = axes.barh(list(layers), points(values), color=COLOURS[0], height=0.55)
        axes.bar_label(bars, [_gap(value) for value in values.tolist()], padding=4)
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.margins(x=0.12)
        axes.set(title="which layer depends on the words' order?", xlabel="equivariance gap")
    return Drawn((axes,), {"gaps": values})


def number_tables(
    tables: Mapping[str, Tensor], rows: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]
) -> Drawn:
    """Tables of a lecture side by side.

    Args:
        tables: by title, each (R, C).
        rows: for each table its R row names.
        columns: for each table its C column names.
    """
    alt = f"Tables of numbers as the lectures print them: {', '.join(tables)}."
    with panels(len(tables), 3.6 * len(tables), 2.7, alt) as axes:
        for panel, (title, table), names, tops in zip(
            axes, tables.items(), rows, columns, strict=True
        ):
            cells(panel, table, SEQUENTIAL, 2, (0, 1.2))
            ticks(panel, list(names), list(tops))
            panel.xaxis.tick_top()
            panel.set_title(title, pad=22)
    return Drawn(axes, dict(tables))


def lab01_preview() -> Drawn:
    """The last figures of lab 1: probabilities at all temperatures, a word with two meanings."""
    logits = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
    heat = torch.logspace(-1.3, 2, 67, dtype=torch.float64)
    p = torch.softmax(logits / heat[:, None], -1)
    alt = (
        "Left, the probabilities of four words against the temperature: one wins if it is low, "
        "all are equal if it is high. Right, the word apple, with an arrow towards fruit and "
        "another towards brand."
    )
    with panels(2, 7.2, 2.9, alt) as (left, right):
        for word in range(len(logits)):
            left.plot(points(heat), points(p[:, word]), color=COLOURS[word], linestyle=DASHES[word])
        left.text(0.7, 0.9, "the likeliest of four", color=COLOURS[0], fontsize=9)
        left.set(
            xscale="log",
            title="temperature: from certain to uncertain",
            xlabel="temperature",
            ylabel="probability",
            ylim=(-0.02, 1.02),
        )
        decades(left)
        end = {}
        for sentence, topic, colour in (
            (fruit_sentence(), "fruit", COLOURS[2]),
            (brand_sentence(), "brand", COLOURS[1]),
        ):
            share = sentence.similarity / sentence.similarity.sum(-1, keepdim=True)
            end[topic] = (share @ sentence.vectors)[sentence.index("apple")]
            start, there = (sentence.vectors[sentence.index(word)] for word in ("apple", topic))
            _point(right, there, topic, colour, "s")
            _arrow(right, start, start + 3 * (end[topic] - start), colour)
        _point(right, start, "apple", INK, "o")
        right.text(-0.9, 1.2, "arrows drawn at three\ntimes their length", color=INK, fontsize=9)
        right.set(
            title="one word moves to two meanings",
            xlabel="first feature",
            ylabel="second feature",
            xlim=(-1.2, 8.6),
            ylim=(-1.2, 9.6),
        )
    return Drawn((left, right), {"temperature": heat, "probabilities": p, **end})


def lab00_preview() -> Drawn:
    """The steps of every lab: write, check, fix, hand in."""
    steps = ("write", "check", "fix", "hand in")
    alt = "Four boxes: write, check, fix, hand in; an arrow leads from fix back to check."
    with panels(1, 7.2, 1.1, alt) as (axes,):
        for place, step in enumerate(steps):
            axes.text(
                place,
                0,
                step,
                ha="center",
                va="center",
                color="white",
                fontsize=12,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": COLOURS[0], "edgecolor": "none"},
            )
        for here, there in pairwise(range(len(steps))):
            axes.annotate(
                "",
                (there - 0.33, 0),
                (here + 0.33, 0),
                arrowprops={"arrowstyle": "->", "color": INK},
            )
        axes.annotate(
            "",
            (1, -0.45),
            (2, -0.45),
            arrowprops={"arrowstyle": "->", "color": INK, "connectionstyle": "arc3,rad=-0.35"},
        )
        axes.set(xlim=(-0.5, 3.5), ylim=(-1, 0.6))
        axes.axis("off")
    return Drawn((axes,), {"places": torch.arange(len(steps))})


@drawing
def tensor_cells(
    make: Callable[[], Tensor],
    name: str = "x",
    axes_names: tuple[str, str] | None = None,
    rows: Sequence[str] | None = None,
) -> Drawn:
    """A tensor of two or three dimensions as a row of tables, one for each entry of the first axis.

    Args:
        make: returns the tensor, (R, C) or (B, R, C).
        name: the tensor's name.
        axes_names: what the rows and the columns are; None numbers the axes.
        rows: R names for the rows; None numbers them.
    """
    tensor = make()
    if not (isinstance(tensor, Tensor) and tensor.ndim in (2, 3)):
        shape = getattr(tensor, "shape", None)
        kind = "is not a tensor" if shape is None else f"has shape {tuple(shape)}"
        return Drawn((), {}, f"A picture needs a tensor with two or three axes; {name} {kind}.")
    stack = tensor.detach().double().reshape(-1, *tensor.shape[-2:])
    _, height, width = stack.shape
    low, high = float(stack.min()), float(stack.max())
    down, across = axes_names or (f"axis {tensor.ndim - 2}", f"axis {tensor.ndim - 1}")
    fitting = rows is not None and len(rows) == height
    names = list(rows) if rows and fitting else [str(row) for row in range(height)]
    digits = 0 if torch.equal(stack, stack.round()) else 2
    alt = f"{name}, a tensor of shape {tuple(tensor.shape)}, as tables of numbers."
    size = 0.9 * width * len(stack) + 0.6
    with panels(len(stack), size, 0.55 * height + 0.8, alt, sharey=True) as axes:
        for number, (panel, table) in enumerate(zip(axes, stack, strict=True)):
            cells(panel, table, SEQUENTIAL, digits, (low, high + (high - low)))
            ticks(panel, names, [str(c) for c in range(width)])
            page = f"[{number}]" if tensor.ndim == 3 else ""
            panel.set(title=f"{name}{page}", xlabel=across)
        axes[0].set_ylabel(down)
    return Drawn(axes, {"tensor": tensor})


def _gap(value: float) -> str:
    return "0, except for rounding" if 0 < value < 1e-9 else f"{value:.2g}"


def _arrows(axes: Axes, sentence: Sentence, moved: Tensor, topic: str) -> None:
    for word, start, end in zip(sentence.words, sentence.vectors, moved, strict=True):
        colour = {"apple": COLOURS[1], topic: COLOURS[0]}.get(word, FAINT)
        _point(axes, start, word, colour, "o")
        if float((end - start).norm()) > 1e-6:
            _arrow(axes, start, end, colour)
    apple = moved[sentence.index("apple")].tolist()
    axes.set(
        title=f"apple next to {topic}: [{apple[0]:.1f}, {apple[1]:.1f}]",
        xlabel="first feature",
        xlim=(-1.2, 8.4),
        ylim=(-1.2, 9.6),
    )


def _point(axes: Axes, place: Tensor, name: str, colour: str, marker: str) -> None:
    x, y = place.tolist()
    axes.plot(x, y, marker=marker, markersize=8, color=colour, linestyle="none")
    axes.annotate(name, (x, y), xytext=(8, 6), textcoords="offset points", color=colour)


def _arrow(axes: Axes, start: Tensor, end: Tensor, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(end.tolist()), tuple(start.tolist()), arrowprops=style)
