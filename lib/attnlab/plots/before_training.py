"""Figures about a Transformer before its training: who reads what, its size, its first loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    HATCHES,
    INK,
    ON_DARK,
    ON_LIGHT,
    PAPER,
    SEQUENTIAL,
    Drawn,
    cell_tips,
    cells,
    drawing,
    panels,
    points,
    ticks,
    tip,
)
from attnlab.transformer_config import TransformerConfig

PAD = "pad"
PARTS = (
    "table of symbols",
    "encoder: attention",
    "encoder: feed-forward",
    "decoder: self-attention",
    "decoder: cross-attention",
    "decoder: feed-forward",
)

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

Count = Callable[[TransformerConfig], int]


@drawing
def who_reads_what(
    make: Callable[[], nn.Module], source: Sequence[str], target: Sequence[str]
) -> Drawn:
    """Which logits of a model change if one symbol of the source or of the target changes.

    Args:
        make: returns a model, called as ``model(source, source_valid, target)``, for symbols from 0
            to 19.
        source: S words; those that are "pad" are not valid.
        target: T words.
    """
    model = make().eval()
    symbols = torch.arange(1, len(source) + 1)[None]  # (1, S)
    inputs = torch.arange(1, len(target) + 1)[None]  # (1, T)
    valid = torch.tensor([[word != PAD for word in source]])

    def moved(other_symbols: Tensor, other_inputs: Tensor) -> Tensor:
        with torch.no_grad():
            change = model(other_symbols, valid, other_inputs) - model(symbols, valid, inputs)
        return change[0].abs().amax(-1) > 1e-6  # (T,)

    def changed(row: Tensor, place: int) -> Tensor:
        return torch.where(torch.arange(row.shape[1]) == place, 19, row)

    tables = {
        "a word of the source": torch.stack(
            [moved(changed(symbols, i), inputs) for i in range(len(source))], -1
        ),
        "a word of the target": torch.stack(
            [moved(symbols, changed(inputs, i)) for i in range(len(target))], -1
        ),
    }
    words = dict(zip(tables, (source, target), strict=True))
    alt = "Two tables, dark where the logits after a target word change: " + "; ".join(
        f"if {name} changes, {int(table.sum())} of {table.numel()}"
        for name, table in tables.items()
    )
    ratios = {"width_ratios": [len(source), len(target)], "wspace": 0.15}
    width = 0.62 * (len(source) + len(target)) + 1.6
    with panels(2, width, 0.5 * len(target) + 0.6, f"{alt}.", gridspec_kw=ratios) as axes:
        for panel, (name, table) in zip(axes, tables.items(), strict=True):
            cells(panel, table.double(), SEQUENTIAL, 0, (0, 1.2), aspect=0.8)
            ticks(panel, list(target) if panel is axes[0] else [], list(words[name]))
            for label in panel.get_xticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")
            panel.set(title=name, xlabel="word that changes")
            said = {True: "changes", False: "stays"}
            cell_tips(
                panel,
                [
                    [
                        f"“{word}” changes: what comes after “{row}” {said[bool(cell)]}"
                        for word, cell in zip(words[name], line, strict=True)
                    ]
                    for row, line in zip(target, table, strict=True)
                ],
            )
        axes[0].set(ylabel="logits after")
        axes[1].set_yticks([])
    return Drawn(axes, tables)


@drawing
def parameter_bars(count_params: Count, configs: Mapping[str, TransformerConfig]) -> Drawn:
    """Where the parameters of some models are: a bar for each, divided into parts.

    Args:
        count_params: called with a config. The parts are differences of its results.
        configs: by the models' names.
    """
    shares = {name: parts(count_params, cfg) for name, cfg in configs.items()}
    totals = {name: count_params(cfg) for name, cfg in configs.items()}
    alt = "A bar for each model, divided into parts, in millions of parameters: " + "; ".join(
        f"{name}, {totals[name] / 1e6:.1f}, of which "
        + ", ".join(f"{part} {n / 1e6:.1f}" for part, n in zip(PARTS, share, strict=True))
        for name, share in shares.items()
    )
    height = 0.62 * len(configs) + 0.9
    with panels(1, 7.4, height, f"{alt}.") as (axes,):
        for row, (name, share) in enumerate(shares.items()):
            left = 0.0
            for number, (part, count) in enumerate(zip(PARTS, share, strict=True)):
                (bar,) = axes.barh(
                    row,
                    count / 1e6,
                    left=left,
                    height=0.62,
                    color=COLOURS[number],
                    hatch=HATCHES[number % 2],
                    edgecolor=PAPER,
                    linewidth=0.8,
                    label=part if row == 0 else None,
                )
                of_all = count / totals[name] if totals[name] else 0.0
                tip(bar, f"{name}, {part}: {count:,} parameters, {of_all:.0%}")
                left += count / 1e6
            axes.text(left + 2, row, f"{totals[name] / 1e6:.1f}", va="center", fontsize=9.5)
        largest = max(totals.values()) / 1e6
        axes.set(
            title="where the parameters are",
            xlabel="millions of parameters",
            ylim=(len(configs) - 0.5, -0.5),
            xlim=(0, 1.12 * largest if largest > 0 else 1),
        )
        axes.set_yticks(range(len(configs)), list(configs))
        axes.grid(False, axis="y")
        below = -0.55 / (0.77 * height)  # past the label of the axis
        axes.legend(ncols=3, loc="upper left", bbox_to_anchor=(-0.02, below), fontsize=9)
    return Drawn((axes,), {name: torch.tensor(share) for name, share in shares.items()})


def parts(count_params: Count, cfg: TransformerConfig) -> tuple[int, ...]:
    """The parameters of each of :data:`PARTS`; the few after the stacks are in none of them."""

    def of(encoder: int, decoder: int, d_ff: int = 0) -> int:
        return count_params(
            replace(cfg, num_encoder_layers=encoder, num_decoder_layers=decoder, d_ff=d_ff)
        )

    nothing, n, m = of(0, 0), cfg.num_encoder_layers, cfg.num_decoder_layers
    encoder, decoder = of(n, 0), of(0, m)
    own = of(m, 0) - nothing  # a decoder's self-attentions are like m encoder layers' attentions
    without_tables = replace(cfg, source_vocab=0, target_vocab=0)
    return (
        count_params(cfg) - count_params(without_tables),
        encoder - nothing,
        of(n, 0, cfg.d_ff) - encoder,
        own,
        decoder - nothing - own,
        of(0, m, cfg.d_ff) - decoder,
    )


@drawing
def read_and_written(
    models: Mapping[str, Callable[[], tuple[Tensor, Tensor]]], places: int = 24
) -> Drawn:
    """What some models read, and the next symbol of each, dark if it is the one just read.

    Args:
        models: by name, a function that returns the symbols that the model reads and those that it
            finds likeliest, both (B, T). All read the same.
        places: how many of the first sentence's symbols to show.
    """
    found = {name: make() for name, make in models.items()}
    read = next(iter(found.values()))[0]
    lines = [read[0, :places], *(written[0, :places] for _, written in found.values())]
    shares = {
        name: float((written == symbols).double().mean())
        for name, (symbols, written) in found.items()
    }
    alt = "The share of positions where a fresh model writes what it has just read: " + "; ".join(
        f"{name}, {share:.0%}" for name, share in shares.items()
    )
    equal = torch.stack([line == lines[0] for line in lines]).double()
    equal[0] = 0
    with panels(1, 7.0, 0.27 * len(lines) + 0.4, f"{alt}.") as (axes,):
        axes.imshow(points(equal), cmap=SEQUENTIAL, aspect="auto", vmin=0, vmax=1.3)
        axes.grid(False)
        axes.tick_params(length=0)
        for row, line in enumerate(lines):
            for place, symbol in enumerate(line.tolist()):
                colour = ON_DARK if equal[row, place] else ON_LIGHT
                text = _LETTERS[symbol % len(_LETTERS)]
                axes.text(place, row, text, ha="center", va="center", fontsize=9, color=colour)
        ticks(axes, ["reads", *(f"{name}: {share:.0%}" for name, share in shares.items())], [])
        axes.axhline(0.5, color=FAINT, linewidth=1)
        axes.set(title="what fresh models write", xlabel="position")
    return Drawn((axes,), {name: torch.stack(pair) for name, pair in found.items()})


@drawing
def first_losses(measured: Mapping[str, Callable[[], tuple[float, float]]], symbols: int) -> Drawn:
    """The losses of models before their first step, beside ln V and ln V + σ²/2.

    Args:
        measured: by the models' names, a function that returns a loss and the variance σ² of the
            logits of one position.
        symbols: V, the number of different symbols.
    """
    found = {name: make() for name, make in measured.items()}
    uniform = math.log(symbols)
    predicted = {name: uniform + variance / 2 for name, (_, variance) in found.items()}
    alt = f"The first loss of each model, beside ln {symbols} = {uniform:.2f}: " + "; ".join(
        f"{name}, {loss:.2f}, by the formula {predicted[name]:.2f}"
        for name, (loss, _) in found.items()
    )
    with panels(1, 7.0, 0.42 * len(found) + 1.1, f"{alt}.") as (axes,):
        axes.axvline(uniform, color=FAINT, linewidth=1.2)
        axes.annotate(
            f"ln {symbols}", (uniform, 1), xycoords=("data", "axes fraction"), xytext=(3, -1),
            textcoords="offset points", va="top", fontsize=9, color=INK,
        )  # fmt: skip
        for row, (name, (loss, variance)) in enumerate(found.items()):
            (dot,) = axes.plot([loss], [row], "o", color=COLOURS[0], markersize=8)
            (mark,) = axes.plot([predicted[name]], [row], "|", color=COLOURS[1], markersize=18)
            tip(dot, f"{name}: measured {loss:.3f}")
            tip(mark, f"{name}: ln V + σ²/2 = {predicted[name]:.3f}, with σ² = {variance:.3f}")
        dot.set_label("measured")
        mark.set_label("ln V + σ²/2")
        axes.set(
            title="the first loss",
            xlabel="loss [nats]",
            ylim=(len(found) - 0.4, -0.6),
            xlim=(uniform - 0.4, max(uniform + 1, *(loss for loss, _ in found.values())) + 0.6),
        )
        axes.set_yticks(range(len(found)), list(found))
        axes.legend(loc="upper right")
    data = {name: torch.tensor(pair) for name, pair in found.items()}
    return Drawn((axes,), data)


@drawing
def stream_variances(measure: Callable[[str], Tensor]) -> Drawn:
    """The variance of the stream after each layer of a fresh encoder, for both modes.

    Args:
        measure: called as ``measure(norm)``; returns N + 1 variances, the first is the input's.
    """
    found = {norm: measure(norm).detach().double() for norm in ("pre", "post")}
    alt = "The variance of the stream after each layer: " + "; ".join(
        f"{norm}-norm " + ", ".join(f"{value:.1f}" for value in values.tolist())
        for norm, values in found.items()
    )
    with panels(1, 5.2, 2.5, f"{alt}.") as (axes,):
        for number, (norm, values) in enumerate(found.items()):
            axes.plot(
                range(len(values)), points(values), color=COLOURS[number],
                linestyle=DASHES[number], marker="o", markersize=4, label=f"{norm}-norm",
            )  # fmt: skip
            for layer, value in enumerate(values.tolist()):
                (spot,) = axes.plot(
                    [layer], [value], "o", color=COLOURS[number], markersize=8, alpha=0
                )
                tip(spot, f"{norm}-norm, after layer {layer}: {value:.2f}")
        axes.set(
            title="the stream of a fresh encoder",
            xlabel="after layer (0: the input)",
            ylabel="variance",
            ylim=(0, None),
        )
        axes.legend()
    return Drawn((axes,), found)
