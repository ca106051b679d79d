"""A figure of what a training loop costs besides its work: copies between devices, and waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab.devices import PretendGPU
from attnlab.plots.canvas import COLOURS, HATCHES, PAPER, Drawn, drawing, panels, tip

KINDS = ("copies to the GPU", "copies to the CPU", "waits")
FEW, MANY = 3, 8  # batches; the difference of the two counts is what updates cost

Make = Callable[[int], nn.Module]
Train = Callable[..., Any]


class Words(NamedTuple):
    """Some words, and what should become of them."""

    x: Tensor
    wanted: Tensor


@drawing
def copies_and_waits(loops: Mapping[str, tuple[Make, Train]]) -> Drawn:
    """Copies and waits for each update, counted under a pretended GPU.

    Args:
        loops: by name, a class of modules, called with d_model; and a loop, called as
            ``train(device, model, loss, batches, make_optimizer)``.
    """
    found: dict[str, Tensor] = {}
    errors: list[str] = []
    for name, (make, train) in loops.items():
        try:
            found[name] = _for_each_update(make, train)
        except (RuntimeError, TypeError) as error:
            if isinstance(error, NotImplementedError):
                raise
            errors.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
    if not found:
        return Drawn((), {}, " ".join(errors))
    alt = "For each update: " + "; ".join(
        f"{name}, "
        + ", ".join(f"{count:g} {kind}" for kind, count in zip(KINDS, counts, strict=True))
        for name, counts in found.items()
    )
    with panels(1, 6.4, 2.8, f"{alt}.") as (axes,):
        width = 0.8 / len(found)
        for number, (name, counts) in enumerate(found.items()):
            for place, count in enumerate(counts.tolist()):
                x = place + (number - (len(found) - 1) / 2) * width
                (bar,) = axes.bar(
                    x, count, 0.9 * width, color=COLOURS[number], hatch=HATCHES[number % 3],
                    edgecolor=PAPER, label=name if place == 0 else None,
                )  # fmt: skip
                tip(bar, f"{name}: {count:g} {KINDS[place]} for each update")
                axes.text(x, count, f"{count:g}", ha="center", va="bottom", fontsize=9.5)
        axes.set_xticks(range(len(KINDS)), KINDS)
        axes.set(title="for each update", xlabel="counted under a pretended GPU")
        highest = max(float(counts.max()) for counts in found.values())
        axes.set(ylim=(0, 1.15 * highest + 0.5))
        axes.grid(False, axis="x")
        axes.legend()
    return Drawn((axes,), found, note="\n".join(errors))


def _for_each_update(make: Make, train: Train) -> Tensor:
    """What one update costs: the numbers of :data:`KINDS`, (3,)."""
    few, many = (_counts(make, train, count) for count in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _counts(make: Make, train: Train, batches: int) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = make(8)
        words = [Words(torch.randn(2, 5, 8), torch.randn(2, 5, 8)) for _ in range(batches)]
    with PretendGPU() as gpu:
        train(torch.device("cuda"), model, _squared_error, iter(words), _sgd)
    counts = gpu.counts
    return torch.tensor([counts.to_gpu, counts.to_cpu, counts.waits], dtype=torch.float64)


def _squared_error(model: nn.Module, batch: Words) -> Tensor:
    error: Tensor = model(batch.x) - batch.wanted
    return error.square().mean()


def _sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)
