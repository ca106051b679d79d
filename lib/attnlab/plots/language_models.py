"""Figures about a GPT: who sees whom, its size, its loss above a floor, and bits per byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attnlab.gpt import SIZES, GPTConfig
from attnlab.initial_weights import init_normal
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    HATCHES,
    INK,
    NOTHING_TO_DRAW,
    PAPER,
    SEQUENTIAL,
    Drawn,
    cells,
    drawing,
    panels,
    points,
    tip,
)

_T = 7  # tokens in the picture of who sees whom
_DEEP = GPTConfig(50, context=_T, d_model=64, num_heads=4, num_layers=12)


@drawing
def before_training(gpt: Callable[[GPTConfig], Any], init_gpt: Callable[..., None]) -> Drawn:
    """A fresh model: which logits depend on which token, and how its stream grows.

    Args:
        gpt: the class of the model, with `tokens`, `positions` and `blocks`.
        init_gpt: draws its first weights.
    """
    models = {"smaller last layers": init_gpt, "all 0.02": init_normal}
    ids = torch.randint(49, (20, _T), generator=torch.Generator().manual_seed(1))
    data: dict[str, Tensor] = {}
    for name, draw in models.items():
        model = gpt(_DEEP).eval()
        draw(model, generator=torch.Generator().manual_seed(0))
        data[name] = _stream(model, ids)
    seen = data["logits that change"] = _changes(gpt, ids)
    ends = ", ".join(f"{name}: {float(data[name][-1]):.3f}" for name in models)
    alt = (
        "Left, a table of logits by tokens, dark where the logits change with the token: "
        f"{int(seen.triu(1).sum())} of them are above the diagonal. Right, the deviation of the "
        f"stream after each of 12 blocks, which rises; at the end {ends}."
    )
    with panels(2, 7.4, 2.9, alt) as (left, right):
        cells(left, seen.double(), SEQUENTIAL, 0, (0, 1.6))
        left.set(title="logits that change", xlabel="token that changes", ylabel="position")
        for (name, _), colour, dash in zip(models.items(), COLOURS, DASHES, strict=False):
            right.plot(points(data[name]), color=colour, linestyle=dash, label=name)
        right.legend()
        right.set(title="deviation of the stream", xlabel="blocks", ylim=(0, None))
    return Drawn((left, right), data)


@torch.no_grad()
def _stream(model: Any, ids: Tensor) -> Tensor:
    """(blocks + 1,): the standard deviation of the stream before and after each block."""
    x = model.tokens(ids) + model.positions.weight[: ids.shape[1]]  # (B, T, d_model)
    sizes = [x.std()]
    for block in model.blocks:
        x = block(x)
        sizes.append(x.std())
    return torch.stack(sizes)


@torch.no_grad()
def _changes(gpt: Callable[[GPTConfig], Any], ids: Tensor) -> Tensor:
    """(T, T), boolean: whether the logits at position i change with token j."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = gpt(_DEEP).eval()
    before = model(ids)
    columns = []
    for j in range(_T):
        other = ids.clone()
        other[:, j] = 49
        columns.append((model(other) - before).abs().amax((0, 2)) > 1e-6)
    return torch.stack(columns, 1)


@drawing
def sizes(count_gpt_params: Callable[[GPTConfig], int], vocab_size: int = 50_257) -> Drawn:
    """The parameters of the four GPT-2 models, and how many of them are in the table of tokens.

    Args:
        count_gpt_params: called with a `GPTConfig`.
        vocab_size: V, the number of tokens.
    """
    configs = {name: GPTConfig.of_size(name, vocab_size) for name in SIZES}
    totals = {name: count_gpt_params(cfg) / 1e6 for name, cfg in configs.items()}
    tables = {name: vocab_size * cfg.d_model / 1e6 for name, cfg in configs.items()}
    lines = [
        f"{name}: {totals[name]:,.1f} million, {tables[name] / totals[name]:.0%} in the table"
        for name in configs
    ]
    with panels(1, 6.6, 2.1, f"Parameters of four models. {'; '.join(lines)}.") as (axes,):
        for row, name in enumerate(configs):
            table, rest = tables[name], totals[name] - tables[name]
            for left, width, hatch, colour, part in (
                (0.0, table, HATCHES[1], COLOURS[1], "table of tokens"),
                (table, rest, HATCHES[0], COLOURS[0], "everything else"),
            ):
                bar = axes.barh(
                    row, width, left=left, color=colour, hatch=hatch, edgecolor=PAPER,
                    label=part if row == 0 else None,
                )  # fmt: skip
                tip(bar[0], f"{name}, {part}: {width:,.1f} million")
            axes.annotate(
                f" {totals[name]:,.1f} M", (totals[name], row), va="center", color=INK, fontsize=9
            )
        axes.set_yticks(range(len(configs)), list(configs))
        axes.set(
            title="the models of the paper",
            xlabel="parameters [millions]",
            xlim=(0, 1.2 * max(totals.values())),
        )
        axes.invert_yaxis()
        axes.legend(loc="upper right")
    data = {"parameters": torch.tensor(list(totals.values()), dtype=torch.float64)}
    return Drawn((axes,), data, note="\n".join(lines))


@drawing
def windows(get_batch: Callable[..., tuple[Tensor, Tensor]]) -> Drawn:
    """Two windows of a text of twelve tokens, each above the tokens to predict, as lines of text.

    Args:
        get_batch: called as ``get_batch(data, batch, context, generator)``.
    """
    x, y = get_batch(torch.arange(12), 2, 6, torch.Generator().manual_seed(0))
    lines = [
        f"{name}[{row}]  " + " ".join(f"{place:3}" for place in tokens[row].tolist())
        for row in range(2)
        for name, tokens in (("x", x), ("y", y))
    ]
    return Drawn((), {"x": x, "y": y}, note="\n".join(lines))


@drawing
def loss_and_staircase(losses: Tensor, entropies: Sequence[float], log_every: int = 10) -> Drawn:
    """The training loss on a source, with the entropies that a predictor can reach.

    Args:
        losses: (lines of the log,), in nats; without lines nothing is drawn.
        entropies: of the next symbol if 0, 1 and 2 symbols before it are known.
        log_every: steps from one line to the next.
    """
    if not len(losses):
        return Drawn((), {}, NOTHING_TO_DRAW)
    names = ("no symbol known", "the last one known", "the last two known: the floor")
    lines = ", ".join(f"{name} {value:.3f}" for name, value in zip(names, entropies, strict=True))
    alt = (
        f"The loss against the step; it ends at {float(losses[-1]):.3f}. Horizontal lines: {lines}."
    )
    with panels(1, 6.6, 2.9, alt) as (axes,):
        steps = log_every * (1 + torch.arange(len(losses)))
        axes.plot(points(steps), points(losses), color=COLOURS[0])
        for name, value in zip(names, entropies, strict=True):
            below = name == names[-1]  # above the floor there is the curve
            axes.axhline(value, color=FAINT, linestyle="--", linewidth=1)
            axes.annotate(
                f"{name}: {value:.3f}", (float(steps[-1]), value), xytext=(0, -3 if below else 2),
                textcoords="offset points", ha="right", va="top" if below else "bottom",
                fontsize=8, color=INK,
            )  # fmt: skip
        axes.set(title="your GPT on the source", xlabel="step", ylabel="loss [nats]")
        axes.set_ylim(min(1.25, float(losses.min()) - 0.05), None)
    return Drawn((axes,), {"losses": losses})


@drawing
def bits_per_byte(found: Mapping[str, float | None], losses: Tensor, log_every: int = 10) -> Drawn:
    """The loss of a training, and how many bits each predictor needs for a byte of new text.

    Args:
        found: bits per byte, by the name of the predictor; those that are None are left out.
        losses: (lines of the log,), of a token, in nats.
        log_every: steps from one line to the next.
    """
    shown = {name: value for name, value in found.items() if value is not None}
    if not shown:
        return Drawn((), {}, NOTHING_TO_DRAW)
    texts = [f"{name} {value:.2f}" for name, value in shown.items()]
    alt = (
        f"Left, the loss of a token, falling. Right, bits per byte of new text: {'; '.join(texts)}."
    )
    options = {"gridspec_kw": {"width_ratios": (1, 1.1), "wspace": 0.75}}
    with panels(2, 7.6, 2.7, alt, **options) as (left, right):
        steps = log_every * (1 + torch.arange(len(losses)))
        left.plot(points(steps), points(losses), color=COLOURS[0])
        left.set(title="training", xlabel="step", ylabel="loss of a token [nats]")
        for row, (name, value) in enumerate(shown.items()):
            own = name.startswith("your")
            bar = right.barh(
                row, value, color=COLOURS[0] if own else COLOURS[4], edgecolor=PAPER,
                hatch=HATCHES[0] if own else HATCHES[1],
            )  # fmt: skip
            tip(bar[0], f"{name}: {value:.3f} bits per byte")
            right.annotate(f" {value:.2f}", (value, row), va="center", fontsize=9, color=INK)
        right.set_yticks(range(len(shown)), list(shown))
        right.invert_yaxis()
        right.set(title="new text", xlabel="bits per byte", xlim=(0, 1.2 * max(shown.values())))
    data = {name: torch.tensor(value) for name, value in shown.items()}
    return Drawn((left, right), {**data, "losses": losses})
