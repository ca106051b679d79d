"""Figures about gradients: what a limit prevents, and what micro-batches add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    Drawn,
    drawing,
    panels,
    points,
)
from attnlab.train_step import Sums

_UPDATES, _ODD, _ERROR, _LIMIT, _RATE = 120, 60, 3000.0, 2.0, 0.1
_WIDTH, _SYMBOLS, _CUT = 4, 5, (7, 3)


@drawing
def one_odd_batch(clip_global_norm: Callable[[Iterable[Tensor], float], Any]) -> Drawn:
    """The loss of a straight line that learns with and without a limit, and meets a wrong label.

    Args:
        clip_global_norm: limits the gradients.
    """
    data = {
        "no limit": _fit(lambda parameters: None),
        f"limit {_LIMIT:g}": _fit(lambda parameters: clip_global_norm(parameters, _LIMIT)),
    }
    highest = "; ".join(f"{name}: at most {loss.max():.2g}" for name, loss in data.items())
    alt = f"The loss after each update, with one odd batch, on a scale of powers of ten. {highest}."
    with panels(1, 6.6, 2.9, alt) as (axes,):
        axes.axvline(_ODD, color=FAINT, linewidth=1)
        for (name, losses), colour, dash in zip(data.items(), COLOURS, DASHES, strict=False):
            axes.semilogy(points(losses), color=colour, linestyle=dash, label=name)
        axes.set(title="one odd batch", xlabel="update", ylabel="loss on right labels")
        axes.legend()
    return Drawn((axes,), data)


def _fit(limit: Callable[[Iterable[Tensor]], Any]) -> Tensor:
    """The loss after each update, on points that the training does not see."""
    draw = torch.Generator().manual_seed(0)

    def batch(size: int) -> tuple[Tensor, Tensor]:
        x = torch.randn(size, 1, generator=draw)
        return x, 3 * x - 1 + 0.5 * torch.randn(size, 1, generator=draw)

    unseen, model = batch(200), nn.Linear(1, 1)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    optimizer = torch.optim.SGD(model.parameters(), _RATE)
    losses = []
    for update in range(_UPDATES):
        x, y = batch(8)
        if update == _ODD:
            y[0] += _ERROR
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        limit(model.parameters())
        optimizer.step()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(unseen[0]), unseen[1]))
    return torch.stack(losses)


@drawing
def against_the_whole_batch(accumulate: Callable[..., Any]) -> Drawn:
    """Each number of a gradient from micro-batches, against the same number from the whole batch.

    Args:
        accumulate: computes all gradients, those of whole batches, too.
    """
    draw = torch.Generator().manual_seed(4)
    x = torch.randn(sum(_CUT), _WIDTH, generator=draw)
    y = torch.randint(0, _SYMBOLS, (len(x),), generator=draw)
    parts = list(zip(x.split(_CUT), y.split(_CUT), strict=True))
    whole = _gradient(accumulate, [(x, y)])
    means = torch.stack([_gradient(accumulate, [part]) for part in parts])
    data = {
        "accumulate": _gradient(accumulate, parts),
        "the mean of the two means": means.mean(0),
    }
    farthest = {name: float((found - whole).abs().max()) for name, found in data.items()}
    alt = "Gradients of micro-batches against those of the whole batch. " + "; ".join(
        f"{name} is off by {distance:.2g} at most" for name, distance in farthest.items()
    )
    with panels(2, 7.2, 3.2, f"{alt}.", sharex=True, sharey=True) as both:
        for axes, (name, found), colour in zip(both, data.items(), COLOURS, strict=False):
            axes.axline((0, 0), slope=1, color=FAINT, linewidth=1)
            axes.plot(points(whole), points(found), "o", color=colour, markersize=5)
            axes.set(title=f"{name}: off by {farthest[name]:.1g}", xlabel="whole batch")
        both[0].set(ylabel="7 tokens and 3 tokens")
    return Drawn(both, {"whole batch": whole, **data})


def _gradient(accumulate: Callable[..., Any], micro_batches: list[tuple[Tensor, Tensor]]) -> Tensor:
    """All numbers of the gradient of one small model, the same in every call."""
    model = nn.Linear(_WIDTH, _SYMBOLS)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Sums:
        x, y = batch
        total = nn.functional.cross_entropy(model(x), y, reduction="sum")
        return Sums(total, torch.tensor(len(y)))

    accumulate(model, loss, micro_batches)
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
    return torch.cat([grad.flatten() for grad in found])
