"""Figures of trainings: their losses and learning rates, and what several ways to train cost."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    HATCHES,
    PAPER,
    Drawn,
    drawing,
    panels,
    points,
    tip,
)
from attnlab.training_log import CSV

if TYPE_CHECKING:
    from attnlab.models.number_words import Trained

# Of each number in `ways`: digits after the point, and its unit.
DIGITS = {"tokens/s": 0, "memory": 0, "loss": 4, "exact match": 1, "BLEU": 1}
UNITS = {
    "tokens/s": "of the loss",
    "memory": "MiB per process",
    "loss": "nats",
    "exact match": "%",
    "BLEU": "of 100",
}


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


@drawing
def ways(
    found: Sequence[Trained], corpus_bleu: Callable[[list[list[str]], list[list[list[str]]]], float]
) -> Drawn:
    """The same training in several ways: speed, memory, and how good the model is.

    Args:
        found: the trainings.
        corpus_bleu: called with hypotheses and references.
    """
    names = [one.run.name for one in found]
    data = {
        "tokens/s": [one.run.tokens_per_second for one in found],
        "memory": [one.run.memory / 2**20 for one in found],
        "loss": [one.run.loss for one in found],
        "exact match": [100 * one.run.exact_match for one in found],
        "BLEU": [corpus_bleu(one.hypotheses, one.references) for one in found],
    }
    shown = {title: [f"{value:,.{DIGITS[title]}f}" for value in row] for title, row in data.items()}
    alt = "The same training in several ways. " + "; ".join(
        f"{title}: " + ", ".join(map(" ".join, zip(names, texts, strict=True)))
        for title, texts in shown.items()
    )
    with panels(len(data), 7.4, 0.42 * len(names) + 0.7, f"{alt}.") as axes:
        for panel, (title, row) in zip(axes, data.items(), strict=True):
            for place, (name, value) in enumerate(zip(names, row, strict=True)):
                (bar,) = panel.barh(
                    place, value, 0.7, color=COLOURS[place % 6], hatch=HATCHES[place % 3],
                    edgecolor=PAPER, alpha=0.6,
                )  # fmt: skip
                tip(bar, f"{name}: {title} {shown[title][place]}")
                panel.annotate(
                    shown[title][place], (0, place), (4, 0), textcoords="offset points",
                    va="center", fontsize=9,
                )  # fmt: skip
            panel.set(title=title, xlabel=UNITS[title], ylim=(len(names) - 0.4, -0.6))
            panel.set_xlim(0, 1.05 * max(*row, 1e-9))
            panel.set_yticks(range(len(names)), names if panel is axes[0] else [])
            panel.set_xticks([])
            panel.tick_params(left=False)  # a tick in front of a number looks like a minus
            panel.grid(False)
    return Drawn(axes, {title: torch.tensor(row) for title, row in data.items()})


def _columns(path: Path) -> dict[str, Tensor]:
    """Columns of a log, float64; NaN where a number was not measured."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        key: torch.tensor([float(row[key] or "nan") for row in rows], dtype=torch.float64)
        for key in ("step", "loss", "validation_loss", "lr")
    }
