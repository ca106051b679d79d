"""Figures about words: where attention moves them, and the tables of the lectures."""

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
    panels,
    points,
    ticks,
)

Attention = Callable[..., Tensor]


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
    with panels(2, 7.2, 3.5, sharex=True, sharey=True) as axes:
        for panel, topic in zip(axes, sentences, strict=True):
            _arrows(panel, sentences[topic], moved[topic], topic)
        axes[0].set_ylabel("second feature")
    return Drawn(axes, moved)


def equivariance_bars(gaps: Mapping[str, float | Tensor]) -> Drawn:
    """How much each layer notices the order of its words, as bars.

    Args:
        gaps: the layer's name and its gap, 0 or more.
    """
    values = torch.tensor([float(gap) for gap in gaps.values()])
    with panels(1, 7.2, 0.8 + 0.4 * len(gaps)) as (axes,):
        bars = axes.barh(list(gaps), points(values), color=COLOURS[0], height=0.55)
        axes.bar_label(bars, [f"{value:.2g}" for value in values.tolist()], padding=4)
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.margins(x=0.12)
        axes.set(title="who notices the order of the words?", xlabel="equivariance gap")
    return Drawn((axes,), {"gaps": values})


def number_tables(
    tables: Mapping[str, Tensor], rows: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]
) -> Drawn:
    """Tables side by side, each with the sum of every row at its right.

    Args:
        tables: by title, each (R, C).
        rows: for each table its R row names.
        columns: for each table its C column names.
    """
    with panels(len(tables), 3.6 * len(tables), 2.7) as axes:
        for panel, (title, table), names, tops in zip(
            axes, tables.items(), rows, columns, strict=True
        ):
            cells(panel, table, SEQUENTIAL, 2, (0, 1.2))
            ticks(panel, list(names), list(tops))
            panel.xaxis.tick_top()
            panel.set_title(title, pad=22)
            for row, total in enumerate(table.sum(1).tolist()):
                panel.text(
                    table.shape[1] - 0.35, row, f"Σ = {total:.3g}", va="center", clip_on=False
                )
    return Drawn(axes, dict(tables))


def lab01_preview() -> Drawn:
    """What lab 1 ends with: a fan of temperatures, and a word with two meanings."""
    logits = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
    heat = torch.logspace(-1.3, 2, 67, dtype=torch.float64)
    p = torch.softmax(logits / heat[:, None], -1)
    with panels(2, 7.2, 2.9) as (left, right):
        for word in range(len(logits)):
            left.plot(points(heat), points(p[:, word]), color=COLOURS[word], linestyle=DASHES[word])
        left.set(
            xscale="log", title="one knob from sure to undecided", xlabel="temperature",
            ylabel="probability", ylim=(-0.02, 1.02),
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
        right.text(-0.9, -0.8, "arrows drawn at three times their length", color=FAINT, fontsize=8)
        right.set(
            title="one word, pulled to two meanings", xlabel="first feature",
            ylabel="second feature", xlim=(-1.2, 8.6), ylim=(-1.2, 9.6),
        )
    return Drawn((left, right), {"temperature": heat, "probabilities": p, **end})


def lab00_preview() -> Drawn:
    """What lab 0 ends with: the way of an answer, from writing to handing in."""
    steps = ("write", "check", "mend", "submit()")
    with panels(1, 7.2, 1.1) as (axes,):
        for place, (step, colour) in enumerate(zip(steps, COLOURS, strict=False)):
            axes.text(
                place, 0, step, ha="center", va="center", color="white", fontsize=12,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "none"},
            )
        for here, there in pairwise(range(len(steps))):
            axes.annotate(
                "", (there - 0.3, 0), (here + 0.3, 0), arrowprops={"arrowstyle": "->", "color": INK}
            )
        axes.annotate(
            "", (1, -0.45), (2, -0.45),
            arrowprops={"arrowstyle": "->", "color": FAINT, "connectionstyle": "arc3,rad=-0.35"},
        )
        axes.set(xlim=(-0.5, 3.5), ylim=(-1, 0.6))
        axes.axis("off")
    return Drawn((axes,), {"places": torch.arange(len(steps))})


def tensor_cells(tensor: Tensor) -> Drawn:
    """A tensor of up to three dimensions as a row of tables, one for each entry of the first axis.

    Args:
        tensor: (R, C) or (B, R, C).
    """
    stack = tensor.detach().double()
    stack = stack[None] if stack.ndim == 2 else stack
    _, height, width = stack.shape
    with panels(len(stack), max(0.9 * width * len(stack), 3.0), 0.6 * height + 0.9) as axes:
        for number, (panel, table) in enumerate(zip(axes, stack, strict=True)):
            cells(panel, table, SEQUENTIAL, 0, (float(stack.min()), 2 * float(stack.max())))
            ticks(panel, [str(row) for row in range(height)], [str(c) for c in range(width)])
            name = f"[{number}]" if tensor.ndim == 3 else ""
            panel.set(title=f"x{name}", xlabel="last axis", ylabel="axis before")
    return Drawn(axes, {"tensor": tensor})


def _arrows(axes: Axes, sentence: Sentence, moved: Tensor, topic: str) -> None:
    for word, start, end in zip(sentence.words, sentence.vectors, moved, strict=True):
        colour = {"apple": COLOURS[1], topic: COLOURS[0]}.get(word, FAINT)
        _point(axes, start, word, colour, "o")
        if float((end - start).norm()) > 1e-6:
            _arrow(axes, start, end, colour)
    apple = moved[sentence.index("apple")].tolist()
    axes.set(
        title=f"apple beside {topic}: [{apple[0]:.1f}, {apple[1]:.1f}]", xlabel="first feature",
        xlim=(-1.2, 8.4), ylim=(-1.2, 9.6),
    )


def _point(axes: Axes, place: Tensor, name: str, colour: str, marker: str) -> None:
    x, y = place.tolist()
    axes.plot(x, y, marker=marker, markersize=8, color=colour, linestyle="none")
    axes.annotate(name, (x, y), xytext=(8, 6), textcoords="offset points", color=colour)


def _arrow(axes: Axes, start: Tensor, end: Tensor, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(end.tolist()), tuple(start.tolist()), arrowprops=style)
