"""Figures about BERT: what it is asked, what it reads, and which words it looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from attnlab.bert import BertConfig
from attnlab.data import topics
from attnlab.data.topics import CLS, MASK, PAD, SEP
from attnlab.gpt import GPT, GPTConfig
from attnlab.initial_weights import init_normal
from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    ON_DARK,
    ON_LIGHT,
    PAPER,
    SHADE,
    Drawn,
    drawing,
    panels,
    tip,
)
from attnlab.plots.heatmap import attention_cells

NOT_CHOSEN, HIDDEN, RANDOM, KEPT = "not chosen", "[MASK]", "a random word", "chosen, but kept"
_COLOUR_OF = {HIDDEN: COLOURS[0], RANDOM: COLOURS[4], KEPT: COLOURS[2]}
_TEXT_ON = {HIDDEN: ON_DARK, RANDOM: ON_LIGHT, KEPT: ON_DARK}
_ROWS, _SEED, _RATE = 8, 5, 0.4
DOCUMENTS = (
    ("the man went to the store", "he bought a gallon of milk"),
    ("penguins are flightless birds", "they swim very well"),
)
SENTENCE, PADDING = ("[CLS]", "she", "sat", "by", "the", "bank", "of", "the", "river", "[SEP]"), 2


def _cell(axes: Axes, place: tuple[int, int], colour: str, edge: str) -> Rectangle:
    column, row = place
    box = Rectangle(
        (column - 0.48, row - 0.44), 0.96, 0.88, facecolor=colour, edgecolor=edge, linewidth=0.8
    )
    axes.add_patch(box)
    return box


def _as_table(axes: Axes, rows: int, columns: int) -> None:
    axes.set(
        xlim=(-0.55, columns - 0.45),
        ylim=(rows - 0.4, -0.6),
        xticks=[],
        xlabel="tokens",
        ylabel="row",
    )
    axes.set_yticks(range(rows), [str(row + 1) for row in range(rows)])
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


@drawing
def masked_words(mask_tokens: Callable[..., tuple[Tensor, Tensor]]) -> Drawn:
    """Sentences as the model sees them; under each chosen word is the one that it should find.

    Args:
        mask_tokens: hides words.
    """
    generator = torch.Generator().manual_seed(_SEED)
    ids, _ = topics.labelled(4, words=8, generator=generator)
    ids = ids[torch.randperm(len(ids), generator=generator)[:_ROWS]]
    seen, labels = mask_tokens(
        ids, torch.tensor([PAD, CLS, SEP, MASK]), len(topics.VOCABULARY), MASK, _RATE,
        generator=generator,
    )  # fmt: skip
    kinds: list[list[str]] = []
    lines = []
    with panels(1, 8.6, 3.6, "") as (axes,):
        for row in range(len(ids)):
            kinds.append([])
            for column in range(ids.shape[1]):
                old, now, label = (int(x[row, column]) for x in (ids, seen, labels))
                kind = _kind(old, now, label)
                kinds[-1].append(kind)
                colour = _COLOUR_OF.get(kind, PAPER)
                box = _cell(axes, (column, row), colour, FAINT if kind == NOT_CHOSEN else colour)
                below = topics.VOCABULARY[label] if kind != NOT_CHOSEN else ""
                ink = _TEXT_ON.get(kind, FAINT if old < len(topics.SPECIAL) else INK)
                up = 0.17 if below else 0.0
                above = topics.VOCABULARY[now]
                large = 8 if len(above) < 10 else 6.5  # a longer word is as wide as its cell
                for text, y, size in ((above, -up, large), (below, 0.24, 6.5)):
                    axes.text(column, row + y, text, ha="center", va="center", size=size, color=ink)
                tip(
                    box, f"{topics.VOCABULARY[old]}: {kind}" + (f", label {label}" if below else "")
                )
            lines.append(topics.text_of(seen[row]))
        _as_table(axes, len(ids), ids.shape[1])
        handles = [Patch(color=colour, label=kind) for kind, colour in _COLOUR_OF.items()]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.05), ncols=3)
        axes.set_title("what the model sees, and in small letters what it should find (p = 0.4)")
        axes.figure.alt = f"Rows as the model sees them: {'; '.join(lines)}."  # type: ignore[union-attr]
    return Drawn((axes,), {"ids": ids, "seen": seen, "labels": labels})


def _kind(old: int, now: int, label: int) -> str:
    """What happened to a token, in words."""
    if label < 0:
        return NOT_CHOSEN
    if now == MASK:
        return HIDDEN
    return KEPT if now == old else RANDOM


@drawing
def pairs_in_rows(make_nsp: Callable[..., tuple[Tensor, Tensor, Tensor]]) -> Drawn:
    """Two pairs of sentences as rows of tokens, coloured by segment.

    Args:
        make_nsp: makes the pairs.
    """
    words = list(topics.SPECIAL)
    words += sorted({w for texts in DOCUMENTS for text in texts for w in text.split()})
    documents = [
        [torch.tensor([words.index(word) for word in text.split()]) for text in texts]
        for texts in DOCUMENTS
    ]
    ids, segments, labels = make_nsp(documents, torch.Generator().manual_seed(1))
    lines = [" ".join(words[token] for token in row) for row in ids.tolist()]
    alt = "; ".join(f"{line}: label {int(y)}" for line, y in zip(lines, labels, strict=True))
    with panels(1, 8.6, 1.4, f"Two rows: {alt}.") as (axes,):
        for row, (tokens, segment) in enumerate(zip(ids.tolist(), segments.tolist(), strict=True)):
            for column, (token, number) in enumerate(zip(tokens, segment, strict=True)):
                padding = token == PAD
                colour = SHADE if padding else COLOURS[5] if number == 0 else COLOURS[4]
                box = _cell(axes, (column, row), colour, FAINT if padding else colour)
                tip(box, f"{words[token]}: segment {number}")
                text = "·" if padding else words[token]
                ink = FAINT if padding else ON_LIGHT
                axes.text(column, row, text, ha="center", va="center", size=7, color=ink)
        _as_table(axes, *ids.shape)
        axes.set_yticks(range(len(ids)), [f"label {int(label)}" for label in labels])
        axes.set(title="segment 0 in blue, segment 1 in orange", ylabel="")
    return Drawn((axes,), {"ids": ids, "segments": segments, "labels": labels})


@drawing
def both_directions(bert: Callable[[BertConfig], Any]) -> Drawn:
    """Which vectors move if one token changes: in BERT, in both directions; in GPT, behind it.

    Args:
        bert: the class of the model, `Bert`.
    """
    length = len(SENTENCE) + PADDING
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = bert(BertConfig(length, 32, 4, 64, 2, max_len=length, dropout=0.0))
        decoder = GPT(GPTConfig(length, length, 32, 4, 2))
        for model in (encoder, decoder):
            init_normal(model, 0.3)
    ids = torch.arange(length)[None]
    valid = ids < len(SENTENCE)
    tables = {
        "your Bert": _moved(lambda x: encoder.eval().encode(x, valid=valid), ids, length),
        "a GPT": _moved(lambda x: decoder.eval()(x)[0], ids, length),
    }
    names = (*SENTENCE, *["pad"] * PADDING)
    alt = (
        "Two tables, vectors by changed words. In the first, every vector of a word moves with "
        "every word, and none with padding. In the second, vectors move with earlier words alone."
    )
    with panels(2, 8.6, 3.6, alt, gridspec_kw={"wspace": 0.3}) as axes:
        for panel, (title, moved) in zip(axes, tables.items(), strict=True):
            shown = moved[: len(SENTENCE)]
            attention_cells(panel, shown, SENTENCE, names, None, _tips(shown, names))
            panel.set(title=title, xlabel="word that changes", ylabel="")
        axes[0].set_ylabel("vector that moves")
    return Drawn(axes, tables)


def _moved(read: Callable[[Tensor], Any], ids: Tensor, length: int) -> Tensor:
    """How far each place's vector moves if a word changes, (T, T); the farthest of a row is 1."""
    with torch.no_grad():
        before = read(ids)[0]
        columns = []
        for place in range(length):
            other = ids.clone()
            other[0, place] = (ids[0, place] + 1) % length
            columns.append((read(other)[0] - before).norm(dim=-1))
    moved = torch.stack(columns, 1)  # (T, T), a column for each changed word
    return moved / moved.amax(1, keepdim=True).clamp(min=1e-9)


def _tips(moved: Tensor, names: Sequence[str]) -> list[list[str]]:
    """For each cell a sentence."""
    return [
        [
            f"if {changed} changes, the vector at {name} " + ("moves" if far > 1e-6 else "stays")
            for changed, far in zip(names, row, strict=True)
        ]
        for name, row in zip(SENTENCE, moved.tolist(), strict=True)
    ]
