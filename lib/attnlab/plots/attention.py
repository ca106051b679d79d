"""Figures of lab 3 about words: queries, keys and values, attention weights, outputs.

All show lecture S's sentence about Korea, with the vectors of `attnlab.data.korea`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.data import korea
from attnlab.plots.canvas import (
    COLOURS,
    DIVERGING,
    FAINT,
    INK,
    PAPER,
    SHADE,
    Drawn,
    cells,
    drawing,
    panels,
    points,
    ticks,
)
from attnlab.plots.heatmap import attention_cells

Projection = Callable[..., tuple[Tensor, Tensor, Tensor]]
Attention = Callable[..., tuple[Tensor, Tensor]]

# The weights of the sentence, to two digits, for the lab's first picture.
_WEIGHTS = (
    (0.06, 0.42, 0.08, 0.21, 0.12, 0.12),
    (0.07, 0.11, 0.12, 0.35, 0.16, 0.20),
    (0.04, 0.44, 0.06, 0.16, 0.11, 0.19),
    (0.04, 0.29, 0.05, 0.09, 0.12, 0.41),
    (0.01, 0.04, 0.03, 0.46, 0.10, 0.37),
    (0.01, 0.78, 0.02, 0.09, 0.05, 0.06),
)
# A box in the page's colour behind a name, so that an arrow below it cannot cross the letters.
_NAME_BOX = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.7, "pad": 0.6}
_VALUES = ((-1.0, -2.0), (5.0, 0.0), (-1.0, 0.4), (-0.5, 5.0), (-4.0, 2.0), (4.5, 4.5))


@drawing
def projection_tables(qkv: Projection, text: str = korea.ONE_ORDER) -> Drawn:
    """The query, the key and the value of each word, as tables of numbers.

    Args:
        qkv: called as ``qkv(X, W_q, W_k, W_v)``.
        text: the sentence.
    """
    words = text.split()
    made = dict(zip("qkv", qkv(korea.embed(text), *korea.projections()), strict=True))
    titles = {"q": "q: what it asks", "k": "k: what it offers", "v": "v: what it gives"}
    columns = {"q": korea.ASKS, "k": korea.ASKS, "v": ("right", "up")}
    alt = f"Three tables of numbers: the queries, the keys and the values of “{text}”."
    with panels(3, 7.2, 3.0, alt, sharey=True, width_ratios=(3, 3, 2)) as axes:
        for panel, (name, table) in zip(axes, made.items(), strict=True):
            cells(panel, table, DIVERGING, 1, (-6, 6))
            ticks(panel, words, list(columns[name]))
            panel.set_title(titles[name])
            for label in panel.get_xticklabels():
                label.set(rotation=30, ha="right", rotation_mode="anchor")
    return Drawn(axes, made)


@drawing
def moved_words(
    qkv: Projection, attention_loop: Callable[..., Tensor], text: str = korea.ONE_ORDER
) -> Drawn:
    """Each word's value as a point in the plane, and an arrow from there to its query's output.

    Args:
        qkv: called as ``qkv(X, W_q, W_k, W_v)``.
        attention_loop: called as ``attention_loop(q, K, V)`` with one query.
        text: the sentence.
    """
    words = text.split()
    q, k, v = qkv(korea.embed(text), *korea.projections())
    moved = torch.stack([attention_loop(query, k, v) for query in q])  # (T, 2)
    alt = (
        "The words of the sentence as points in the plane, each with an arrow from its own value "
        "to its query's output, a weighted mean; all arrows end between the points."
    )
    with panels(1, 5.2, 3.7, alt) as (axes,):
        _values(axes, words, v)
        for word, start, end in zip(words, v.tolist(), moved.tolist(), strict=True):
            _arrow(axes, start, end, COLOURS[1] if word == "Korean" else COLOURS[5])
        axes.set_title("each word's value, and its output")
    return Drawn((axes,), {"values": v, "moved": moved})


@drawing
def sentence_attention(
    qkv: Projection, attention: Attention, texts: Sequence[str] = (korea.ONE_ORDER,)
) -> Drawn:
    """Which word attends to which: a table of weights for each sentence.

    Args:
        qkv: called as ``qkv(X, W_q, W_k, W_v)``.
        attention: called as ``attention(q, k, v)``; returns outputs and weights.
        texts: the sentences.
    """
    tables = {text: attention(*qkv(korea.embed(text), *korea.projections()))[1] for text in texts}
    alt = "The attention weights, a row per query and a column per key: " + "; ".join(texts) + "."
    with panels(len(texts), 3.6 * len(texts), 3.0, alt) as axes:
        for panel, (text, weights) in zip(axes, tables.items(), strict=True):
            attention_cells(panel, weights, text.split(), text.split())
            panel.set_title(f"“{text}”", fontsize=9.5)
            panel.set_ylabel("queries" if panel is axes[0] else "")
    return Drawn(axes, tables)


@drawing
def value_mixing(
    qkv: Projection, attention: Attention, word: str = "speak", text: str = korea.ONE_ORDER
) -> Drawn:
    """The output of one query as a sum: each value times its weight, arrow after arrow.

    Args:
        qkv: called as ``qkv(X, W_q, W_k, W_v)``.
        attention: called as ``attention(q, k, v)``; returns outputs and weights.
        word: the word that the query belongs to.
        text: the sentence.
    """
    words = text.split()
    q, k, v = qkv(korea.embed(text), *korea.projections())
    out, weights = attention(q, k, v)
    here = words.index(word)
    alt = (
        f"Left, the weights of the query “{word}” as bars. Right, arrows head to tail from the "
        "origin, each a value times its weight, the largest weight first; the last one ends at the "
        "output, between the values."
    )
    with panels(2, 7.2, 3.4, alt, width_ratios=(1, 1.9)) as (left, right):
        bars = left.barh(words, points(weights[here]), color=COLOURS[0], height=0.6)
        left.bar_label(bars, [f"{w:.2f}" for w in weights[here].tolist()], padding=3, fontsize=9)
        left.invert_yaxis()
        left.grid(False, axis="y")
        left.set(title=f"where “{word}” attends", xlabel="weight", xlim=(0, 1.05))
        _mix(right, words, v, weights[here], out[here])
        right.set_title("values times weights, head to tail")
    return Drawn((left, right), {"weights": weights[here], "values": v, "output": out[here]})


@drawing
def relevance_tables(relevance_matrix: Callable[..., Tensor], text: str = korea.ONE_ORDER) -> Drawn:
    """How relevant each word is to each other: with one matrix for queries and keys, and with two.

    Args:
        relevance_matrix: called as ``relevance_matrix(X, W_q, W_k)``.
        text: the sentence.
    """
    words, vectors = text.split(), korea.embed(text)
    w_q, w_k, _ = korea.projections()
    tables = {
        "W_k = W_q: symmetric": relevance_matrix(vectors, w_q, w_q),
        "another W_k: not symmetric": relevance_matrix(vectors, w_q, w_k),
    }
    alt = (
        "Two tables of scores, with a row per query and a column per key. With one matrix for "
        "queries and keys the table is symmetric; with two it is not."
    )
    with panels(2, 7.2, 3.0, alt) as axes:
        for panel, (title, table) in zip(axes, tables.items(), strict=True):
            cells(panel, table, DIVERGING, 1, (-9, 9))
            ticks(panel, words, words)
            panel.set(title=title, xlabel="keys")
            for label in panel.get_xticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")
            _mark_korea(panel, words)
        axes[0].set_ylabel("queries")
    one, two = tables.values()
    return Drawn(axes, {"one matrix": one, "two matrices": two})


def lab03_preview() -> Drawn:
    """The last figures of lab 3: which word attends to which, and the output of one word."""
    words = korea.ONE_ORDER.split()
    weights, values = torch.tensor(_WEIGHTS), torch.tensor(_VALUES)
    row = weights[4] / weights[4].sum()
    alt = (
        "Left, a table of attention weights for “In Korea most people speak Korean”: the row of "
        "Korean is darkest at Korea. Right, the weighted values in the row of speak as arrows head "
        "to tail, which end at that word's output."
    )
    with panels(2, 7.6, 3.3, alt, width_ratios=(1, 1.25)) as (left, right):
        attention_cells(left, weights, words, words)
        left.set_title("which word attends to which")
        _mix(right, words, values, row, (row[:, None] * values).sum(0))
        right.set_title("the output for “speak”")
    return Drawn((left, right), {"weights": weights, "values": values})


def _mix(axes: Axes, words: Sequence[str], values: Tensor, weights: Tensor, out: Tensor) -> None:
    """Draw values as points, weighted values as a chain of arrows, and the end of the chain."""
    _values(axes, words, values)
    order = weights.argsort(descending=True)
    steps = (weights[:, None] * values)[order].cumsum(0).tolist()  # (T, 2), the ends of the arrows
    for start, end, weight in zip([[0.0, 0.0], *steps], steps, weights[order], strict=False):
        _arrow(axes, start, end, COLOURS[1] if float(weight) > 0.3 else COLOURS[4])
    axes.plot(0, 0, marker="+", markersize=9, color=INK)
    x, y = out.tolist()
    axes.plot(x, y, marker="*", markersize=15, color=COLOURS[2], linestyle="none")
    axes.annotate(
        "output",
        (x, y),
        xytext=(9, 4),
        textcoords="offset points",
        color=COLOURS[2],
        fontweight="bold",
    )


def _values(axes: Axes, words: Sequence[str], values: Tensor) -> None:
    """Draw the value of each word as a point with its name, and the area between them in grey."""
    corners = _hull([(x, y) for x, y in values.tolist()])
    axes.fill(*zip(*corners, strict=True), color=SHADE, zorder=0)
    for word, (x, y) in zip(words, values.tolist(), strict=True):
        axes.plot(x, y, marker="o", markersize=6, color=FAINT, linestyle="none")
        axes.annotate(
            word,
            (x, y),
            xytext=(6, 6),
            textcoords="offset points",
            color=INK,
            bbox=_NAME_BOX,
            zorder=4,
        )
    low, high = values.amin(0).tolist(), values.amax(0).tolist()
    axes.set(
        xlabel="first number of a value",
        ylabel="second number",
        xlim=(low[0] - 0.9, high[0] + 1.9),
        ylim=(low[1] - 0.9, high[1] + 1.2),
    )


def _hull(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the smallest convex area that contains all places, in order."""
    upper: list[tuple[float, float]] = []
    lower: list[tuple[float, float]] = []
    for side, order in ((lower, sorted(places)), (upper, sorted(places, reverse=True))):
        for place in order:
            while len(side) > 1 and _turn(side[-2], side[-1], place) <= 0:
                side.pop()
            side.append(place)
    return lower[:-1] + upper[:-1]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """A number above 0 if the path from a via b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _mark_korea(axes: Axes, words: Sequence[str]) -> None:
    """Draw frames around the two entries that lecture S asks about."""
    korea_, korean = words.index("Korea"), words.index("Korean")
    for row, column in ((korea_, korean), (korean, korea_)):
        axes.plot(
            [column - 0.48, column + 0.48, column + 0.48, column - 0.48, column - 0.48],
            [row - 0.48, row - 0.48, row + 0.48, row + 0.48, row - 0.48],
            color=INK,
            linewidth=1.8,
            clip_on=False,
        )


def _arrow(axes: Axes, start: Sequence[float], end: Sequence[float], colour: str) -> None:
    long = abs(end[0] - start[0]) + abs(end[1] - start[1]) > 0.4  # long enough for an arrowhead
    style = {
        "arrowstyle": "-|>" if long else "-",
        "color": colour,
        "linewidth": 1.8,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style)
