"""get_batch: random windows of a long text, and the token after each of theirs."""

from __future__ import annotations

import torch

from attnlab.language_modeling import get_batch
from gradekit.exercise import Exercise

exercise = Exercise(get_batch)


def text(draw, length):
    """Tokens all of which differ, and whose neighbours are not neighbouring numbers."""
    return draw.permutation(length) * 3 + 7


def places(data, windows):
    """Where in the text each token of the windows is."""
    place = {token: index for index, token in enumerate(data.tolist())}
    return [[place.get(token, -1) for token in row] for row in windows.tolist()]


@exercise.check(points=0.5)
def shapes(lab, draw):
    """Both tensors are (batch, context), int64, whatever integers the text is stored in."""
    data, seen = torch.arange(20_000) % 200, {}  # so long that hardly a draw is at its end
    for dtype in (torch.int64, torch.int32, torch.uint8):
        x, y = lab.get_batch(data.to(dtype), 3, 5, draw.generator())
        name = str(dtype).removeprefix("torch.")
        seen[f"text of {name}"] = [list(x.shape), str(x.dtype), list(y.shape), str(y.dtype)]
    return seen


@exercise.check(points=1)
def next_tokens(lab, draw):
    """Each row of x is a window of the text, and y is the same window one token later."""
    data = text(draw, 20)
    x, y = lab.get_batch(data, 400, 7, draw.generator())  # each start occurs
    at, after = places(data, x), places(data, y)
    return {
        "rows of x that are no window": sum(
            row != list(range(row[0], row[0] + 7)) or row[0] < 0 for row in at
        ),
        "rows of y that are not one token later": sum(
            [place + 1 for place in row] != other for row, other in zip(at, after, strict=True)
        ),
    }


@exercise.check(points=0.5)
def one_window(lab, draw):
    """A text of context + 1 tokens has one window; a shorter one raises ValueError."""
    data = text(draw, 8)
    x, y = lab.get_batch(data, 12, 7, draw.generator())
    return {
        "x": x,
        "y": y,
        "a text of context tokens": draw.raises(lab.get_batch, data[:7], 3, 7, draw.generator()),
        "a text of three tokens": draw.raises(lab.get_batch, data[:3], 3, 7, draw.generator()),
    }


@exercise.check(points=1, hidden=True)
def every_start(lab, draw):
    """Every window can be drawn, from the first to the last, all equally often."""
    data = text(draw, 12)
    x, _ = lab.get_batch(data, 6000, 4, draw.generator())  # 8 starts: 750 each, deviation 26
    starts = torch.tensor(places(data, x))[:, 0]
    counts = torch.bincount(starts.clamp(min=0), minlength=8)
    return {
        "starts that occur": counts.nonzero().flatten(),
        "each about equally often": bool(((counts[:8] - 750).abs() < 160).all()),
    }


@exercise.check(points=0.5, hidden=True)
def independent_rows(lab, draw):
    """Rows are drawn independently: neither without repetition nor at fixed distances."""
    data = text(draw, 30)
    x, _ = lab.get_batch(data, 500, 4, draw.generator())  # 26 windows, each of which occurs
    starts = torch.tensor(places(data, x))[:26, 0]
    gaps = starts.diff()
    far, _ = lab.get_batch(torch.arange(10**6), 60, 4, draw.generator())
    return {
        "of 60 windows of a long text, more than 50 differ": len(far[:, 0].unique()) > 50,
        "some window comes twice": len(starts.unique()) < 26,  # else by chance: below 1e-9
        "rows in the order of the text": bool((gaps >= 0).all()),
        "all the same": len(starts.unique()) == 1,
        "mostly at one distance": bool((gaps == gaps.mode().values).sum() > 13),
    }


@exercise.check(points=0.5, hidden=True)
def randomness(lab, draw):
    """All randomness comes from the generator; the text stays as it is."""
    data = text(draw, 20_000)
    before = data.clone()
    generator = torch.Generator().manual_seed(3)
    torch.manual_seed(7)
    state = torch.random.get_rng_state()
    first, _ = lab.get_batch(data, 5, 9, generator)
    second, _ = lab.get_batch(data, 5, 9, generator)
    untouched = torch.equal(state, torch.random.get_rng_state())
    again, _ = lab.get_batch(data, 5, 9, torch.Generator().manual_seed(3))
    torch.manual_seed(8)
    other, _ = lab.get_batch(data, 5, 9, torch.Generator().manual_seed(4))
    return {
        "the same generator again, the same windows": torch.equal(first, second),
        "an equal generator, the same windows": torch.equal(first, again),
        "another generator, the same windows": torch.equal(first, other),
        "torch's own random state is as it was": untouched,
        "the text is as it was": torch.equal(data, before),
    }


exercise.promises(
    {
        "Draw windows of a long text, and for each of their tokens the one that follows it.": (
            "next_tokens"
        ),
        "Each window starts at a random place, drawn independently: 0, 1, …, len(data) - context "
        "- 1, all equally likely.": "every_start independent_rows",
        "So a text of context + 1 tokens has exactly one window.": "one_window",
        "data: (N,), integers of any type, the tokens of a text; stays unchanged.": (
            "randomness shapes"
        ),
        "batch: B, the number of windows.": "shapes",
        "context: T, the number of tokens of a window, at most N - 1.": "shapes one_window",
        "generator: the only source of randomness.": "randomness",
        "The windows x, (B, T), and y, (B, T): y[b, t] is the token after x[b, t].": (
            "next_tokens shapes"
        ),
        "Both int64.": "shapes",
        "ValueError: the text has no window of this length.": "one_window",
    }
)
