"""Other right versions: slices in a loop, unfold, one longer window."""

from __future__ import annotations

import torch

from . import exercise


@exercise.also_right
def stacked(data, batch, context, generator):
    N = len(data)
    if len(data) <= context:
        raise ValueError("the text is too short")
    starts = torch.randint(0, N - context, (batch,), generator=generator)
    x = torch.stack([data[i : i + context] for i in starts])
    y = torch.stack([data[i + 1 : i + 1 + context] for i in starts])
    return x.long(), y.long()


@exercise.also_right
def unfolded(data, batch, context, generator):
    if len(data) < context + 1:
        raise ValueError(f"no window of {context}")
    windows = data.to(torch.int64).unfold(0, context + 1, 1)
    rows = windows[torch.randint(len(windows), (batch,), generator=generator)]
    return rows[:, :-1], rows[:, 1:]


@exercise.also_right
def by_a_number_from_0_to_1(data, batch, context, generator):
    last = len(data) - context - 1
    if last < 0:
        raise ValueError("too short")
    x, y = torch.empty(2, batch, context, dtype=torch.long)
    for b in range(batch):
        i = int(torch.rand((), generator=generator, dtype=torch.float64) * (last + 1))
        x[b], y[b] = data[i : i + context], data[i + 1 : i + context + 1]
    return x, y
