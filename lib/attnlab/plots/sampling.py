"""Figures about the choice of the next token: which tokens stay, and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable

import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
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


@drawing
def speculation(accept: Callable[..., Tensor]) -> Drawn:
    """Left, the first tokens that speculative decoding writes; right, how many one call writes.

    Args:
        accept: called as ``accept(drafted, q, p, generator=…)``.
    """
    random = torch.Generator().manual_seed(0)
    logits = 1.5 * torch.randn(7, 6, generator=random, dtype=torch.float64)
    noise = torch.randn(logits.shape, generator=random, dtype=torch.float64)
    p = logits.softmax(-1)
    drafts = {
        "the same model": p,
        "a similar one": (logits + 0.5 * noise).softmax(-1),
        "another one": (2.5 * noise).softmax(-1),
    }
    q = drafts["a similar one"]
    first = torch.stack([row[0] for row in _accepted(accept, q[:1], p[:2], 3000, random)])
    data = {"small model": q[0], "large model": p[0], "written": first.bincount(minlength=6) / 3000}
    lengths = torch.arange(1, 7)
    for name, rows in drafts.items():
        data[name] = torch.stack(
            [_mean_length(_accepted(accept, rows[:n], p[: n + 1], 400, random))
             for n in lengths.tolist()]
        )  # fmt: skip
    found = "; ".join(f"{name}: {data[name][-1]:.1f}" for name in drafts)
    alt = f"Left, three distributions. Right, tokens per call for a draft of six tokens. {found}."
    with panels(2, 8.2, 3.0, alt) as (left, right):
        for place, name in enumerate(("small model", "large model", "written")):
            middle = torch.arange(6) + 0.28 * (place - 1)
            colour = (FAINT, *COLOURS)[place]
            left.bar(
                points(middle), points(data[name]), 0.26, label=name, color=colour,
                hatch=HATCHES[place],
            )  # fmt: skip
        left.set(title="first token", xlabel="token", ylabel="probability, share")
        left.legend()
        for name, colour, dash in zip(drafts, COLOURS, DASHES, strict=False):
            right.plot(
                points(lengths), points(data[name]), color=colour, linestyle=dash, label=name
            )
        right.set(title="tokens per call of the large model", xlabel="drafted tokens")
        right.set_ylim(bottom=0)
        right.legend()
    return Drawn((left, right), data)


def _accepted(
    accept: Callable[..., Tensor], q: Tensor, p: Tensor, calls: int, generator: torch.Generator
) -> list[Tensor]:
    """What many calls return, each on newly drafted tokens."""
    drafted = torch.multinomial(q, calls, True, generator=generator).T  # (calls, K)
    return [accept(row, q, p, generator=generator) for row in drafted]


def _mean_length(rows: list[Tensor]) -> Tensor:
    return torch.tensor([float(len(row)) for row in rows], dtype=torch.float64).mean()


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
