"""The figure of lab 10's prompts: accuracy after 0 to 5 examples, and the best that is possible.

Tested in tests/attnlab/plots/test_lab10_figures.py.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.data.mappings import (
    DIGITS,
    NAMES,
    NUM_TABLES,
    UNNAMED,
    best_accuracy,
    course_tables,
    new_tables,
)
from attnlab.gpt import GPT
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
    tip,
)

MAX_SHOTS = 5
_NEW = 16  # tables never seen


@drawing
@not_while_grading
def accuracy_by_examples(shots_curve: Callable[..., Tensor], model: GPT) -> Drawn:
    """Three lines: tables with their names, the same ones without, and tables never seen.

    Args:
        shots_curve: measures each line.
        model: the tiny GPT of :mod:`attnlab.models.reads_examples`.
    """
    known, unseen = course_tables(), new_tables(_NEW)
    nameless, named = torch.full((NUM_TABLES,), UNNAMED), torch.tensor(list(NAMES))
    choices, shots = torch.tensor(list(DIGITS)), torch.arange(MAX_SHOTS + 1)
    lines = (
        ("sixteen known tables, with the name", known, named, torch.ones(MAX_SHOTS + 1)),
        ("the same without the name", known, nameless, _ceiling(known)),
        # Of a new table, the digits that were shown are not the answer, and that is all.
        ("tables never seen", unseen, nameless, 1 / (len(DIGITS) - shots)),
    )
    data: dict[str, Tensor] = {"shots": shots}
    alt = "Accuracy against the number of examples, 0 to 5. "
    for number, (name, tables, names, ceiling) in enumerate(lines):
        generator = torch.Generator().manual_seed(number)
        found = shots_curve(model, tables, names, choices, MAX_SHOTS, generator=generator)
        data[name], data[f"best, {name}"] = torch.as_tensor(found), ceiling
        alt += f"{name}: " + ", ".join(f"{share:.2f}" for share in data[name].tolist()) + ". "
    with panels(1, 6.4, 3.4, alt + "A dotted line above each is the best possible.") as (axes,):
        for (name, *_, ceiling), colour, dash in zip(lines, COLOURS, DASHES, strict=False):
            axes.plot(points(shots), points(ceiling), color=colour, linestyle=":", linewidth=1.2)
            axes.plot(
                points(shots), points(data[name]), color=colour, linestyle=dash, marker="o",
                markersize=4, label=name,
            )  # fmt: skip
            for x, y, best in zip(*(v.tolist() for v in (shots, data[name], ceiling)), strict=True):
                dot = axes.scatter([x], [y], s=60, color=colour, alpha=0.01)
                tip(dot, f"{name}, {x} examples: {y:.2f}; at best {best:.2f}")
        axes.plot([], [], color=FAINT, linestyle=":", linewidth=1.2, label="the best possible")
        axes.set(
            xlabel="examples in the prompt", ylabel="right answers", ylim=(0, 1.04),
            title="no weight changes from left to right",
        )  # fmt: skip
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.42))
        axes.xaxis.label.set_color(INK)
    return Drawn((axes,), data)


def _ceiling(tables: Tensor) -> Tensor:
    """(6,): the best possible accuracy after 0 to 5 examples of one of these tables."""
    return torch.tensor([best_accuracy(tables, shots) for shots in range(MAX_SHOTS + 1)])
