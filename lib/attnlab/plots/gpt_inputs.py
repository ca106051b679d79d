"""The figure of lab 10's rows: how three tasks are written for one and the same model.

Tested in tests/attnlab/plots/test_lab10_figures.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnlab.gpt_inputs import Marks
from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    ON_LIGHT,
    PAPER,
    SHADE,
    Drawn,
    drawing,
    panels,
    tip,
)

Rows = Callable[..., list[list[int]]]

_MARKS = ("start", "delim", "extract")
_PAD = "·"


class _Words:
    """Numbers the words of the figure; the marks and the filling come first."""

    def __init__(self) -> None:
        self.texts = [*_MARKS, _PAD]

    def ids(self, text: str) -> list[int]:
        self.texts += [word for word in text.split() if word not in self.texts]
        return [self.texts.index(word) for word in text.split()]


@drawing
def rows_of_three_tasks(
    join_texts: Callable[..., list[int]],
    similarity_rows: Rows,
    choice_rows: Rows,
    fill_up: Callable[..., tuple[Tensor, Tensor]],
    last_valid: Callable[..., Tensor],
) -> Drawn:
    """Rows for entailment, similarity and multiple choice; a frame marks each row's last vector.

    Args:
        join_texts, similarity_rows, choice_rows: write the rows.
        fill_up: makes them a batch.
        last_valid: finds the place whose vector is used.
    """
    words, marks = _Words(), Marks(0, 1, 2)
    say = words.ids
    tasks = {
        "entailment": [join_texts(say("it rains"), say("the street is wet"), marks)],
        "similarity": similarity_rows(say("how old are you"), say("your age please"), marks),
        "choice": choice_rows(
            say("he is thirsty so he"), [say("drinks"), say("sleeps well")], marks
        ),
    }
    rows = [list(row) for some in tasks.values() for row in some]
    names = [name if not n else "" for name, some in tasks.items() for n in range(len(some))]
    ids, valid = fill_up(rows, words.texts.index(_PAD))
    places = torch.arange(ids.shape[1], dtype=torch.float64).expand(ids.shape)[..., None]
    used = last_valid(places, valid)[:, 0].long()  # (B,): each vector is its own place
    alt = "; ".join(
        f"row {b + 1}: {' '.join(words.texts[token] for token in row)}"
        for b, row in enumerate(ids.tolist())
    )
    with panels(1, 8.4, 2.2, f"Rows of tokens, with the last of each framed. {alt}.") as (axes,):
        for b, row in enumerate(ids.tolist()):
            _draw_row(axes, b, [words.texts[token] for token in row], valid[b], int(used[b]))
        axes.set(xlim=(-0.6, ids.shape[1] - 0.4), ylim=(len(rows) - 0.4, -0.6), xticks=[])
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return Drawn((axes,), {"ids": ids, "valid": valid, "used": used})


def _draw_row(axes: Axes, b: int, texts: Sequence[str], valid: Tensor, used: int) -> None:
    for t, text in enumerate(texts):
        inside = bool(valid[t])
        colour = COLOURS[5] if text in _MARKS and inside else SHADE if not inside else PAPER
        box = Rectangle(
            (t - 0.48, b - 0.4), 0.96, 0.8, facecolor=colour,
            edgecolor=COLOURS[1] if t == used else FAINT, linewidth=2.2 if t == used else 0.8,
        )  # fmt: skip
        axes.add_patch(box)
        what = "its vector goes to the new layer" if t == used else "read"
        tip(box, f"place {t}: {text}, {what if inside else 'filled up'}")
        on_colour = text in _MARKS and inside
        axes.text(
            t, b, text, ha="center", va="center", fontsize=8.5,
            color=ON_LIGHT if on_colour else INK,
        )  # fmt: skip
