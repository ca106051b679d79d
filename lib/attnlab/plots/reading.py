"""Figures of a trained translator at work: what it writes for a text, and where it looked.

The weights are those of the attention to the source in the last decoder layer, the mean over its
heads. A date is read by the letter; the figure adds up the weights of each word's letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnlab.data import dates, measured_lab07, numbers
from attnlab.data.dates import BOS, EOS
from attnlab.data.vocabulary import split_words
from attnlab.models.small_transformers import write_all
from attnlab.plots.attention_calls import NO_WEIGHTS, recorded
from attnlab.plots.canvas import ATTENTION, Drawn, cell_tips, cells, drawing, panels, ticks

GreedyDecode = Callable[..., Tensor]

_END = "end"


@drawing
def date(model: Any, greedy_decode: GreedyDecode, text: str) -> Drawn:
    """The date that a model writes for a text, and the words that it looked at for each symbol.

    Args:
        model: a Transformer trained on dates.
        greedy_decode: decodes with it.
        text: a date in English; capital letters do not matter.
    """
    text = text.strip().lower()
    try:
        read = dates.SOURCE.encode(text)
    except ValueError:
        return Drawn((), {}, f"“{text}” has a character that no date of the training has.")
    words = [(found[0], found.start()) for found in re.finditer(r"[a-z0-9]+|[^a-z0-9\s]+", text)]
    if not words:
        return Drawn((), {}, "Write a date between the quotes.")
    written, weights = _watched(model, greedy_decode, read)
    iso = dates.TARGET.decode(written)
    if weights is None:
        return Drawn((), {}, f"“{text}” → {iso}. {NO_WEIGHTS}")
    rows = [dates.TARGET.decode([number]) or _END for number in written]
    letters = [weights[:, start : start + len(word)] for word, start in words]
    tips = [
        [_said(row, word, part[i]) for (word, _), part in zip(words, letters, strict=True)]
        for i, row in enumerate(rows)
    ]
    summed = torch.stack([part.sum(1) for part in letters], 1)  # (T, words)
    return _table(f"“{text}” → {iso}", rows, [word for word, _ in words], summed, tips)


@drawing
def number(model: Any, greedy_decode: GreedyDecode, text: str) -> Drawn:
    """The French words that a model writes for a number in English, and where it looked.

    Args:
        model: a Transformer trained on numbers.
        greedy_decode: decodes with it.
        text: a number from 1 to 999,999 in English words.
    """
    text = text.strip().lower()
    try:
        read = numbers.SOURCE.encode(text)
    except ValueError as error:
        return Drawn((), {}, f"{error}.")
    if not read:
        return Drawn((), {}, "Write a number between the quotes.")
    written, weights = _watched(model, greedy_decode, read)
    if weights is None:
        return Drawn((), {}, f"{text} → {numbers.TARGET.decode(written)}. {NO_WEIGHTS}")
    words = split_words(text)
    rows = [numbers.TARGET.decode([one]) or _END for one in written]
    tips = [
        [f"“{row}” looked at “{word}”: {weights[i, j]:.2f}" for j, word in enumerate(words)]
        for i, row in enumerate(rows)
    ]
    title = f"{text} → {numbers.TARGET.decode(written)}"
    return _table(title, rows, words, weights, tips)


@drawing
def new_formats(model: Any, greedy_decode: GreedyDecode, count: int = 50) -> Drawn:
    """How many dates are right in formats that no training pair has, one line for each format.

    Args:
        model: a Transformer trained on dates.
        greedy_decode: decodes with it.
        count: dates for each format.
    """
    lines, shares = [], []
    for form in dates.NEW_FORMATS:
        some = dates.in_a_new_format(form, count, seed=0)
        sources = [dates.SOURCE.encode(pair.human) for pair in some]
        said = [dates.TARGET.decode(row) for row in write_all(greedy_decode, model, sources)]
        right = [text == pair.iso for text, pair in zip(said, some, strict=True)]
        shares.append(sum(right) / count)
        lines.append(f"{shares[-1]:5.0%}  {some[0].human:34} → {said[0]}")
    return Drawn((), {"shares": torch.tensor(shares)}, note="\n".join(lines))


def lab07_preview() -> Drawn:
    """The last figure of lab 7: where a trained translator looks while it writes a number."""
    words = split_words(measured_lab07.ENGLISH)
    rows = [*split_words(measured_lab07.FRENCH), _END]
    weights = measured_lab07.weights_of_a_number()
    tips = [
        [f"“{row}” looked at “{word}”: {weights[i, j]:.2f}" for j, word in enumerate(words)]
        for i, row in enumerate(rows)
    ]
    title = f"{measured_lab07.ENGLISH} → {measured_lab07.FRENCH}"
    return _table(title, rows, words, weights, tips)


def _watched(
    model: Any, greedy_decode: GreedyDecode, read: Sequence[int]
) -> tuple[list[int], Tensor | None]:
    """What the model writes, its end included, and where it looked for each symbol, (T, S)."""
    source = torch.tensor([list(read)])
    batch = source, torch.ones_like(source, dtype=torch.bool)
    (written,) = greedy_decode(model, *batch, BOS, EOS).tolist()
    with torch.no_grad(), recorded(model.decoder[-1]) as tables:
        model(*batch, torch.tensor([[BOS, *written[:-1]]]))
    return written, tables[1][0].mean(0) if len(tables) == 2 else None  # the second is across


def _said(row: str, word: str, weights: Tensor) -> str:
    """What a hover says of one cell: the sum, and the letter that has most of it."""
    most = int(weights.argmax())
    text = f"“{row}” looked at “{word}”: {float(weights.sum()):.2f}"
    if len(word) == 1:
        return text
    return f"{text}, most at its letter {most + 1}, “{word[most]}”: {float(weights[most]):.2f}"


def _table(
    title: str, rows: list[str], columns: list[str], weights: Tensor, tips: list[list[str]]
) -> Drawn:
    looks = "; ".join(
        f"{row} at {columns[int(line.argmax())]}" for row, line in zip(rows, weights, strict=True)
    )
    alt = f"{title}. A table of attention weights, where each symbol looked most: {looks}."
    width, height = 1.4 + 0.55 * len(columns), 0.9 + 0.275 * len(rows)
    with panels(1, width, height, alt) as (axes,):
        cells(axes, weights, ATTENTION, 2, (0, 1), aspect=0.5)
        ticks(axes, rows, columns)
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
        axes.set_title(title)
        axes.set(xlabel="read", ylabel="written")
        cell_tips(axes, tips)
    return Drawn((axes,), {"weights": weights})
