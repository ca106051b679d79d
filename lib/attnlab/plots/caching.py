"""Figures about the cache of keys and values: what new tokens see, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.gpt import GPT, GPTConfig, init_gpt
from attnlab.multihead import MultiHeadAttention
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
    tip,
)
from attnlab.plots.heatmap import attention_cells
from attnlab.plots.masks import grid

_PROMPT, _LENGTH, _FILLED = 5, 8, 2
_LONG, _EVERY = 256, 16
_SMALL = GPTConfig(vocab_size=512, context=_LONG, d_model=128, num_heads=4, num_layers=4)


@drawing
def masks_and_products(
    positions_and_mask: Callable[..., tuple[Tensor, Tensor]],
    cached_attention: Callable[..., tuple[Tensor, tuple[Tensor, Tensor]]],
) -> Drawn:
    """What a prompt and each token after it may attend to, and how many products a token costs.

    Args:
        positions_and_mask: called as ``positions_and_mask(valid, T)``.
        cached_attention: called as ``cached_attention(attention, x, past, mask)``.
    """
    valid = torch.ones(2, _LENGTH, dtype=torch.bool)
    valid[1, :_FILLED] = False
    masks, positions = _rows(positions_and_mask, valid)
    with_cache, without = _products(positions_and_mask, cached_attention)
    reads = torch.arange(_EVERY, _LONG + 1, _EVERY)
    alt = (
        f"Two tables: a triangle of {_PROMPT} tokens, then a row for each token after it; in the "
        f"second one, {_FILLED} columns of filling are empty. Right, products per token at "
        f"{_LONG} tokens: {int(with_cache[-1])} with a cache, {int(without[-1])} without."
    )
    with panels(3, 9.0, 2.9, alt, gridspec_kw={"wspace": 0.45}) as (first, second, costs):
        keys = [str(n) for n in range(1, _LENGTH + 1)]
        for panel, mask, where in zip((first, second), masks, positions, strict=True):
            attention_cells(panel, mask, [str(n) for n in where.tolist()], keys, digits=None)
            grid(panel, mask)
            panel.set(xlabel="token", ylabel="position of the query")
        first.set_title("a row without filling")
        second.set_title(f"with {_FILLED} places of filling")
        lines = {"without a cache": without, "with a cache": with_cache}
        for (name, counts), colour, dash in zip(lines.items(), COLOURS, DASHES, strict=False):
            (line,) = costs.plot(
                points(reads), points(counts), color=colour, linestyle=dash, label=name
            )
            tip(line, f"{name}: {int(counts[-1]):,} products for token {_LONG}")
        costs.set(title="products per token and head", xlabel="token", yscale="log")
        costs.set_ylim(bottom=2)
        costs.legend(loc="lower right")
    data = {"masks": masks, "positions": positions, **lines}
    return Drawn((first, second, costs), data)


def _rows(
    positions_and_mask: Callable[..., tuple[Tensor, Tensor]], valid: Tensor
) -> tuple[Tensor, Tensor]:
    """The masks of all readings one below another, (B, L, L), and the positions, (B, L)."""
    masks, positions = [], []
    for length in range(_PROMPT, _LENGTH + 1):
        new = _PROMPT if length == _PROMPT else 1
        where, mask = positions_and_mask(valid[:, :length], new)
        later = torch.zeros(len(valid), new, _LENGTH - length, dtype=torch.bool)
        masks.append(torch.cat((mask[:, 0].bool(), later), 2))
        positions.append(where)
    return torch.cat(masks, 1), torch.cat(positions, 1)


def _products(
    positions_and_mask: Callable[..., Any], cached_attention: Callable[..., Any]
) -> tuple[Tensor, Tensor]:
    """Products of a query and a key for every 16th token, with a cache and without."""
    attention, x = MultiHeadAttention(4, 1), torch.zeros(1, _LONG, 4)
    with_cache, without = [], []
    past = None
    for length in range(1, _LONG + 1):
        valid = torch.ones(1, length, dtype=torch.bool)
        _, mask = positions_and_mask(valid, 1)
        out, past = cached_attention(attention, x[:, length - 1 : length], past, mask)
        if length % _EVERY == 0:
            with_cache.append(out.shape[1] * past[0].shape[2])
            _, mask = positions_and_mask(valid, length)
            out, whole = cached_attention(attention, x[:, :length], None, mask)
            without.append(out.shape[1] * whole[0].shape[2])
    return torch.tensor(with_cache), torch.tensor(without)


@not_while_grading
@drawing
def time_per_token(generate: Callable[..., Tensor]) -> Drawn:
    """Measured time for each new token of a small GPT, with a cache and without.

    Args:
        generate: called as ``generate(model, prompt, max_new_tokens)``.
    """
    model = GPT(_SMALL).eval()
    init_gpt(model, generator=torch.Generator().manual_seed(0))
    prompt = torch.zeros(1, 1, dtype=torch.int64)
    stops: list[float] = []
    generate(model, prompt, 2)  # the first call of all takes longer
    hook = model.register_forward_pre_hook(lambda *_: stops.append(time.perf_counter()))
    text = generate(model, prompt, _LONG - 1)
    stops.append(time.perf_counter())
    hook.remove()
    again = [time.perf_counter()]
    with torch.no_grad():
        for length in range(1, _LONG):
            model(torch.cat((prompt, text), 1)[:, :length])
            again.append(time.perf_counter())
    lines = {"without a cache": _milliseconds(again), "with a cache": _milliseconds(stops)}
    total = {name: float(torch.tensor(at).diff().sum()) for name, at in
             zip(lines, (again, stops), strict=True)}  # fmt: skip
    alt = "Time per token. " + "; ".join(
        f"{name}: {values[0]:.1f} ms at first, {values[-1]:.1f} ms at {_LONG} tokens"
        for name, values in lines.items()
    )
    with panels(1, 5.6, 2.9, f"{alt}.") as (axes,):
        for (name, values), colour, dash in zip(lines.items(), COLOURS, DASHES, strict=False):
            at = torch.arange(len(values)) * _EVERY + _EVERY / 2
            (line,) = axes.plot(
                points(at), points(values), color=colour, linestyle=dash, label=name
            )
            tip(line, f"{name}: {total[name]:.2f} s for {_LONG} tokens")
        axes.set(title="time per new token", xlabel="tokens so far", ylabel="milliseconds")
        axes.set_ylim(bottom=0)
        axes.legend()
    return Drawn((axes,), lines)


def _milliseconds(moments: list[float]) -> Tensor:
    """The median time between two moments, for every 16 tokens."""
    steps = 1000 * torch.tensor(moments, dtype=torch.float64).diff()
    return torch.stack([part.median() for part in steps.split(_EVERY)])
