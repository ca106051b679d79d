"""Figures about masks: allowed and forbidden keys, and the loss of a model with a leak."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from torch import Tensor, nn

from attnlab.data.apples import attention_scores
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    ON_DARK,
    ON_LIGHT,
    SHADE,
    Drawn,
    drawing,
    panels,
    points,
)
from attnlab.plots.heatmap import attention_cells, attention_maps

WORDS = ("I", "am", "a", "student")
PAD = "pad"  # the label of padding
SENTENCE, SOURCE = ("I", "am", "here", PAD), ("je", "suis", "ici", PAD, PAD)
SCORES = (100.0, 0.0, -8.0, -15.0, -16.0, -24.0, -100.0)
HALF_AND_FULL = (torch.float16, torch.bfloat16, torch.float32)
STEPS_PER_POINT = 10  # training steps in the mean of each point of a curve

Mask = Callable[..., Tensor]


@drawing
def causal_masks(causal_mask: Mask, words: Sequence[str], new: int = 2) -> Drawn:
    """The causal mask of a sentence, and that of its last words if the others are in a cache.

    Args:
        causal_mask: called as ``causal_mask(Lq)`` and ``causal_mask(Lq, Lk)``.
        words: the sentence.
        new: the number of words that are queries in the second panel.
    """
    whole, cached = causal_mask(len(words)), causal_mask(new, len(words))
    alt = (
        f"Two tables, dark where a query may attend: a triangle of {len(words)} words, and "
        f"{new} queries with {len(words)} keys."
    )
    with panels(2, 5.6, 2.0, alt, gridspec_kw={"wspace": 0.5}) as (left, right):
        attention_cells(left, whole, words, words, digits=None)
        attention_cells(right, cached, words[-new:], words, digits=None)
        left.set_title(f"all {len(words)} words are queries")
        right.set(title=f"{new} are queries, with a cache", ylabel="")
        for panel, mask in ((left, whole), (right, cached)):
            grid(panel, mask)
    return Drawn((left, right), {"whole": whole, "cached": cached})


@drawing
def five_masks(causal_mask: Mask, padding_mask: Mask, combine: Mask) -> Drawn:
    """The five masks of a Transformer side by side: dark cells are allowed.

    Args:
        causal_mask: called as ``causal_mask(Lq, Lk)``.
        padding_mask: called as ``padding_mask(ids, pad)``.
        combine: called as ``combine(mask, mask)``.
    """
    own, source = (torch.tensor([[w != PAD for w in s]]).long() for s in (SENTENCE, SOURCE))
    causal = causal_mask(4)
    padding, cross = padding_mask(own, 0)[0, 0], padding_mask(source, 0)[0, 0]  # (1, Lk)
    both = combine(causal, padding)
    tables = {
        "causal": (causal, WORDS, WORDS),
        "with a cache": (causal_mask(2, 4), WORDS[2:], WORDS),
        "padding": (padding.expand(4, -1), SENTENCE, SENTENCE),
        "both": (both, SENTENCE, SENTENCE),
        "cross, padding": (cross.expand(4, -1), SENTENCE, SOURCE),
    }
    gaps = {"width_ratios": [4, 4, 4, 4, 5], "wspace": 0.8}
    alt = (
        "Five tables of queries by keys, dark where a query may attend: a triangle; its last two "
        "rows; all columns but padding; triangle and padding together; a source's words but not "
        "its padding."
    )
    with panels(5, 8.6, 2.1, alt, gridspec_kw=gaps) as axes:
        for panel, (title, (mask, queries, keys)) in zip(axes, tables.items(), strict=True):
            attention_cells(panel, mask, queries, keys, digits=None)
            grid(panel, mask)
            panel.set_title(title, fontsize=9.5)
            panel.set_ylabel("queries" if panel is axes[0] else "")
            panel.tick_params(labelsize=8, labelrotation=0)
            for label in panel.get_xticklabels():
                label.set(rotation=90, ha="center", va="top", rotation_mode="default")
    return Drawn(axes, {title: table[0] for title, table in tables.items()})


@drawing
def lecture_table(causal_mask: Mask, to_additive: Mask, words: Sequence[str] = WORDS) -> Drawn:
    """Lecture N's steps from scores to weights in four tables: scores, mask, their sum, softmax.

    Args:
        causal_mask: called as ``causal_mask(4)``.
        to_additive: called as ``to_additive(mask, dtype)``.
        words: four names for the rows and columns.
    """
    scores = attention_scores()
    bias = to_additive(causal_mask(len(words)), scores.dtype)
    masked = scores + bias
    weights = torch.softmax(masked, -1)
    tables = {
        "scores": scores,
        "+ mask": bias,
        "= masked scores": masked,
        "softmax: weights": weights,
    }
    alt = (
        "Four tables of 4 by 4 numbers: the scores; the mask, 0 on and below the diagonal and "
        "minus infinity above it; their sum; and its softmax, with zeros above the diagonal."
    )
    with panels(4, 8.1, 2.3, alt, sharey=True) as axes:
        for panel, (title, table) in zip(axes, tables.items(), strict=True):
            _numbers(panel, table, words, digits=2 if table is weights else 1)
            panel.set(title=title, ylabel="queries" if panel is axes[0] else "")
    return Drawn(axes, tables)


@drawing
def forbidden_rows(to_additive: Mask, scores: Sequence[float] = SCORES) -> Drawn:
    """The weights of a row of four forbidden keys, by dtype and by the score that all four have.

    Args:
        to_additive: called as ``to_additive(mask, dtype)``.
        scores: one column for each.
    """
    nothing = torch.zeros(4, dtype=torch.bool)
    rows = []
    for dtype in HALF_AND_FULL:
        masked = [torch.full((4,), s, dtype=dtype) + to_additive(nothing, dtype) for s in scores]
        rows.append(torch.stack([torch.softmax(row, -1)[0].double() for row in masked]))
    table = torch.stack(rows)  # (3, S)
    names = [str(dtype).removeprefix("torch.") for dtype in HALF_AND_FULL]
    columns = [f"{score:g}".replace("-", "−") for score in scores]
    alt = "The weight of each of four forbidden keys with equal scores."
    for name, row in zip(names, table, strict=True):
        lost = [c for c, missing in zip(columns, row.isnan().tolist(), strict=True) if missing]
        alt += f" {name}: NaN for the scores {', '.join(lost)}." if lost else f" {name}: no NaN."
    with panels(1, 5.2, 1.5, alt) as (axes,):
        attention_cells(axes, table, names, columns)
        axes.set_title("each weight of four forbidden keys")
        axes.set(xlabel="the score of all four, before the mask is added", ylabel="dtype")
    return Drawn((axes,), {"weights": table})


@drawing
def rows_without_keys(
    causal_mask: Mask, padding_mask: Mask, combine: Mask, safe_softmax: Mask
) -> Drawn:
    """Two words with padding in front, whose first two queries see no key, in three versions.

    Args:
        causal_mask: called as ``causal_mask(4)``.
        padding_mask: called as ``padding_mask(ids, pad)``.
        combine: called as ``combine(mask, mask)``.
        safe_softmax: called as ``safe_softmax(scores, mask)``.
    """
    words = (PAD, PAD, "I", "am")
    ids = torch.tensor([[0, 0, 5, 6]])
    mask = combine(causal_mask(4), padding_mask(ids, 0))[0, 0]  # (4, 4)
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    tables = {
        "−∞": torch.softmax(scores.masked_fill(~mask, -torch.inf), -1),
        "−1e6": torch.softmax(scores.masked_fill(~mask, -1e6), -1),
        "safe_softmax": safe_softmax(scores, mask),
    }
    return attention_maps(tables, words, words)


@drawing
def converted_mask(causal_mask: Mask, to_mha_mask: Mask, words: Sequence[str]) -> Drawn:
    """The attention of torch's own module, with a converted mask and with one left as it is.

    Args:
        causal_mask: called as ``causal_mask(T)``.
        to_mha_mask: called as ``to_mha_mask(mask, num_heads)``.
        words: T names.
    """
    mask = causal_mask(len(words))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        module = nn.MultiheadAttention(8, 2, batch_first=True)
        x = torch.randn(1, len(words), 8)

    def attended(given: Tensor) -> Tensor:
        return module(x, x, x, attn_mask=given)[1][0].detach()

    tables = {
        "converted": attended(to_mha_mask(mask, 2)),
        "handed over as it is": attended(mask),
    }
    return attention_maps(tables, words, words)


@drawing
def loss_curves(
    curves: Mapping[str, Tensor],
    entropies: Sequence[float],
    *functions: Callable[..., Any],
    tolerance: float = 0.05,
) -> Drawn:
    """Training losses, and the entropies of the next symbol if 0, 1 and 2 symbols are known.

    Args:
        curves: by name, the loss of each training step; empty if the model was not trained.
        entropies: of the next symbol in nats, if none, one and two before it are known.
        functions: those behind the trainings; a line below says whose steps are not right yet.
        tolerance: how far below the lowest entropy a loss may be by luck, in nats.
    """
    trained = {name: smooth(curve) for name, curve in curves.items() if len(curve)}
    if not trained:
        return Drawn((), {}, "No picture yet: no model has been trained.")
    alt = (
        "The training loss against the step for each model: "
        + ", ".join(f"{name} ends at {float(curve[-1]):.2f}" for name, curve in trained.items())
        + f"; a line at the entropy of the source, {entropies[-1]:.3f}."
    )
    with panels(1, 6.9, 3.2, alt) as (axes,):
        _floors(axes, entropies, tolerance)
        for number, (name, curve) in enumerate(trained.items()):
            steps = (torch.arange(len(curve)) + 0.5) * STEPS_PER_POINT
            axes.plot(
                points(steps),
                points(curve),
                color=COLOURS[number],
                linestyle=DASHES[number],
                label=name,
            )
        axes.set(
            title="three masks, one source",
            xlabel="training step",
            ylabel="training loss [nats]",
            ylim=(-0.06, 2.3),
            xlim=(0, max(map(len, trained.values())) * STEPS_PER_POINT),
        )
        axes.legend(title="each position sees", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Drawn((axes,), dict(trained))


def lab05_preview() -> Drawn:
    """The last figures of lab 5: a mask on a table of scores, and an impossible loss."""
    scores = attention_scores()
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), -1)
    curves = {name: torch.tensor(curve) for name, curve in _RECORDED.items()}
    alt = (
        "Left, a table of attention weights with zeros above the diagonal. Right, two training "
        "losses: one stays above a line at 1.373, the other falls below it to 0."
    )
    with panels(2, 7.2, 2.8, alt, width_ratios=(1, 1.5)) as (left, right):
        attention_cells(left, weights, WORDS, WORDS)
        left.set(title="no word sees a later one")
        _floors(right, (1.373,), 0.05)
        for number, (name, curve) in enumerate(curves.items()):
            steps = 5 + 20 * torch.arange(len(curve))
            right.plot(
                points(steps), points(curve), color=COLOURS[number], linestyle=DASHES[number]
            )
            place = (125, 1.62) if number == 0 else (175, 0.1)
            right.text(*place, name, color=COLOURS[number], fontsize=9)
        right.set(
            title="one of these losses is too good",
            xlabel="training step",
            ylabel="loss [nats]",
            xlim=(0, 400),
            ylim=(-0.06, 2.3),
        )
    return Drawn((left, right), {"weights": weights, **curves})


def smooth(losses: Tensor) -> Tensor:
    """Means over ten steps each, (n // 10,); the remainder at the end is dropped."""
    whole = len(losses) // STEPS_PER_POINT * STEPS_PER_POINT
    return losses[:whole].reshape(-1, STEPS_PER_POINT).mean(-1)


# Training losses of the lab's own solution: means over the first ten of every twenty steps.
_RECORDED = {
    "a mask that hides the future": [
        2.150, 2.030, 1.956, 1.932, 1.903, 1.813, 1.584, 1.516, 1.477, 1.440,
        1.450, 1.439, 1.442, 1.411, 1.397, 1.419, 1.413, 1.382, 1.378, 1.380,
    ],
    "a mask off by one": [
        2.141, 2.000, 1.787, 0.731, 0.015, 0.003, 0.002, 0.001, 0.001, 0.001,
        0.001, 0.001, 0.001, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000,
    ],
}  # fmt: skip


def _floors(axes: Axes, entropies: Sequence[float], tolerance: float) -> None:
    """Draw lines at the entropies, and shade the impossible losses below the last one."""
    known = ["nothing known", "one symbol known", "two known: the floor"]
    if len(entropies) == 1:
        known = ["entropy of the source"]
    for number, (entropy, label) in enumerate(zip(entropies, known, strict=True)):
        last, above = entropy == entropies[-1], number == 0 and len(entropies) > 1
        axes.axhline(entropy, color=INK if last else FAINT, linewidth=1.4 if last else 1)
        axes.annotate(
            f"{label}, {entropy:.3f}",
            (1, entropy),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 2 if above else -3),
            textcoords="offset points",
            ha="right",
            va="bottom" if above else "top",
            fontsize=8.5,
            color=INK,
        )
    axes.axhspan(-1, entropies[-1] - tolerance, color=SHADE, zorder=0)
    axes.annotate(
        "impossible without\nseeing the answer",
        (1, entropies[-1] / 2),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8.5,
        color=INK,
    )


def grid(axes: Axes, table: Tensor) -> None:
    """Draw thin lines between the cells."""
    rows, columns = table.shape
    for edge in range(1, rows):
        axes.axhline(edge - 0.5, color="#C9C9C9", linewidth=0.6)
    for edge in range(1, columns):
        axes.axvline(edge - 0.5, color="#C9C9C9", linewidth=0.6)
    axes.grid(False)


def _numbers(axes: Axes, table: Tensor, words: Sequence[str], digits: int) -> None:
    """Draw a table of numbers, which may contain −∞."""
    attention_cells(axes, table.clamp(min=0), words, words, None)
    grid(axes, table)
    for row, entries in enumerate(table.tolist()):
        for column, value in enumerate(entries):
            colour = ON_DARK if value > 0.55 else ON_LIGHT
            text = _number(value, digits)
            size = 8 if len(text) < 6 else 6
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)


def _number(value: float, digits: int) -> str:
    """A number that fits into a cell: 0.25, −∞, −1e9."""
    if value == 0:
        return "0"
    if value != value or abs(value) == torch.inf:
        return {torch.inf: "∞", -torch.inf: "−∞"}.get(value, "NaN")
    if abs(value) < 100:
        return f"{value:.{digits}f}"
    power = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return power.replace("-", "−")
