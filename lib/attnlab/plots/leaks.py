"""Figures about what a model looks at: which output depends on which token."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from torch import Tensor

from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    ON_DARK,
    Drawn,
    cell_tips,
    drawing,
    panels,
    points,
    ticks,
)
from attnlab.plots.masks import grid

Model = Callable[[Tensor], Tensor]
Leaks = Callable[..., list[tuple[int, int]]]

_NOTHING, _ALLOWED, _LEAK = 0, 1, 2  # the kinds of a cell


@drawing
def leak_matrices(
    leaks: Leaks,
    models: Mapping[str, Model],
    T: int,  # noqa: N803 - the field's letter
    vocab: int,
    pad: int | None = None,
) -> Drawn:
    """For each model, which outputs depend on which tokens; dependences on later ones are leaks.

    Earlier tokens are found by the same probe, which is asked again with each sequence reversed.
    In a notebook, each cell says what it means when the pointer rests on it.

    Args:
        leaks: called as ``leaks(model, T, vocab)``; returns pairs (output, later token).
        models: by name.
        T: the number of positions.
        vocab: the number of tokens.
        pad: a token that is left out of all sequences, or None.
    """
    real = torch.tensor([token for token in range(vocab) if token != pad])
    tables = {name: _dependences(leaks, model, T, real) for name, model in models.items()}
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    notes = (
        f"{name} {int((table & later).sum())} and {int((table & later.T).sum())}"
        for name, table in tables.items()
    )
    alt = (
        f"For each model a table of {T} outputs by {T} tokens, with a mark where an output depends "
        "on a later token, and a pale cell where it depends on an earlier one. Marks and pale "
        f"cells: {', '.join(notes)}."
    )
    with panels(len(tables), 8.2, 1.9, alt, sharey=True, gridspec_kw={"wspace": 0.12}) as axes:
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            _panel(panel, _title(name, table & later), _kinds(table))
        axes[0].set_ylabel("output")
    return Drawn(axes, tables)


def _dependences(
    leaks: Leaks,
    model: Model,
    T: int,  # noqa: N803
    real: Tensor,
) -> Tensor:
    """(T, T), boolean: whether output i depends on token j, for i other than j."""

    def forwards(ids: Tensor) -> Tensor:
        return model(real[ids])

    def backwards(ids: Tensor) -> Tensor:
        return model(real[ids].flip(1)).flip(1)

    table = torch.zeros(T, T, dtype=torch.bool)
    for i, j in leaks(forwards, T, len(real)):
        table[i, j] = True
    for i, j in leaks(backwards, T, len(real)):
        if i < j:  # a wrong probe may say more, but this half is about earlier tokens
            table[T - 1 - i, T - 1 - j] = True
    return table


def _kinds(table: Tensor) -> Tensor:
    """(T, T), the kind of each cell."""
    leak = table & torch.ones_like(table).triu(1)
    return table.long() * _ALLOWED + leak.long() * (_LEAK - _ALLOWED)


def _title(name: str, leaking: Tensor) -> str:
    return f"{name}: {int(leaking.sum()) or 'no'} leaks"


def _panel(axes: Axes, title: str, kinds: Tensor) -> None:
    length = len(kinds)
    colours = ListedColormap(["white", "#A9CBE3", COLOURS[1]])
    axes.imshow(points(kinds), cmap=colours, vmin=0, vmax=2, interpolation="none")
    grid(axes, kinds)
    places = [str(place) for place in range(length)]
    ticks(axes, places, places)
    for i, j in (kinds == _LEAK).nonzero().tolist():
        size = min(9, 56 / length)
        axes.text(j, i, "×", ha="center", va="center", color=ON_DARK, fontsize=size)
    for i in range(length):
        axes.text(i, i, "·", ha="center", va="center", color=FAINT, fontsize=7)
    axes.tick_params(length=0, labelsize=7.5)
    axes.set(xlabel="token")
    axes.set_title(title, fontsize=9.5)
    rows = enumerate(kinds.tolist())
    cell_tips(axes, [[_meaning(i, j, kind) for j, kind in enumerate(row)] for i, row in rows])


def _meaning(output: int, token: int, kind: int) -> str:
    """What a cell says when the pointer is on it."""
    if output == token:
        return f"output {output} and its own token: always allowed, not tested"
    match kind:
        case 2:
            return f"a leak: output {output} depends on token {token}, which comes later"
        case 1:
            return f"allowed: output {output} depends on token {token}, which comes earlier"
        case 0 if token > output:
            return f"output {output} does not depend on token {token}, which comes later"
        case 0:
            return f"nothing: output {output} does not use token {token}, although it may"
        case _:
            raise ValueError(f"no such kind of cell: {kind}")
