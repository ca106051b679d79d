"""A figure of training in float16: updates with an inf gradient are skipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.plots.canvas import COLOURS, HATCHES, PAPER, Drawn, drawing, panels, tip

CPU = torch.device("cpu")


@drawing
def skipped_updates(
    mixed_step: Callable[..., tuple[Tensor, bool]],
    scaler_for: Callable[..., torch.amp.GradScaler],
    spoiled: Sequence[int] = (4, 8),
    updates: int = 12,
) -> Drawn:
    """The scale, the learning rate and how far the weights move, if some gradients are inf.

    Args:
        mixed_step: one step, called as in step 8.9.
        scaler_for: makes the scaler.
        spoiled: the updates, from 1, in which a gradient is inf.
        updates: how many to make.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Linear(6, 5)
        batches = [(torch.randn(8, 6), torch.randint(0, 5, (8,))) for _ in range(updates)]
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, updates)
    scaler = scaler_for("fp16", CPU)

    def loss(model: nn.Module, batch: Any) -> Tensor:
        words, labels, factor = batch
        found: Tensor = nn.functional.cross_entropy(model(words), labels) * factor
        return found

    rows = []
    for number, (words, labels) in enumerate(batches, 1):
        before, rate = model.weight.detach().clone(), optimizer.param_groups[0]["lr"]
        factor = 1e37 if number in spoiled else 1.0
        with warnings.catch_warnings(action="ignore"):  # a schedule that steps first, if it does
            mixed_step(
                model, loss, (words, labels, factor), optimizer, scaler, schedule, "fp16", None
            )
        moved = float((model.weight.detach() - before).norm())
        rows.append((scaler.get_scale(), moved, rate))
    scale, moved, rate = torch.tensor(rows, dtype=torch.float64).T
    alt = (
        f"Over {updates} updates, of which {', '.join(map(str, spoiled))} have an inf gradient: "
        f"the scale falls from {scale[0]:,.0f} to {scale[-1]:,.0f}, and the weights do not move in "
        f"{int((moved == 0).sum())} updates."
    )
    with panels(3, 8.6, 2.6, alt, gridspec_kw={"wspace": 0.42}) as axes:
        steps = range(1, updates + 1)
        drawn = ((scale, "scale afterwards"), (moved, "how far the weights move"), (rate, "rate"))
        for panel, (values, title) in zip(axes, drawn, strict=True):
            for step, value in zip(steps, values.nan_to_num(0, 0, 0).tolist(), strict=True):
                bad = step in spoiled
                (bar,) = panel.bar(
                    step, value, 0.8, color=COLOURS[int(bad)], hatch=HATCHES[int(bad)],
                    edgecolor=PAPER,
                )  # fmt: skip
                tip(bar, f"update {step}{', inf' if bad else ''}: {title} {value:.4g}")
                if bad:
                    panel.plot([step], [0], "v", color=COLOURS[1], clip_on=False, markersize=6)
            panel.set(title=title, xlabel="update (triangle: inf)")
            panel.grid(False, axis="x")
    data = {"scale": scale, "moved": moved, "rate": rate}
    return Drawn(axes, data)
