"""Figures about the decoder of a Transformer: what it reads and must write, and how it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from torch import Tensor, nn

from attnlab.batching import Batch
from attnlab.data import dates, places
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.models import shipped_transformers
from attnlab.plots.attention_calls import NO_WEIGHTS, recorded
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    GRID,
    HATCHES,
    INK,
    ON_DARK,
    SHADE,
    Drawn,
    drawing,
    panels,
    points,
    tip,
)

MakeBatch = Callable[[Sequence[tuple[list[int], list[int]]]], Batch]
GreedyDecode = Callable[..., Tensor]

_BEST = 3  # words of a step's distribution that are shown
_DAY_LENGTH = 10  # characters of a date with a day
_OF_A_DATE = ("y", "y", "y", "y", "-", "m", "m", "-", "d", "d", "end")


@drawing
def reads_and_writes(make_batch: MakeBatch, pairs: Sequence[places.Pair]) -> Drawn:
    """What the encoder reads, what the decoder reads, and what it must write, word by word.

    Args:
        make_batch: makes the batch.
        pairs: questions and answers in the vocabulary of `attnlab.data.places`.
    """
    batch = make_batch(places.encoded(pairs))
    kinds = {
        "encoder reads": batch.source,
        "decoder reads": batch.inputs,
        "decoder writes": batch.labels,
    }
    width = max(table.shape[1] for table in kinds.values())
    rows = [(name, row, table[row]) for row in range(len(pairs)) for name, table in kinds.items()]
    alt = (
        "Three rows of words for each of some questions: what the encoder reads; what the decoder "
        "reads, which starts with START; and what it must write, which ends with END."
    )
    with panels(1, 7.2, 0.34 * len(rows) + 0.7, alt) as (axes,):
        for line, (name, row, numbers) in enumerate(rows):
            words = [places.WORDS.name(number) for number in numbers.tolist()]
            colour = COLOURS[(0, 1, 2)[line % 3]]
            for position, word in enumerate(words):
                face = SHADE if word == "PAD" else (*to_rgba(colour)[:3], 0.16)
                box = _cell(axes, line, position, face)
                axes.text(
                    position, line, word, ha="center", va="center", fontsize=8.5,
                    color=FAINT if word == "PAD" else INK,
                )  # fmt: skip
                tip(box, f"sentence {row}, position {position}: {name} {word}")
        axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        _empty_table(axes, len(rows), [str(position) for position in range(width)])
        axes.set(title="three rows for each sentence", xlabel="position", ylabel="")
    return Drawn((axes,), batch._asdict())


class _Step(NamedTuple):
    """One call of `decode` for one sentence.

    Attributes:
        read: the numbers of the words that went in.
        looked_back: (len(read),), the weights of the last position's self-attention.
        looked_at: (S,), the weights of its attention to the source.
        chances: (V,), the probabilities of the next word.
    """

    read: list[int]
    looked_back: Tensor
    looked_at: Tensor
    chances: Tensor


@drawing
def decoding_trace(
    transformer: Callable[..., Any], greedy_decode: GreedyDecode, question: str
) -> Drawn:
    """Greedy decoding of one answer as a table: a row for each step.

    The model answers questions about places; one PAD stands after the question, as in a batch with
    a longer one.

    Args:
        transformer: the class of the model.
        greedy_decode: decodes with it; every call of `decode` is recorded.
        question: in the words of `attnlab.data.places`.
    """
    model = shipped_transformers.answers_about_places(transformer)
    source = torch.tensor([[*places.WORDS.encode(question), PAD]])
    steps = _steps(model, greedy_decode, source)
    if not steps:
        return Drawn((), {}, NO_WEIGHTS)
    asked = [places.WORDS.name(number) for number in source[0].tolist()]
    best = [step.chances.topk(_BEST) for step in steps]
    lines = [
        f"step {t + 1}: reads {' '.join(map(places.WORDS.name, step.read))} → writes "
        f"{places.WORDS.name(int(top.indices[0]))} ({float(top.values[0]):.3f})"
        for t, (step, top) in enumerate(zip(steps, best, strict=True))
    ]
    alt = f"The steps of an answer to “{question}”, as a table. " + "; ".join(lines) + "."
    longest = max(len(step.read) for step in steps)
    options = {
        "width_ratios": (1.55 * longest, 0.8 * len(asked), 1.7 * _BEST),  # cells with words: wider
        "sharey": True,
        "gridspec_kw": {"wspace": 0.08},
    }
    with panels(3, 8.6, 0.36 * len(steps) + 1.5, alt, **options) as axes:
        back, across, out = axes
        for t, (step, top) in enumerate(zip(steps, best, strict=True)):
            _look_back(back, t, step, longest)
            _look_across(across, t, step, asked)
            for rank, (chance, word) in enumerate(zip(*top, strict=True)):
                name = places.WORDS.name(int(word))
                text = f"{name}\n{_short(float(chance))}"
                _shaded(out, t, rank, float(chance), text, f"step {t + 1}: {name} {chance:.4f}")
        back.set_yticks(range(len(steps)), [f"step {t + 1}" for t in range(len(steps))])
        _empty_table(back, len(steps), [str(position) for position in range(longest)])
        _empty_table(across, len(steps), asked, slanted=True)
        _empty_table(out, len(steps), ["written", "second", "third"], slanted=True)
        back.set(title="reads; looks back at", xlabel="position in the answer")
        across.set(title="looks across at", xlabel="word of the question")
        out.set(title="likeliest words", xlabel="rank")
    looked = torch.stack([step.looked_at for step in steps])
    chances = torch.stack([step.chances for step in steps])
    return Drawn(axes, {"looked across": looked, "chances": chances}, note="\n".join(lines))


@drawing
def forced_against_free(
    transformer: Callable[..., Any],
    make_batch: MakeBatch,
    greedy_decode: GreedyDecode,
    forced_and_free: Callable[..., Any],
    pairs: Sequence[dates.Pair],
) -> Drawn:
    """Both measures of a model that makes mistakes, forced and free; and where it makes them.

    Args:
        transformer: the class of the model, which translates dates.
        make_batch: makes the batch.
        greedy_decode: decodes with the model.
        forced_and_free: measures the model on all pairs.
        pairs: dates. For the share at each position those without a day are left out.
    """
    model = shipped_transformers.half_trained_on_dates(transformer)
    batch = shipped_transformers.dates_batch(make_batch, pairs)
    forced, free = forced_and_free(model, batch)
    measured = {"forced": [forced.exact, forced.symbols], "free": [free.exact, free.symbols]}
    days = [pair for pair in pairs if len(pair.iso) == _DAY_LENGTH]
    written = _both_ways(model, greedy_decode, shipped_transformers.dates_batch(make_batch, days))
    truth = shipped_transformers.dates_batch(make_batch, days).labels
    right = {name: rows == truth for name, rows in written.items()}
    share = {name: table.double().mean(0) for name, table in right.items()}
    alt = (
        f"Bars: exact match {forced.exact:.3f} forced and {free.exact:.3f} free; share of symbols "
        f"{forced.symbols:.3f} forced and {free.symbols:.3f} free. Lines: the share of right "
        "symbols at each position of a date, "
        + "; ".join(f"{name} lowest {values.min():.2f}" for name, values in share.items())
    )
    with panels(2, 7.6, 3.0, alt + ".", width_ratios=(1, 1.7)) as (left, axes):
        for number, (name, values) in enumerate(measured.items()):
            places_of_bars = [group + (number - 0.5) * 0.4 for group in range(2)]
            bars = left.bar(
                places_of_bars, values, 0.38, color=COLOURS[number], hatch=HATCHES[number],
                edgecolor="white", label=name,
            )  # fmt: skip
            left.bar_label(bars, [f"{value:.3f}" for value in values], padding=2, fontsize=8.5)
            _line(axes, name, share[name], COLOURS[number], DASHES[number])
        left.set_xticks([0, 1], ["exact\nmatch", "share of\nsymbols"])
        left.grid(False, axis="x")
        left.set(
            title=f"{len(pairs)} dates", ylabel="share right", xlabel="measure", ylim=(0, 1.08)
        )
        axes.set_xticks(range(len(_OF_A_DATE)), list(_OF_A_DATE))
        axes.legend(loc="lower left")
        axes.set(title="symbol by symbol", xlabel="symbol of the date", ylim=(0, 1.08))
    differ = (right["forced"] != right["free"]).any(1).nonzero().flatten().tolist()
    lines = [f"{'date':<30}{'true':<12}{'forced':<12}free"]
    for row in differ[:3]:
        texts = [dates.TARGET.decode(table[row].tolist()) for table in written.values()]
        lines.append(f"{days[row].human:<30}{days[row].iso:<12}{texts[0]:<12}{texts[1]}")
    data = {name: torch.tensor(values) for name, values in measured.items()}
    by_symbol = {f"{name}, by symbol": values for name, values in share.items()}
    return Drawn((left, axes), {**data, **by_symbol}, note="\n".join(lines) if differ else "")


def _both_ways(model: Any, greedy_decode: GreedyDecode, batch: Batch) -> dict[str, Tensor]:
    """What the model writes forced and free, each (B, T)."""
    with torch.no_grad():
        forced = model(batch.source, batch.source_valid, batch.inputs).argmax(-1)
    free = greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)
    width = batch.labels.shape[1]
    free = nn.functional.pad(free, (0, max(width - free.shape[1], 0)), value=PAD)
    return {"forced": forced, "free": free[:, :width]}


def _line(axes: Axes, name: str, values: Tensor, colour: str, dash: Any) -> None:
    """The share of right symbols at each position, with a tip for each."""
    axes.plot(points(values), color=colour, linestyle=dash, label=name)
    for position, value in enumerate(values.tolist()):
        (dot,) = axes.plot(position, value, "o", color=colour, markersize=7)
        symbol = f"symbol {position + 1} ({_OF_A_DATE[position]})"
        tip(dot, f"{name}, {symbol}: {value:.3f} right")


def _steps(model: Any, greedy_decode: GreedyDecode, source: Tensor) -> list[_Step]:
    """Decode one sentence and record every call of `decode`, as its last layer saw it.

    A call in which the layer's two attentions do not return their weights is left out.
    """
    steps: list[_Step] = []
    decode = model.decode

    def watched(target: Tensor, *rest: Any, **others: Any) -> Tensor:
        with recorded(model.decoder[-1]) as tables:
            logits: Tensor = decode(target, *rest, **others).detach()
        if len(tables) == 2:
            back, across = (table[0].mean(0)[-1] for table in tables)
            steps.append(_Step(target[0].tolist(), back, across, logits[0, -1].softmax(-1)))
        return logits

    model.decode = watched
    greedy_decode(model, source, source != PAD, BOS, EOS, PAD)
    return steps


def _look_back(axes: Axes, t: int, step: _Step, width: int) -> None:
    """The words that a step reads, shaded by its self-attention; later positions are hatched."""
    for position in range(width):
        if position < len(step.read):
            word, weight = places.WORDS.name(step.read[position]), float(step.looked_back[position])
            _shaded(axes, t, position, weight, word, f"step {t + 1} → {word}: {weight:.3f}")
        else:
            box = _cell(axes, t, position, "none", hatch="////")
            tip(box, f"step {t + 1}: position {position} is not written yet")


def _look_across(axes: Axes, t: int, step: _Step, asked: Sequence[str]) -> None:
    """The words of the source, shaded by the step's attention to them; PAD is hatched."""
    for position, word in enumerate(asked):
        weight = float(step.looked_at[position])
        if word == "PAD":
            box = _cell(axes, t, position, "none", hatch="////")
            tip(box, f"step {t + 1} must not look at PAD: {weight:.3f}")
        else:
            said = f"step {t + 1} → {word}: {weight:.3f}"
            _shaded(axes, t, position, weight, _short(weight), said)


def _shaded(axes: Axes, row: int, column: int, weight: float, text: str, said: str) -> None:
    """A cell from nearly clear (0) to dark blue (1), with a text."""
    box = _cell(axes, row, column, (*to_rgba(COLOURS[0])[:3], 0.06 + 0.94 * weight))
    colour = ON_DARK if weight > 0.5 else INK
    size = 8 if "\n" not in text else 7.5
    axes.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)
    tip(box, said)


def _cell(axes: Axes, row: int, column: int, face: Any, hatch: str | None = None) -> Rectangle:
    box = Rectangle(
        (column - 0.48, row - 0.46), 0.96, 0.92, facecolor=face, edgecolor=GRID, hatch=hatch
    )
    axes.add_patch(box)
    return box


def _empty_table(axes: Axes, rows: int, columns: Sequence[str], slanted: bool = False) -> None:
    """Set up a panel as a table with names for its columns, the first row at the top."""
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(rows - 0.5, -0.5))
    axes.grid(False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if slanted:
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")


def _short(share: float) -> str:
    """A share with two digits, without the 0 before the point."""
    return "1" if share >= 0.995 else f"{share:.2f}".removeprefix("0")
