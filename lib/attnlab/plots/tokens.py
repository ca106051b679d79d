"""Figures about tokens: merges as trees, one sentence in several vocabularies, compression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.data import gpt2_vocabulary
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    PAPER,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
    tip,
)

Pair = tuple[bytes, bytes]
# How often each word occurs: the example of Sennrich et al. 2016, section 3.2.
WORDS = {b"low_": 5, b"lower_": 2, b"newest_": 6, b"widest_": 3}
SENTENCE = "The lowest value is returned, as in min(a, b) 🙂"
_GAP = 1.5  # between two words of a tree, in letters
_DRAWN = 0x250  # characters from here on are in few fonts


@drawing
def merge_trees(
    train_bpe: Callable[..., list[Pair]], merge_pair: Callable[[list[bytes], Pair], list[bytes]]
) -> Drawn:
    """Twelve merges of four words as trees, under both rules for ties.

    Args:
        train_bpe: called as ``train_bpe(words, n_merges, tie=…)``.
        merge_pair: called as ``merge_pair(parts, pair)``.
    """
    merges = {tie: train_bpe(WORDS, 12, tie=tie) for tie in ("first", "greatest")}
    counts = {tie: _counts(found, merge_pair) for tie, found in merges.items()}
    alt = "Trees over the letters of low_, lower_, newest_ and widest_. " + " ".join(
        f"Merges with ties by “{tie}”: {_listed(found, counts[tie])}."
        for tie, found in merges.items()
    )
    with panels(2, 8.6, 4.2, alt, sharey=True) as axes:
        for panel, (tie, found) in zip(axes, merges.items(), strict=True):
            _trees(panel, found, counts[tie], merge_pair)
            panel.set(title=f'ties: "{tie}"', ylim=(-0.9, len(found) + 0.7), xticks=[])
            panel.set_yticks(range(1, len(found) + 1))
            panel.grid(axis="x", visible=False)
        axes[0].set_ylabel("number of the merge")
    return Drawn(axes, {tie: torch.tensor(found) for tie, found in counts.items()})


def _counts(merges: Sequence[Pair], merge_pair: Callable[..., list[bytes]]) -> list[int]:
    """How often each pair stood in the words when it was joined."""
    cut = [([bytes([byte]) for byte in word], count) for word, count in WORDS.items()]
    found = []
    for pair in merges:
        every: Counter[Pair] = Counter()
        for parts, count in cut:
            for neighbours in pairwise(parts):
                every[neighbours] += count
        found.append(every[pair])
        cut = [(merge_pair(parts, pair), count) for parts, count in cut]
    return found


def _listed(merges: Sequence[Pair], counts: Sequence[int]) -> str:
    return ", ".join(
        f"{(first + second).decode()} ({count})"
        for (first, second), count in zip(merges, counts, strict=True)
    )


def _trees(
    panel: Axes,
    merges: Sequence[Pair],
    counts: Sequence[int],
    merge_pair: Callable[..., list[bytes]],
) -> None:
    """Draw a tree over each word: a bracket at the height of each merge in it."""
    left = 0.0
    for word, colour in zip(WORDS, COLOURS, strict=False):
        parts = [bytes([byte]) for byte in word]
        places = [(left + i, 0.0) for i in range(len(parts))]  # of each part: middle and height
        for (x, y), part in zip(places, parts, strict=True):
            panel.text(x, y - 0.15, part.decode(), ha="center", va="top", family="monospace")
        for height, pair in enumerate(merges, 1):
            before, parts = parts, merge_pair(parts, pair)
            if len(parts) == len(before):
                continue
            places = _joined(panel, before, pair, places, height, counts[height - 1], colour)
        left += len(word) + _GAP
    panel.set_xlim(-1, left - _GAP)


def _joined(
    panel: Axes,
    parts: Sequence[bytes],
    pair: Pair,
    places: Sequence[tuple[float, float]],
    height: int,
    count: int,
    colour: str,
) -> list[tuple[float, float]]:
    """Draw a bracket over each place where the pair is joined; return the new places."""
    found, at = [], 0
    while at < len(parts):
        if tuple(parts[at : at + 2]) != pair:
            found.append(places[at])
            at += 1
            continue
        (x0, y0), (x1, y1) = places[at], places[at + 1]
        (line,) = panel.plot([x0, x0, x1, x1], [y0, height, height, y1], color=colour)
        first, second = (part.decode() for part in pair)
        tip(line, f"merge {height}: {first} + {second}, which stood there {count} times")
        found.append(((x0 + x1) / 2, float(height)))
        at += 2
    return found


@drawing
def one_sentence(
    encode: Callable[..., list[int]], merges: Sequence[Pair], sentence: str = SENTENCE
) -> Drawn:
    """The tokens of one sentence: without merges, with some, with all, and GPT-2's if there are.

    Args:
        encode: called as ``encode(text, merges)``.
        merges: a vocabulary of the student's own.
        sentence: what is cut.
    """
    sizes = sorted({0, len(merges) // 6, len(merges)})
    rows = {f"{size} merges": _tokens(encode, sentence, merges[:size]) for size in sizes}
    gpt2 = gpt2_vocabulary.load()
    if gpt2 is not None:
        ids = gpt2.encode_ordinary(sentence)
        rows["GPT-2"] = [(gpt2.decode_single_token_bytes(number), number) for number in ids]
    alt = f"The tokens of “{sentence}”. " + " ".join(
        f"{name}: {len(tokens)} tokens, {'|'.join(_readable(token) for token, _ in tokens)}."
        for name, tokens in rows.items()
    )
    with panels(1, 8.0, 0.55 * len(rows) + 0.5, alt) as (axes,):
        for y, tokens in enumerate(rows.values()):
            _boxes(axes, -y, tokens)
        names = [f"{name}: {len(tokens)}" for name, tokens in rows.items()]
        axes.set_yticks([-y for y in range(len(rows))], names)
        axes.set(xlim=(-0.3, len(sentence.encode()) + 0.3), ylim=(0.55 - len(rows), 0.6), xticks=[])
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
    numbers = {name: torch.tensor([n for _, n in tokens]) for name, tokens in rows.items()}
    note = "" if gpt2 else "GPT-2's own tokens are not on this machine; the lab does not need them."
    return Drawn((axes,), numbers, note=note)


def _tokens(
    encode: Callable[..., list[int]], sentence: str, merges: Sequence[Pair]
) -> list[tuple[bytes, int]]:
    """The tokens of a sentence with their numbers."""
    known = [bytes([byte]) for byte in range(256)] + [first + second for first, second in merges]
    return [(known[number], number) for number in encode(sentence, merges)]


def _boxes(axes: Axes, y: float, tokens: Sequence[tuple[bytes, int]]) -> None:
    """A box for each token, as wide as it has bytes; neighbours have other frames."""
    left = 0
    for place, (token, number) in enumerate(tokens):
        box = Rectangle(
            (left + 0.06, y - 0.36), len(token) - 0.12, 0.72, facecolor=PAPER,
            edgecolor=COLOURS[place % 2], linewidth=1.2,
        )  # fmt: skip
        axes.add_patch(box)
        tip(box, f"{token!r}, number {number}, {len(token)} bytes")
        axes.text(
            left + len(token) / 2, y, _readable(token), ha="center", va="center",
            family="monospace", fontsize=8.5, color=INK, clip_on=True,
        )  # fmt: skip
        left += len(token)


def _readable(token: bytes) -> str:
    """A token as text: a space as a small box; half a character, or a rare one, as a dot."""
    text = token.decode(errors="replace").replace("\n", "\\n")
    text = "".join(letter if ord(letter) < _DRAWN else "·" for letter in text)
    return text.replace(" ", "\N{OPEN BOX}")


@not_while_grading
@drawing
def compression(
    compression_curve: Callable[..., list[tuple[float, float]]],
    merges: Sequence[Pair],
    texts: Mapping[str, str],
) -> Drawn:
    """Tokens per word and bytes per token of several texts, against the number of merges.

    Args:
        compression_curve: called as ``compression_curve(text, merges, sizes)``.
        merges: a vocabulary.
        texts: by name.
    """
    sizes = sorted({round(len(merges) * share / 12) for share in range(13)})
    curves = {
        name: torch.tensor(compression_curve(text, merges, sizes), dtype=torch.float64)
        for name, text in texts.items()
    }
    alt = f"Two panels over 0 to {len(merges)} merges. " + " ".join(
        f"{name}: tokens per word fall from {curve[0, 0]:.1f} to {curve[-1, 0]:.2f}, bytes per "
        f"token rise from 1 to {curve[-1, 1]:.2f}."
        for name, curve in curves.items()
    )
    across = torch.tensor(sizes, dtype=torch.float64)
    with panels(2, 8.4, 3.2, alt) as axes:
        for (name, curve), colour, dash in zip(curves.items(), COLOURS, DASHES, strict=False):
            for panel, column in zip(axes, curve.T, strict=True):
                panel.plot(points(across), points(column), color=colour, linestyle=dash, label=name)
        axes[0].axhline(4 / 3, color=FAINT, linewidth=1)
        axes[0].text(len(merges), 4 / 3, "4,000 for 3,000", ha="right", va="bottom", color=FAINT)
        axes[0].set(title="tokens per word", xlabel="merges", ylim=(0, None))
        axes[1].set(title="bytes per token", xlabel="merges", ylim=(0, None))
        axes[0].legend()
    return Drawn(axes, curves)
