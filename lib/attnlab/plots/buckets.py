"""A figure about batches: how much of them is padding, in random order and in buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.buckets import padding_share
from attnlab.data import dates
from attnlab.plots.canvas import ATTENTION, Drawn, drawing, panels, points, tip

_GAP = 4  # between two batches, in tokens
_LABEL = 40  # height of a label of three lines
_EMPTY, _PADDING, _SYMBOL = 0.0, 0.25, 0.85  # on a scale of colours

Batches = list[list[int]]


@drawing
def before_and_after(
    bucket_batches: Callable[[Sequence[int], int, int], Batches],
    count: int = 3000,
    max_tokens: int = 512,
    shown: int = 12,
) -> Drawn:
    """Batches of lab 2's dates as rectangles: dark symbols and light padding.

    Args:
        bucket_batches: called as ``bucket_batches(lengths, max_tokens, seed)``.
        count: the number of dates.
        max_tokens: the most tokens of a batch, padding included.
        shown: how many batches of each kind are drawn.
    """
    lengths = [len(pair.human) for pair in dates.pairs(count, seed=3)]
    rows = {
        "random order": in_random_order(lengths, max_tokens),
        "your buckets": [batch for batch in bucket_batches(lengths, max_tokens, 1) if batch],
    }
    shares = {name: padding_share(lengths, batches) for name, batches in rows.items()}
    labels = {
        name: f"{name}\n{len(rows[name])} batches\n{share:.1%} padding"
        for name, share in shares.items()
    }
    told = "; ".join(label.replace("\n", ", ") for label in labels.values())
    alt = f"Two rows of {shown} rectangles, each a batch of {count:,} dates. {told}."
    with panels(1, 7.4, 2.9, alt) as (axes,):
        top, middles = 0, []
        for name, batches in rows.items():
            height = _draw(axes, lengths, batches[:shown], top)
            middles.append((top + height / 2, labels[name]))
            top += max(height, _LABEL) + 2 * _GAP
        axes.set_yticks(*zip(*middles, strict=True))
        axes.set(
            title=f"batches of at most {max_tokens} tokens",
            xlabel="tokens",
            ylim=(top, -_GAP),
            aspect="equal",
        )
        axes.autoscale_view(scaley=False)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return Drawn((axes,), {name: torch.tensor(share) for name, share in shares.items()})


def in_random_order(lengths: Sequence[int], max_tokens: int) -> Batches:
    """Batches that are cut from a random order, with at most `max_tokens` tokens each."""
    order = torch.randperm(len(lengths), generator=torch.Generator().manual_seed(1)).tolist()
    batches: Batches = [[]]
    for index in order:
        count, longest = _size(lengths, [*batches[-1], index])
        if count * longest > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def _size(lengths: Sequence[int], batch: Sequence[int]) -> tuple[int, int]:
    return len(batch), max(lengths[index] for index in batch)


def _draw(axes: Axes, lengths: Sequence[int], batches: Batches, top: int) -> int:
    """Draw batches side by side from the line `top` on; returns the height of the highest."""
    left = 0
    for batch in batches:
        height, width = _size(lengths, batch)
        longest_first = sorted((lengths[index] for index in batch), reverse=True)
        filled = torch.arange(width) < torch.tensor(longest_first)[:, None]  # (rows, width)
        picture = torch.where(filled, _SYMBOL, _PADDING)
        place = (left, left + width, top + height, top)
        axes.imshow(points(picture), cmap=ATTENTION, vmin=_EMPTY, vmax=1, extent=place,
                    interpolation="none")  # fmt: skip
        frame = Rectangle((left, top), width, height, facecolor="none", edgecolor="none")
        axes.add_patch(frame)
        padding = 1 - float(filled.double().mean())
        tip(
            frame,
            f"{height} sentences of up to {width} symbols: {height * width} tokens, "
            f"{padding:.0%} of them padding",
        )
        left += width + _GAP
    return max(_size(lengths, batch)[0] for batch in batches)
