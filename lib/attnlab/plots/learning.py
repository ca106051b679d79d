"""Figures about training an encoder–decoder: its losses, and what a low loss can hide."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.models.small_transformers import (
    TASKS,
    share_right,
    small_transformer,
    train_on,
    without_a_mask,
    without_positions,
)
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    NOTHING_TO_DRAW,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
)

_STEPS = 400  # of the two models with a part missing
_NEW = 200  # pairs on which a model is tried
_LOWEST = 1e-4  # nats; what is below is drawn there


@drawing
def losses(runs: Mapping[str, Tensor]) -> Drawn:
    """The loss of every step, on a scale of powers of ten.

    Args:
        runs: (steps,), in nats, by the name of the task; runs without steps are left out.
    """
    shown = {name: losses for name, losses in runs.items() if len(losses)}
    if not shown:
        return Drawn((), {}, "No picture yet: nothing has been trained.")
    ends = "; ".join(f"{name} ends at {_end(run):.4f}" for name, run in shown.items())
    with panels(1, 6.6, 2.9, f"The loss against the step, falling: {ends}.") as (axes,):
        for (name, run), colour, dash in zip(shown.items(), COLOURS, DASHES, strict=False):
            symbols = TASKS[name].cfg.target_vocab
            label = f"{name}: from {float(run[0]):.1f} (log {symbols} = {math.log(symbols):.1f})"
            _curve(axes, run, label, colour, dash)
        axes.legend()
        axes.set(title="your training", xlabel="step", ylabel="loss [nats]")
    return Drawn((axes,), shown)


@drawing
def right_answers(models: Mapping[str, Any], greedy_decode: Callable[..., Tensor]) -> Drawn:
    """How many new pairs each model writes without a mistake, a line of text for each.

    Args:
        models: by the name of the task; None for one that was not trained.
        greedy_decode: decodes with them.
    """
    shares = {
        name: share_right(greedy_decode, model, TASKS[name].unseen(500, 2, "validation"))
        for name, model in models.items()
        if model is not None
    }
    if not shares:
        return Drawn((), {}, NOTHING_TO_DRAW)
    lines = [f"{name:8} {share:6.1%} of 500 new pairs" for name, share in shares.items()]
    data = {name: torch.tensor(share) for name, share in shares.items()}
    return Drawn((), data, note="\n".join(lines))


@drawing
@not_while_grading
def two_parts_missing(
    model: Any,
    copy_losses: Tensor,
    transformer: Callable[..., nn.Module],
    init_weights: Callable[[nn.Module], None],
    train: Callable[..., list[float]],
    make_batch: Callable[..., Any],
    greedy_decode: Callable[..., Tensor],
) -> Drawn:
    """Three copying models: the student's, one without a causal mask, and one without positions.

    The last two are trained here, for 400 steps.

    Args:
        model: the trained one.
        copy_losses: (steps,), the losses of its training.
        transformer: the class of the models.
        init_weights: draws their first weights.
        train: `train_transformer`.
        make_batch: makes their batches.
        greedy_decode: decodes with them.
    """
    runs = {"yours": copy_losses}
    new = TASKS["copy"].unseen(_NEW, 3, "validation")
    written = {"yours": share_right(greedy_decode, model, new)}
    for name, change in (
        ("without a causal mask", without_a_mask),
        ("without positions", without_positions),
    ):
        other = change(small_transformer("copy", transformer, init_weights))
        runs[name] = torch.tensor(train_on("copy", other, train, make_batch, steps=_STEPS))
        written[name] = share_right(greedy_decode, other, new)
    lines = [
        f"{name:22}  loss at the end {_end(run):.4f},  copied by itself {written[name]:.1%}"
        for name, run in runs.items()
    ]
    with panels(1, 6.6, 2.9, f"Three losses against the step. {'; '.join(lines)}.") as (axes,):
        for (name, run), colour, dash in zip(runs.items(), COLOURS, DASHES, strict=False):
            _curve(axes, run, f"{name}: copies {written[name]:.0%}", colour, dash)
        axes.legend()
        axes.set(title="a low loss is not enough", xlabel="step", ylabel="loss [nats]")
    return Drawn((axes,), runs, note="\n".join(lines))


def _end(run: Tensor) -> float:
    return run[-50:].mean().item()


def _curve(axes: Any, run: Tensor, label: str, colour: str, dash: Any) -> None:
    """One run, smoothed over a sixtieth of its steps."""
    width = max(1, len(run) // 60)
    kernel = torch.ones(1, 1, width, dtype=torch.float64) / width
    smooth = nn.functional.conv1d(run.double()[None, None], kernel)[0, 0].clamp(min=_LOWEST)
    steps = torch.arange(len(smooth)) + width // 2
    axes.semilogy(points(steps), points(smooth), color=colour, linestyle=dash, label=label)
