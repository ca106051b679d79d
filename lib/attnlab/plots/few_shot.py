"""The figure of lab 10's prompts: accuracy after 0 to 5 examples, and the best that is possible."""

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
    nameless = torch.full((NUM_TABLES,), UNNAMED)
    choices = torch.tensor(list(DIGITS))
    lines = {
        "sixteen known tables, with the name": (known, torch.tensor(list(NAMES)), 1.0),
        "the same without the name": (known, nameless, known),
        "tables never seen": (unseen, nameless, None),
    }
    shots = torch.arange(MAX_SHOTS + 1)
    data: dict[str, Tensor] = {"shots": shots}
    alt = "Accuracy against the number of examples, 0 to 5. "
    for number, (name, (tables, names, _)) in enumerate(lines.items()):
        generator = torch.Generator().manual_seed(number)
        found = torch.as_tensor(
            shots_curve(model, tables, names, choices, MAX_SHOTS, generator=generator)
        )
        data[name] = found
        alt += f"{name}: " + ", ".join(f"{share:.2f}" for share in found.tolist()) + ". "
    ceilings = {name: _ceiling(best) for name, (_, _, best) in lines.items()}
    with panels(1, 6.4, 3.4, alt + "A dotted line above each is the best possible.") as (axes,):
        for (name, ceiling), colour, dash in zip(ceilings.items(), COLOURS, DASHES, strict=False):
            axes.plot(points(shots), points(ceiling), color=colour, linestyle=":", linewidth=1.2)
            axes.plot(
                points(shots), points(data[name]), color=colour, linestyle=dash, marker="o",
                markersize=4, label=name,
            )  # fmt: skip
            for x, y, best in zip(
                shots.tolist(), data[name].tolist(), ceiling.tolist(), strict=True
            ):
                dot = axes.scatter([x], [y], s=60, color=colour, alpha=0.01)
                tip(dot, f"{name}, {x} examples: {y:.2f}; at best {best:.2f}")
        axes.plot([], [], color=FAINT, linestyle=":", linewidth=1.2, label="the best possible")
        axes.set(
            xlabel="examples in the prompt", ylabel="right answers", ylim=(0, 1.04),
            title="no weight changes from left to right",
        )  # fmt: skip
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.42))
        axes.xaxis.label.set_color(INK)
    return Drawn((axes,), {**data, **{f"best, {name}": x for name, x in ceilings.items()}})


def _ceiling(best: Tensor | float | None) -> Tensor:
    """(6,): Bayes' ceiling for some tables; for a number, that; for None, for any new table."""
    shots = range(MAX_SHOTS + 1)
    match best:
        case Tensor():
            return torch.tensor([best_accuracy(best, k) for k in shots])
        case float():
            return torch.full((MAX_SHOTS + 1,), best)
        case None:  # the digits that were shown are not the answer, and that is all
            return torch.tensor([1 / (len(DIGITS) - k) for k in shots])
    raise TypeError(best)
