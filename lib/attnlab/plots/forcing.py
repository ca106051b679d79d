"""Figures about the parts of lab 2's translator: its score, inputs, targets and training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor, nn

from attnlab.data import measured_lab02
from attnlab.data.dates import BOS, EOS, PAD, SOURCE, TARGET, Batch, Pair
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    Drawn,
    cell_tips,
    cells,
    drawing,
    panels,
    points,
    ticks,
)
from attnlab.plots.heatmap import attention_cells

_SIGNS = {PAD: "PAD", BOS: "BOS", EOS: "EOS"}
_OUT_OF_BOUNDS = (
    "Your score does not stay between the dotted lines. Which part of the formula should keep it "
    "there?"
)


@drawing
def padded_table(pad_batch: Callable[..., tuple[Tensor, ...]], words: Sequence[str]) -> Drawn:
    """Words of unequal length as one table of letters, and its mask.

    Args:
        pad_batch: pads the lists of letters' numbers.
        words: in lower case.
    """
    ids, lengths, mask = pad_batch([[ord(c) - ord("a") + 1 for c in word] for word in words], 0)
    alt = f"{len(words)} words as rows of numbers, padded with 0; and the mask, dark at letters."
    with panels(2, 7.2, 0.34 * len(words) + 0.9, alt, sharey=True) as (left, right):
        cells(left, ids.double(), "Greys", 0, (0, 60))
        attention_cells(right, mask, list(words), [str(t) for t in range(ids.shape[1])], None)
        ticks(left, list(words), [str(t) for t in range(ids.shape[1])])
        left.set(title="ids (0 is padding)", xlabel="position")
        shape, count = tuple(mask.shape), int(mask.sum())
        right.set(title=f"mask {shape}, {count} True (dark)", xlabel="position", ylabel="")
        left.set_ylabel("sentence")
    return Drawn((left, right), {"ids": ids, "lengths": lengths, "mask": mask})


@drawing
def score_growth(make_score: Callable[[int, int, int], nn.Module]) -> Drawn:
    """The additive score of one position as its vector grows, compared with a dot product.

    Args:
        make_score: the class of the score, called as ``make_score(d_state, d_hidden, d_score)``.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(19)
        score = make_score(4, 4, 32)
        state, place = torch.randn(1, 4), torch.randn(1, 1, 4)
    factor = torch.linspace(0, 60, 121)
    with torch.no_grad():
        hidden = factor[None, :, None] * place  # (1, 121, 4)
        additive = score(state, hidden)[0]
        product = (hidden @ state[0])[0]
        bound = float(sum(p.abs().sum() for name, p in score.named_parameters() if name[0] == "a"))
        largest = float(additive.abs().max())
    note = _OUT_OF_BOUNDS if bound and not largest <= bound * (1 + 1e-5) else ""
    alt = (
        "Two curves against the length of a vector: the dot product is a straight line, the "
        "additive score bends and levels off between two dotted lines."
    )
    with panels(1, 6.4, 2.5, alt) as (axes,):
        for values, name, colour, dash in (
            (product, "dot product s · h", COLOURS[1], DASHES[1]),
            (additive, "additive score", COLOURS[0], DASHES[0]),
        ):
            axes.plot(points(factor), points(values), color=colour, linestyle=dash, label=name)
        axes.axhline(0, color=FAINT, linewidth=0.8)
        for side in (-bound, bound) if bound else ():
            axes.axhline(side, color=COLOURS[0], linestyle=":", linewidth=1.2)
        if bound:
            axes.annotate(
                f"Σ |a_i| = {bound:.1f}", (60, bound), xytext=(0, 4), color=COLOURS[0],
                textcoords="offset points", ha="right",
            )  # fmt: skip
        limit = 1.6 * max(bound, largest)
        axes.set(
            title="This score leaves its bounds" if note else "tanh keeps a score within bounds",
            xlabel="length of h (1: original length)",
            ylabel="score",
            ylim=(-limit, limit),
        )
        axes.legend()
    return Drawn((axes,), {"factor": factor, "additive": additive, "product": product}, note=note)


@drawing
def one_step(make: Callable[[], Any], humans: Sequence[str]) -> Drawn:
    """Where an untrained decoder looks in its first step: a row of cells for each of some dates.

    Args:
        make: makes a translator, not yet trained.
        humans: dates as people write them.
    """
    source = source_rows(humans)
    mask = source != PAD
    with torch.no_grad():
        model = make()
        hidden, state = model.encode(source, mask)
        _, _, weights = model.cell(torch.full((len(humans),), BOS), state, hidden, mask)
    alt = (
        "A row of cells for each of some dates, the attention weights of one step: nearly equal at "
        "its letters, and 0 at padding, which is hatched."
    )
    places = [str(place) for place in range(weights.shape[1])]
    with panels(1, 7.2, 0.5 * len(humans) + 0.9, alt) as (axes,):
        attention_cells(axes, weights, [f"“{human}”" for human in humans], places, None)
        axes.set_aspect("auto")
        axes.images[0].set_clim(0, 1.5 * float(weights.max()))
        for row, human in enumerate(humans):
            start, end = len(human) - 0.5, weights.shape[1] - 0.5
            axes.add_patch(
                Rectangle((start, row - 0.5), end - start, 1, fill=False, hatch="///",
                          edgecolor=FAINT, linewidth=0)
            )  # fmt: skip
        for label in axes.get_xticklabels():
            label.set(fontsize=8)
        axes.set(
            title="weights of one step before any training (hatched: padding)",
            xlabel="position in the source",
            ylabel="",
        )
    return Drawn((axes,), {"weights": weights})


@drawing
def fed_and_asked(loss_of: Callable[[Any, Batch], Tensor], pairs: Sequence[Pair]) -> Drawn:
    """The symbol that a loss feeds to the decoder at each step, and the step's target.

    This works for any loss: the model is replaced by one that records its inputs, and the gradient
    of its logits shows the targets.

    Args:
        loss_of: a loss of a model and a batch: `teacher_forced_loss`.
        pairs: some dates; only their ISO forms are used.
    """
    batch = batch_for_figures(pairs)
    recorder = _Recorder()
    loss_of(recorder, batch).backward()
    fed = torch.stack(recorder.fed, 1)  # (B, steps)
    grads = [torch.zeros_like(x) if x.grad is None else x.grad for x in recorder.logits]
    grad = torch.stack(grads, 1)  # (B, steps, V)
    asked = grad.argmin(-1).where(grad.abs().sum(-1) > 0, -1)  # (B, steps)
    alt = "For each of some dates two rows of symbols: the input and the target of every step."
    with panels(len(pairs), 3.9 * len(pairs), 1.5, alt) as axes:
        for panel, pair, row, wanted in zip(axes, pairs, fed.tolist(), asked.tolist(), strict=True):
            _two_rows(panel, row, wanted)
            panel.set_title(f"“{pair.human}”")
    return Drawn(axes, {"fed": fed, "asked": asked})


@drawing
def training_curve(model: Any, losses: Tensor, *functions: Callable[..., Any]) -> Drawn:
    """The loss of every step of training; and the loss of each symbol in its first steps.

    The second panel shows the lab's own training (see `attnlab.data.measured_lab02`).

    Args:
        model: the trained model; None gives a notice.
        losses: in nats, one for each step of the training.
        functions: those that trained it; a line below says whose steps are not right yet.
    """
    uniform = math.log(len(TARGET))
    width = max(1, len(losses) // 60)
    kernel = torch.ones(1, 1, width, dtype=torch.float64) / width
    smooth = nn.functional.conv1d(losses.double()[None, None], kernel)[0, 0]
    alt = (
        f"Left, the loss against the step, a curve from {float(smooth[0]):.2f} to "
        f"{float(smooth[-1]):.2f}; a model that knows nothing has {uniform:.2f}. "
        "Right, a table of the loss of each symbol of a date in the first 400 steps: the first "
        "dash, the end and the century fall at about 100 steps, the year at 200, month and day "
        "at 300."
    )
    symbols = measured_lab02.learning_order()
    with panels(2, 7.4, 2.8, alt, width_ratios=(1.15, 1)) as (axes, right):
        _loss_of_symbols(right, symbols)
        axes.plot(points(losses), color=COLOURS[5], linewidth=0.7)
        steps = torch.arange(len(smooth)) + width // 2
        axes.plot(points(steps), points(smooth), color=COLOURS[0])
        axes.axhline(uniform, color=COLOURS[1], linestyle="--")
        axes.annotate(
            f"log {len(TARGET)} = {uniform:.2f}: all symbols equally likely",
            (len(losses), uniform),
            xytext=(0, -4),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=8.5,
            color=COLOURS[1],
        )
        axes.set(
            title="your training", xlabel="step", ylabel="loss [nats]", ylim=(0, 1.1 * uniform)
        )
    return Drawn((axes, right), {"losses": losses, "symbols": symbols})


def _loss_of_symbols(axes: Axes, losses: Tensor) -> None:
    """Draw a table with a row for each symbol and a column every 20 steps."""
    shades = losses.T  # (11, 21)
    axes.imshow(points(shades), cmap="Purples", vmin=0, aspect="auto", interpolation="none")
    names = ["y", "y", "y", "y", "-", "m", "m", "-", "d", "d", "end"]
    ticks(axes, names, ["" for _ in range(shades.shape[1])])
    shown = range(0, shades.shape[1], 5)
    axes.set_xticks(list(shown), [str(column * measured_lab02.EVERY) for column in shown])
    axes.grid(False)
    axes.tick_params(length=0)
    cell_tips(
        axes,
        [
            [f"symbol {row + 1}, step {c * measured_lab02.EVERY}: {x:.2f}" for c, x in enumerate(r)]
            for row, r in enumerate(shades.tolist())
        ],
    )
    axes.set(title="loss of each symbol (dark: high)", xlabel="step", ylabel="symbol")


class _Recorder:
    """Replaces a model: records its inputs, and returns logits that get gradients."""

    def __init__(self) -> None:
        self.fed: list[Tensor] = []
        self.logits: list[Tensor] = []
        self.cell = self._step

    def encode(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return torch.zeros(len(source), source.shape[1], 1), torch.zeros(len(source), 1)

    def _step(self, y_prev: Tensor, state: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.fed.append(y_prev.clone())
        self.logits.append(torch.zeros(len(y_prev), len(TARGET), requires_grad=True))
        return self.logits[-1], state, torch.zeros(len(y_prev), 1)


def batch_for_figures(pairs: Sequence[Pair]) -> Batch:
    """Pairs as one batch, without the student's `pad_batch`, which is another step's.

    No function here returns what `pad_batch` does: it would be an answer to that step.
    """
    source = source_rows([pair.human for pair in pairs])
    target = _rows([TARGET.encode(pair.iso, ends=True) for pair in pairs])
    return Batch(source, source != PAD, target, target != PAD)


def source_rows(humans: Sequence[str]) -> Tensor:
    """The symbols of dates as people write them, (B, T), padded with PAD."""
    return _rows([SOURCE.encode(human) for human in humans])


def _rows(sequences: Sequence[Sequence[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(one) for one in sequences], True, PAD)


def _two_rows(axes: Axes, fed: Sequence[int], asked: Sequence[int]) -> None:
    for step, (given, wanted) in enumerate(zip(fed, asked, strict=True)):
        for height, number, colour in ((1, given, INK), (0, wanted, COLOURS[0])):
            sign = "–" if number < 0 else _SIGNS.get(number) or TARGET.decode([number])
            pale = number == PAD or sign == "–"
            axes.text(
                step,
                height,
                sign,
                ha="center",
                va="center",
                color=FAINT if pale else colour,
                fontsize=7 if len(sign) > 1 else 10,
                rotation=90 if len(sign) > 1 else 0,
            )
    axes.set(xlim=(-0.7, len(fed) - 0.3), ylim=(-0.6, 1.6), xlabel="step")
    axes.set_xticks(range(len(fed)))
    axes.set_yticks([1, 0], ["fed", "target"])
    axes.grid(False)
    axes.tick_params(length=0, labelsize=8.5)
