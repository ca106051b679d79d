"""Figures of training in 16 bits: gradients too small for float16, and updates that are skipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.plots.canvas import COLOURS, FAINT, HATCHES, PAPER, Drawn, drawing, panels, tip

CPU = torch.device("cpu")
SMALLEST = 2.0**-25  # half of float16's smallest number; what is below is rounded to 0


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


@drawing
def too_small_for_float16(model: nn.Module, loss: Tensor, scale: float = 65536.0) -> Drawn:
    """The sizes of a model's gradients, as they are and scaled, next to the range of float16.

    Args:
        model: its parameters get gradients.
        loss: of the model.
        scale: of the loss.
    """
    grads = torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad])
    sizes = torch.cat([grad.flatten() for grad in grads]).abs().double()
    sizes = sizes[sizes > 0]
    found = {"as they are": sizes, f"times {scale:,.0f}": sizes * scale}
    lost = {name: float((values < SMALLEST).double().mean()) for name, values in found.items()}
    alt = "How many gradients have which size, and the share that float16 rounds to 0: " + "; ".join(
        f"{name}, {share:.1%}" for name, share in lost.items()
    )
    with panels(1, 6.8, 2.6, f"{alt}.") as (axes,):
        for number, (name, values) in enumerate(found.items()):
            axes.hist(
                values.log2().numpy(), bins=60, histtype="stepfilled", alpha=0.75,
                color=COLOURS[number], hatch=HATCHES[number],
                label=f"{name}: {lost[name]:.1%} become 0",
            )  # fmt: skip
        axes.axvline(-25, color=FAINT, linestyle="--")
        axes.axvline(16, color=FAINT, linestyle="--")
        top = axes.get_ylim()[1]
        axes.text(-25.3, top, "0 in float16", ha="right", va="top", fontsize=9)
        axes.text(16.3, top, "inf", va="top", fontsize=9)
        axes.set(title="gradients by size", xlabel="size, as a power of 2", ylabel="gradients")
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.24), ncols=2)
    return Drawn((axes,), found)
