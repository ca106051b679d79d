"""Figures about the choice of the next token: which tokens stay, and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    HATCHES,
    INK,
    Drawn,
    drawing,
    panels,
    points,
    tip,
)

_DRAWS, _TOKENS = 5000, 12
_FILTERS: dict[str, dict[str, float]] = {"top_k=4": {"top_k": 4}, "top_p=0.9": {"top_p": 0.9}}

Sample = Callable[..., Tensor]


@drawing
def filters(sample: Sample) -> Drawn:
    """How often each token is drawn with top-k and with top-p, for two predictions of a model.

    Left, the model is nearly certain; right, many tokens are possible.

    Args:
        sample: called as ``sample(logits, top_k=…, top_p=…, generator=…)``.
    """
    ranks = torch.arange(_TOKENS, dtype=torch.float64)
    predictions = {"nearly certain": 0.25**ranks, "many possible tokens": 0.88**ranks}
    data = {}
    for name, p in predictions.items():
        p /= p.sum()
        data[name] = p
        for how, numbers in _FILTERS.items():
            data[f"{name}, {how}"] = _shares(sample, p, numbers)
    numbers_kept = "; ".join(f"{key}: {_kept(shares)} tokens" for key, shares in data.items())
    alt = f"Bars of tokens by probability, and of their shares of the draws. {numbers_kept}."
    with panels(2, 8.4, 3.0, alt) as axes:
        for panel, name in zip(axes, predictions, strict=True):
            _bars(panel, {key: shares for key, shares in data.items() if key.startswith(name)})
            panel.set(title=name, xlabel="token, likeliest first")
        axes[0].set_ylabel("probability, share of draws")
        axes[0].legend()
    return Drawn(axes, data)


def _bars(axes: Axes, shares: dict[str, Tensor]) -> None:
    """Three bars per token, and a line behind the last token that each filter keeps."""
    for place, (key, values) in enumerate(shares.items()):
        label = key.partition(", ")[2] or "the model's"
        middle = torch.arange(_TOKENS) + 0.28 * (place - 1)
        colour = FAINT if place == 0 else COLOURS[place - 1]
        bars = axes.bar(
            points(middle), points(values), 0.26, label=label, color=colour, hatch=HATCHES[place]
        )
        for rank, (bar, value) in enumerate(zip(bars, values.tolist(), strict=True), 1):
            tip(bar, f"token {rank}, {label}: {value:.3f}")
        if place:
            end = _kept(values) - 0.5 + 0.06 * (place - 1.5)
            axes.axvline(end, color=colour, linestyle="--", linewidth=1.2)
            side = "left" if end < _TOKENS / 2 else "right"
            axes.annotate(
                label, (end, 0.98 - 0.12 * place), xycoords=("data", "axes fraction"), ha=side,
                xytext=(4 if side == "left" else -4, 0), textcoords="offset points", color=INK,
                fontsize=9,
            )  # fmt: skip
    axes.set_xticks(range(_TOKENS), [str(rank) for rank in range(1, _TOKENS + 1)])


def _shares(sample: Sample, p: Tensor, numbers: dict[str, float]) -> Tensor:
    """How often each token is drawn, (V,)."""
    generator = torch.Generator().manual_seed(0)
    drawn = sample(p.log().repeat(_DRAWS, 1), **numbers, generator=generator)
    return drawn.bincount(minlength=len(p)).double() / _DRAWS


def _kept(shares: Tensor) -> int:
    """The number of tokens up to the last one that was drawn."""
    return int(shares.nonzero().max()) + 1
