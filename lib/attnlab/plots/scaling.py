"""Figures of lab 3 about sizes: the spread of scores, saturated softmax, the cost of attention."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import COLOURS, DASHES, FAINT, INK, Drawn, drawing, panels, points

Count = Callable[..., int]

_SIZES = (4, 16, 64, 512)


@drawing
def score_histogram(
    score_variance: Callable[..., Tensor], sizes: Sequence[int] = _SIZES, n: int = 4000
) -> Drawn:
    """Histograms of random scores, and the bell curve with the measured variance.

    Args:
        score_variance: called as ``score_variance(d, n, generator, scaled=…)``.
        sizes: the numbers of features d.
        n: the number of scores for each d.
    """
    spread = {
        scaled: torch.stack(
            [
                torch.as_tensor(score_variance(d, n, _generator(d), scaled=scaled)).double()
                for d in sizes
            ]
        )
        for scaled in (False, True)
    }
    alt = (
        "Histograms of random scores for d = " + ", ".join(map(str, sizes)) + ". Left, unscaled: "
        "the larger d, the wider. Right, divided by the square root of d: all equally wide."
    )
    other: list[str] = []
    with panels(2, 7.6, 3.2, alt, sharey=True) as axes:
        for panel, (scaled, variances) in zip(axes, spread.items(), strict=True):
            for row, (d, variance) in enumerate(zip(sizes, variances.tolist(), strict=True)):
                scores = _random_scores(d, n) / (math.sqrt(d) if scaled else 1.0)
                _ridge(panel, scores, variance, row)
                if not 0.6 < variance / float(scores.var()) < 1.6:
                    other.append(f"d = {d}, {'scaled' if scaled else 'unscaled'}")
            width = 6.5 if scaled else 95.0
            panel.set(xlabel="score", xlim=(-width, width))
            panel.grid(False, axis="y")
        axes[0].set(title="unscaled: q · k")
        axes[1].set(title="scaled: q · k / √d", ylim=(len(sizes) - 0.9, -1.1))
        axes[0].set_yticks(range(len(sizes)), [f"d = {d}" for d in sizes])
        axes[0].tick_params(axis="y", length=0)
    note = (
        f"A line of your variance does not fit its histogram: {'; '.join(other)}." if other else ""
    )
    data = {"sizes": torch.tensor(sizes), "plain": spread[False], "scaled": spread[True]}
    return Drawn(axes, data, note=note)


@drawing
def saturation_curves(
    saturation: Callable[..., Tensor],
    sizes: Sequence[int] = (4, 8, 16, 32, 64, 128, 256, 512),
    num_keys: int = 32,
    n: int = 200,
) -> Drawn:
    """The largest attention weight against d, with and without the scale.

    Args:
        saturation: called as ``saturation(d, num_keys, n, generator, scaled=…)``.
        sizes: the numbers of features d.
        num_keys: the number of keys for each query.
        n: the number of queries for each point.
    """
    largest = {
        scaled: torch.stack(
            [
                torch.as_tensor(saturation(d, num_keys, n, _generator(d), scaled=scaled)).double()
                for d in sizes
            ]
        )
        for scaled in (False, True)
    }
    alt = (
        f"Two curves over d: the largest of {num_keys} weights. Without the scale it rises "
        "towards 1; with the scale it stays low."
    )
    with panels(1, 5.6, 2.8, alt) as (axes,):
        for scaled, name in ((False, "softmax(q · k)"), (True, "softmax(q · k / √d)")):
            axes.plot(
                sizes,
                points(largest[scaled]),
                color=COLOURS[int(not scaled)],
                marker="o",
                markersize=4,
                linestyle=DASHES[int(not scaled)],
                label=name,
            )
        equal = 1 / num_keys
        axes.axhline(equal, color=FAINT, linewidth=1)
        axes.annotate(
            f"equal weights: 1/{num_keys}",
            (sizes[-1], equal),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            color=INK,
            fontsize=9,
        )
        axes.set(
            xscale="log",
            title=f"the weight of the best of {num_keys} keys",
            xlabel="d",
            ylabel="largest weight",
            ylim=(0, 1.02),
        )
        _powers(axes, sizes)
        axes.legend()
    return Drawn(
        (axes,), {"sizes": torch.tensor(sizes), "plain": largest[False], "scaled": largest[True]}
    )


@drawing
def cost_curves(
    count_multiplications: Count,
    weights_memory: Count,
    fit_exponent: Callable[..., Tensor],
    d: int = 64,
) -> Drawn:
    """Multiplications and bytes against the number of tokens, on logarithmic axes.

    Args:
        count_multiplications: called as ``count_multiplications(T, T, d, d)``.
        weights_memory: called as ``weights_memory(T, T, torch.float32)``.
        fit_exponent: from sizes and costs to the exponent p.
        d: the number of features of a query, a key and a value.
    """
    lengths = [2**power for power in range(6, 18)]  # 64 … 131,072
    sizes = torch.tensor(lengths, dtype=torch.float64)
    work = torch.tensor([count_multiplications(T, T, d, d) for T in lengths]).double()
    room = torch.tensor([weights_memory(T, T, torch.float32) for T in lengths]).double()
    alt = (
        "Two straight lines on logarithmic axes: multiplications and bytes of attention against "
        "the number of tokens; in the first panel also a flatter line for the projections."
    )
    with panels(2, 7.6, 2.9, alt) as (left, right):
        left.plot(
            lengths,
            points(work),
            color=COLOURS[0],
            label=_law("attention", fit_exponent(sizes, work)),
        )
        linear = 3 * sizes * d * 512  # three matrices of 512 × d for each token
        left.plot(
            lengths,
            points(linear),
            color=COLOURS[1],
            linestyle="--",
            label=_law("q, k, v of 512", fit_exponent(sizes, linear)),
        )
        left.set(title=f"one head with d = {d}", ylabel="multiplications")
        right.plot(
            lengths,
            points(room),
            color=COLOURS[0],
            label=_law("weights", fit_exponent(sizes, room)),
        )
        right.axhline(16e9, color=FAINT, linewidth=1)
        right.annotate(
            "16 GB", (lengths[0], 16e9), xytext=(0, 3), textcoords="offset points", fontsize=9
        )
        right.set(title="its weights in float32", ylabel="bytes")
        for panel in (left, right):
            panel.set(xscale="log", yscale="log", xlabel="tokens T")
            panel.legend(loc="lower right")
    return Drawn((left, right), {"lengths": sizes, "multiplications": work, "bytes": room})


@drawing
def time_against_length(
    attention: Callable[..., Any], fit_exponent: Callable[..., Tensor], d: int = 64
) -> Drawn:
    """The time of attention on this machine, in seconds, against the number of tokens.

    Args:
        attention: called as ``attention(x, x, x)``.
        fit_exponent: from sizes and costs to the exponent p.
        d: the number of features of a query, a key and a value.
    """
    lengths = [32, 64, 128, 256, 512, 1024]
    seconds = torch.tensor([_seconds(attention, T, d) for T in lengths], dtype=torch.float64)
    sizes = torch.tensor(lengths, dtype=torch.float64)
    alt = (
        "Seconds against the number of tokens on logarithmic axes: nearly flat for few tokens, "
        "steep for many."
    )
    with panels(1, 4.6, 2.8, alt) as (axes,):
        axes.plot(lengths, points(1e3 * seconds), color=COLOURS[0], marker="o")
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="tokens T",
            ylabel="milliseconds",
            title=_law("the longest three", fit_exponent(sizes[3:], seconds[3:])),
        )
        _powers(axes, lengths)
    return Drawn((axes,), {"lengths": sizes, "seconds": seconds})


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _random_scores(d: int, n: int) -> Tensor:
    """(n,), sums of d products of standard normal numbers."""
    generator = _generator(1000 + d)
    left = torch.randn(n, d, generator=generator)
    return torch.einsum("nd,nd->n", left, torch.randn(n, d, generator=generator))


def _ridge(axes: Axes, scores: Tensor, variance: float, row: int) -> None:
    """Draw a histogram in its own row, and the bell curve with this variance."""
    half = float(scores.abs().max())
    shares, edges = torch.histogram(scores.double(), 41, range=(-half, half), density=True)
    spread = math.sqrt(max(variance, 1e-9))
    top = 1 / (spread * math.sqrt(2 * math.pi))  # the bell curve's maximum, drawn 0.8 high
    heights = row - 0.8 * (shares / top).clamp(max=1.3)
    axes.stairs(
        points(heights), points(edges), baseline=row, color=COLOURS[5], alpha=0.6, fill=True
    )
    x = torch.linspace(-3.5, 3.5, 141, dtype=torch.float64)
    axes.plot(
        points(x * spread),
        points(row - 0.8 * torch.exp(-x.square() / 2)),
        color=COLOURS[0],
        linewidth=1.5,
    )
    axes.annotate(
        f"std {spread:.2f}",
        (1, row),
        xycoords=("axes fraction", "data"),
        xytext=(0, 12),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color=INK,
    )


def _law(name: str, exponent: Tensor) -> str:
    return f"{name}: $T^{{\\,{float(exponent):.2f}}}$"


def _powers(axes: Axes, values: Sequence[int]) -> None:
    """Write the values on a logarithmic horizontal axis, and nothing between them."""
    axes.set_xticks(list(values), [str(value) for value in values])
    axes.tick_params(axis="x", which="minor", length=0)


def _seconds(attention: Callable[..., Any], length: int, d: int) -> float:
    """The shortest time of five runs, in seconds."""
    x = torch.randn(length, d, generator=_generator(length))
    times = []
    with torch.no_grad():
        for _ in range(5):
            start = time.perf_counter()
            attention(x, x, x)
            times.append(time.perf_counter() - start)
    return min(times)
