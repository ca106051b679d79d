"""Figures about scores, probabilities and losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    DIVERGING,
    FAINT,
    INK,
    Drawn,
    cells,
    decades,
    drawing,
    panels,
    points,
    ticks,
)

Function = Callable[..., Tensor]


@drawing
def softmax_bars(softmax: Function, scores: Tensor, shift: float = 1000.0) -> Drawn:
    """Scores, and their probabilities before and after a number is added to all scores.

    Args:
        softmax: from (V,) scores to (V,) probabilities.
        scores: (V,).
        shift: the number that is added to every score.
    """
    plain, shifted = softmax(scores), softmax(scores + shift)
    places = np.arange(len(scores))
    alt = (
        f"Two bar charts: {len(scores)} scores; and their probabilities, before and after "
        f"{shift:g} is added to every score. A probability without a bar is named."
    )
    # The numbers beside the right axis may have a sign, and then need more room.
    with panels(2, 7.2, 2.5, alt, gridspec_kw={"wspace": 0.36}) as (left, right):
        left.bar(places, points(scores), color=COLOURS[0], width=0.6)
        left.axhline(0, color=INK, linewidth=0.8)
        left.set(title="scores", xlabel="entry", ylabel="score x")
        right.bar(places - 0.2, points(plain), color=COLOURS[0], width=0.4, label="softmax(x)")
        right.bar(
            places + 0.2,
            points(shifted),
            color=COLOURS[4],
            width=0.4,
            hatch="///",
            edgecolor="white",
            label=f"softmax(x + {shift:g})",
        )
        for offset, values in ((-0.2, plain), (0.2, shifted)):
            for place, value in enumerate(values.tolist()):
                if not math.isfinite(value):
                    right.text(place + offset, 0.03, str(value), rotation=90, ha="center")
        right.set(title="their probabilities", xlabel="entry", ylabel="probability p")
        right.set_ylim(*_from_0_to_1_at_least(plain, shifted))
        right.axhline(0, color=INK, linewidth=0.8)
        right.legend()
        for axes in (left, right):
            axes.set_xticks(places.tolist())
    return Drawn((left, right), {"scores": scores, "plain": plain, "shifted": shifted})


@drawing
def log_softmax_gap(softmax: Function, log_softmax: Function, widest: float = 1000.0) -> Drawn:
    """The log-probability of the lower of two scores, computed in two ways, against their gap.

    Args:
        softmax: from (..., V) scores to probabilities.
        log_softmax: from (..., V) scores to log-probabilities.
        widest: the largest gap between the two scores.
    """
    gap = torch.linspace(0, widest, 201, dtype=torch.float64)
    scores = torch.stack([-gap, torch.zeros_like(gap)], dim=-1)  # (201, 2)
    direct, by_softmax = log_softmax(scores)[:, 0], softmax(scores)[:, 0].log()  # (201,) each
    finite = torch.isfinite(by_softmax)
    alt = (
        "Two lines fall together from 0: the log-probability against the gap between two scores. "
        "The one computed from probabilities may end early."
    )
    with panels(1, 7.2, 2.6, alt) as (axes,):
        axes.plot(points(gap), points(direct), color=COLOURS[0], label="log_softmax(x)")
        axes.plot(
            points(gap[finite]),
            points(by_softmax[finite]),
            color=COLOURS[1],
            linestyle="--",
            linewidth=3.5,
            label="log(softmax(x))",
        )
        if bool(finite.any()) and not bool(finite.all()):
            end, lowest = float(gap[finite][-1]), float(by_softmax[finite][-1])
            axes.plot(end, lowest, marker="X", markersize=10, color=COLOURS[1], linestyle="none")
            axes.annotate(
                f"−∞ from a gap of about {end:.0f} on",
                (end, lowest),
                xytext=(-12, -4),
                textcoords="offset points",
                ha="right",
                va="top",
                color=COLOURS[1],
            )
        axes.set(
            title="the same number, computed in two ways",
            xlabel="how far the score is below the best one",
            ylabel="log-probability",
        )
        axes.legend(loc="upper right")
    return Drawn((axes,), {"gap": gap, "log_softmax": direct, "log_of_softmax": by_softmax})


@drawing
def loss_and_gradient_gap(
    softmax: Function, log_softmax: Function, gaps: tuple[float, float] = (80, 112)
) -> Drawn:
    """The loss and its gradient in float32, computed in two ways, as the right word falls behind.

    Args:
        softmax: from (..., V) scores to probabilities.
        log_softmax: from (..., V) scores to log-probabilities.
        gaps: how far the right word's score is below the best one, from … to.
    """
    gap = torch.linspace(*gaps, 161)
    ways = {"log_softmax(x)": log_softmax, "log(softmax(x))": lambda x: softmax(x).log()}
    losses, gradients = {}, {}
    for name, way in ways.items():
        scores = torch.stack([torch.zeros_like(gap), -gap], -1).requires_grad_()  # (161, 2)
        losses[name] = -way(scores)[:, 1]
        (gradient,) = torch.autograd.grad(losses[name].sum(), scores)
        gradients[name] = gradient[:, 1]
    alt = (
        "Two panels against the gap between two scores: the loss, and its gradient at the right "
        "word's score. Each is computed in two ways; a cross shows where a way ends in inf or nan."
    )
    with panels(2, 7.2, 2.7, alt, gridspec_kw={"wspace": 0.4}) as (left, right):
        for panel, values in ((left, losses), (right, gradients)):
            for number, (name, line) in enumerate(values.items()):
                _until_not_finite(panel, gap, line.detach(), name, number)
            panel.set(xlabel="gap g", xlim=gaps)
        left.set(title="the loss, in float32", ylabel="loss [nats]")
        right.set(title="its gradient at the right word", ylabel="gradient", ylim=(-1.5, 0.1))
        left.legend(loc="upper left")
    data = {f"loss by {name}": line.detach() for name, line in losses.items()}
    data |= {f"gradient by {name}": line for name, line in gradients.items()}
    return Drawn((left, right), {"gap": gap, **data})


@drawing
def loss_against_scale(cross_entropy: Function, logits: Tensor, names: Sequence[str]) -> Drawn:
    """The loss for each possible right answer, as one vector of logits is scaled up.

    Args:
        cross_entropy: from logits (N, V) and targets (N,) to the mean loss.
        logits: (V,).
        names: V words.
    """
    scale = torch.linspace(0, 8, 81, dtype=logits.dtype)
    losses = torch.stack(
        [
            torch.stack([cross_entropy((s * logits)[None], torch.tensor([word])) for s in scale])
            for word in range(len(logits))
        ]
    )  # (V, 81)
    alt = (
        "One curve for each word that may be the right answer: the loss against the scale of the "
        f"logits. All start at log {len(logits)} at scale 0."
    )
    with panels(1, 5.6, 2.8, alt) as (axes,):
        for word in logits.argsort(descending=True).tolist():
            axes.plot(
                points(scale),
                points(losses[word]),
                color=COLOURS[word],
                linestyle=DASHES[word],
                label=_label(names[word], logits[word]),
            )
        start = math.log(len(logits))
        axes.plot(0, start, marker="o", color=INK)
        axes.annotate(f"log {len(logits)}", (0, start), xytext=(0, 20), textcoords="offset points")
        axes.set(
            title="more certain: a lower loss if right, a higher one if wrong",
            xlabel="scale of the logits",
            ylabel="loss [nats]",
            ylim=(0, None),
        )
        axes.legend(title="right answer", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Drawn((axes,), {"scale": scale, "losses": losses})


@drawing
def softmax_jacobian(softmax_backward: Function, p: Tensor) -> Drawn:
    """The derivative of each probability with respect to each score, one row per backward step.

    Args:
        softmax_backward: from p and a gradient, both (V, V), to the gradient at the scores.
        p: (V,), probabilities.
    """
    size = len(p)
    jacobian = softmax_backward(p.expand(size, size), torch.eye(size, dtype=p.dtype))
    constant = softmax_backward(p, torch.full_like(p, 3.0))  # (V,)
    limit = float(jacobian.abs().max())
    names = [f"{i}" for i in range(size)]
    alt = (
        f"Left, {size} probabilities as bars. Right, a table of {size} by {size} numbers: the "
        "derivative of each probability with respect to each score. A last row, set apart, holds "
        "the gradient at the scores if every probability has the gradient 3."
    )
    with panels(2, 7.2, 2.9, alt, width_ratios=(1, 2.2)) as (left, right):
        left.barh(range(size), points(p), color=COLOURS[0], height=0.6)
        left.set(
            title="the distribution p", xlabel="probability", ylabel="entry", yticks=range(size)
        )
        left.invert_yaxis()
        table = torch.cat([jacobian, constant[None]])
        cells(right, table, DIVERGING, 3, (-limit, limit), aspect=0.55)
        right.axhline(size - 0.5, color=INK)
        ticks(right, [*names, "all 3"], names)
        right.set(title="∂p[j] / ∂x[i]", xlabel="score i", ylabel="probability j")
    return Drawn((left, right), {"p": p, "jacobian": jacobian, "constant": constant})


@drawing
def temperature_fan(temperature: Function, logits: Tensor, names: Sequence[str]) -> Drawn:
    """Each word's probability against the temperature: from one winner to equal shares.

    Args:
        temperature: from (V,) logits and T to probabilities.
        logits: (V,).
        names: V words.
    """
    heat = torch.logspace(-1.3, 2, 67, dtype=logits.dtype)
    p = torch.stack([temperature(logits, float(T)) for T in heat])  # (67, V)
    alt = (
        "One curve for each word: its probability against the temperature, from 0.05 to 100 on a "
        "logarithmic axis."
    )
    with panels(1, 5.6, 2.8, alt) as (axes,):
        for word in logits.argsort(descending=True).tolist():
            axes.plot(
                points(heat),
                points(p[:, word]),
                color=COLOURS[word],
                linestyle=DASHES[word],
                label=_label(names[word], logits[word]),
            )
        axes.axvline(1, color=FAINT, linewidth=1)
        axes.annotate(
            "T = 1: plain softmax",
            (1, 1),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            color=INK,
        )
        axes.set(
            xscale="log",
            title="low T: one word wins; high T: equal shares",
            xlabel="temperature T",
            ylabel="probability",
            ylim=(-0.02, 1.02),
        )
        decades(axes)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Drawn((axes,), {"temperature": heat, "probabilities": p})


@drawing
def entropy_curve(temperature: Function, entropy: Function, logits: Tensor) -> Drawn:
    """The entropy of a distribution against its temperature, T = 0 included.

    Args:
        temperature: from (V,) logits and T to probabilities.
        entropy: from (..., V) probabilities to their entropy.
        logits: (V,).
    """
    heat = torch.cat([torch.zeros(1), torch.linspace(0.05, 8, 107)]).to(logits.dtype)
    nats = torch.stack([entropy(temperature(logits, float(T))) for T in heat])
    most = math.log(len(logits))
    alt = (
        "A curve: the entropy of the distribution against its temperature from 0 to 8, below a "
        f"dashed line at log {len(logits)}."
    )
    with panels(1, 7.2, 2.4, alt) as (axes,):
        axes.plot(points(heat), points(nats), color=COLOURS[0])
        axes.axhline(most, color=COLOURS[1], linestyle="--")
        axes.annotate(
            f"log {len(logits)} = {most:.3f}: equal shares",
            (8, most),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=COLOURS[1],
        )
        axes.set(
            title="how uncertain the distribution is",
            xlabel="temperature T",
            ylabel="entropy [nats]",
            ylim=(-0.05, 1.25 * most),
        )
    return Drawn((axes,), {"temperature": heat, "entropy": nats})


def _until_not_finite(axes: Axes, x: Tensor, y: Tensor, name: str, way: int) -> None:
    """Draw a curve up to its first number that is not finite, with a cross and a word there."""
    finite = torch.isfinite(y)
    end = len(y) if bool(finite.all()) else int((~finite).nonzero()[0])
    axes.plot(
        points(x[:end]),
        points(y[:end]),
        color=COLOURS[way],
        linestyle=DASHES[way],
        linewidth=2 + 1.5 * way,
        label=name,
    )
    if 0 < end < len(y):
        last = float(x[end - 1]), float(y[end - 1])
        axes.plot(*last, marker="X", markersize=10, color=COLOURS[way], linestyle="none")
        axes.annotate(
            f"{float(y[end]):g} from {float(x[end]):.0f} on",
            last,
            xytext=(0, -26),
            textcoords="offset points",
            ha="center",
            color=COLOURS[way],
        )


def _from_0_to_1_at_least(*values: Tensor) -> tuple[float, float]:
    """Limits for probabilities that also hold numbers that are none: a wrong bar is seen whole."""
    finite = torch.cat([one[torch.isfinite(one)].double() for one in values])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return min(0.0, 1.1 * low), 1.1 * high if high > 1 else 1.0


def _label(name: str, logit: Tensor) -> str:
    number = f"{float(logit):g}".replace("-", "−")
    return f"“{name}” (logit {number})"
