"""A figure of trainings: their losses and learning rates, from the logs that the Trainer writes."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from attnlab.plots.canvas import COLOURS, DASHES, Drawn, drawing, panels, points
from attnlab.training_log import CSV


@drawing
def logs(folders: Mapping[str, str | Path]) -> Drawn:
    """The loss of each training, with dots where it was validated, and its learning rate.

    Args:
        folders: for each name, the folder of a Trainer.
    """
    columns = {name: _columns(Path(folder) / CSV) for name, folder in folders.items()}
    alt = (
        f"Left, the loss of {len(columns)} trainings against the number of updates: a line for the "
        "training data and dots for the validation data. Right, the learning rate."
    )
    with panels(2, 7.6, 3.0, alt) as (left, right):
        for number, (name, values) in enumerate(columns.items()):
            colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
            step = points(values["step"])
            left.plot(step, points(values["loss"]), color=colour, linestyle=dashes, label=name)
            left.plot(step, points(values["validation_loss"]), "o", color=colour, markersize=4)
            right.plot(step, points(values["lr"]), color=colour, linestyle=dashes, label=name)
        left.set(title="loss, in nats per token", xlabel="update", ylim=(0, None))
        right.set(title="learning rate", xlabel="update", ylim=(0, None))
        left.legend()
    data = {f"{key}, {name}": x for name, values in columns.items() for key, x in values.items()}
    return Drawn((left, right), data)


def _columns(path: Path) -> dict[str, Tensor]:
    """Columns of a log, float64; NaN where a number was not measured."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        key: torch.tensor([float(row[key] or "nan") for row in rows], dtype=torch.float64)
        for key in ("step", "loss", "validation_loss", "lr")
    }
