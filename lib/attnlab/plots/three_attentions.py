"""The three attentions of a Transformer, on one sentence pair: who asks, who answers, and masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnlab.masks import causal_mask
from attnlab.plots.attention_calls import recorded
from attnlab.plots.canvas import FAINT, Drawn, drawing, panels
from attnlab.plots.heatmap import attention_cells
from attnlab.plots.masks import grid

PAD = "pad"
_NO_ATTENTION = "No picture yet: it shows layers that are made of `MultiHeadAttention`."
_KINDS = ("encoder: self-attention", "decoder: self-attention", "decoder: cross-attention")


@drawing
def three_attentions(
    encoder_layer: Callable[[], nn.Module],
    decoder_layer: Callable[[], nn.Module],
    source: Sequence[str],
    target: Sequence[str],
    d_model: int = 16,
) -> Drawn:
    """The weights of the three attentions, each the mean over its heads, as tables side by side.

    Args:
        encoder_layer: makes an encoder layer.
        decoder_layer: makes a decoder layer.
        source: S words; those that are "pad" are hidden.
        target: T words, another number.
        d_model: features of a vector of the layers; the words get random ones.
    """
    random = torch.Generator().manual_seed(7)
    x, y = (torch.randn(1, len(words), d_model, generator=random) for words in (source, target))
    visible = torch.tensor([word != PAD for word in source])
    encoder, decoder = encoder_layer().eval(), decoder_layer().eval()
    with torch.no_grad(), recorded(encoder, decoder) as tables:
        memory = encoder(x, visible[None, None, None])
        decoder(
            y,
            memory,
            target_mask=causal_mask(len(target)),
            memory_mask=visible[None, None, None],
        )
    if [table.shape[-2:] for table in tables] != [
        (len(source), len(source)),
        (len(target), len(target)),
        (len(target), len(source)),
    ]:
        return Drawn((), {}, _NO_ATTENTION)
    shown = dict(zip(_KINDS, (table.mean((0, 1)) for table in tables), strict=True))
    return _drawn(shown, source, target)


def _drawn(shown: dict[str, Tensor], source: Sequence[str], target: Sequence[str]) -> Drawn:
    sides = (("source", source), ("target", target))
    asking, answering = (sides[0], sides[1], sides[1]), (sides[0], sides[1], sides[0])
    alt = (
        "Three tables of attention weights, with a dash where a mask forbids. Source words over "
        "source words: dashes in the column of the padding. Target words over target words: dashes "
        "above the diagonal. Target words over source words: dashes in the column of the padding."
    )
    sizes = {"width_ratios": [len(words) for _, words in answering], "wspace": 0.55}
    with panels(3, 7.4, 2.7, alt, gridspec_kw=sizes) as axes:
        for panel, (title, table), (queries, rows), (keys, columns) in zip(
            axes, shown.items(), asking, answering, strict=True
        ):
            attention_cells(panel, table, rows, columns, None, _tips(table, rows, columns))
            grid(panel, table)
            for row, column in (table == 0).nonzero().tolist():
                panel.text(column, row, "–", ha="center", va="center", color=FAINT)
            panel.set_title(title, fontsize=10)
            panel.set(xlabel=f"keys, values: {keys}", ylabel=f"queries: {queries}")
    return Drawn(axes, shown)


def _tips(table: Tensor, rows: Sequence[str], columns: Sequence[str]) -> list[list[str]]:
    """For each cell: who asks, who answers, the weight; and why, if it is 0."""

    def said(row: int, column: int) -> str:
        weight = float(table[row, column])
        text = f"“{rows[row]}” asks, “{columns[column]}” answers: {weight:.3f}"
        if weight > 0:
            return text
        return f"{text}, hidden: {'padding' if columns[column] == PAD else 'a later word'}"

    return [[said(row, column) for column in range(len(columns))] for row in range(len(rows))]
