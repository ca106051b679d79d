"""A figure about the mean of several checkpoints: its loss beside that of each checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from attnlab.models.next_word import Weights, checkpoints, validation_loss
from attnlab.plots.canvas import (
    COLOURS,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
    tip,
)

_EVERY = 15  # updates from one checkpoint to the next


@drawing
@not_while_grading
def loss_of_the_mean(
    average_checkpoints: Callable[[Sequence[Weights]], Weights], k: int = 5, steps: int = 600
) -> Drawn:
    """The validation loss of each checkpoint of a small model, and of the mean of the last k.

    Args:
        average_checkpoints: makes the means.
        k: how many checkpoints are in a mean, or all while there are fewer.
        steps: of the training, which takes about a second.
    """
    loss_of = validation_loss()
    kept: list[Weights] = []
    single, mean = [], []
    for weights in checkpoints(steps, _EVERY):
        kept.append(weights)
        single.append(loss_of(weights))
        mean.append(loss_of(average_checkpoints(kept[-k:])))
    data = {"each checkpoint": torch.tensor(single), f"mean of the last {k}": torch.tensor(mean)}
    updates = _EVERY * torch.arange(len(single))
    ends = ", ".join(f"{name} {losses[-1]:.3f}" for name, losses in data.items())
    alt = f"The validation loss against the number of updates; at the end: {ends} nats per word."
    with panels(1, 6.6, 2.9, alt) as (axes,):
        for (name, losses), colour, width in zip(data.items(), COLOURS, (1.0, 2.5), strict=False):
            label = f"{name}: {losses[-1]:.3f} at the end"
            axes.plot(points(updates), points(losses), color=colour, linewidth=width, label=label)
            for update, loss in zip(updates.tolist(), losses.tolist(), strict=True):
                (dot,) = axes.plot(update, loss, "o", color=colour, markersize=2 * width)
                tip(dot, f"{name}, update {update}: {loss:.3f} nats")
        lowest = float(torch.stack(list(data.values())).min())
        axes.set(title="validation loss", xlabel="update", ylabel="nats per word")
        axes.set_ylim(lowest - 0.03, lowest + 0.47)
        axes.legend()
    return Drawn((axes,), data)
