"""The figure of induction heads: a stripe below the diagonal, one period away.

Tested in tests/attnlab/plots/test_lab10_figures.py.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.models.repeats import PERIOD, attention_weights, copies_repeats, repeated_rows
from attnlab.plots.canvas import (
    ATTENTION,
    COLOURS,
    Drawn,
    drawing,
    panels,
    points,
)


@drawing
def stripes(induction_scores: Callable[[Tensor, int], Tensor]) -> Drawn:
    """The attention of all four heads on one row that repeats itself, with each head's score.

    Args:
        induction_scores: called with the weights of a layer on 32 rows, and the period.
    """
    ids = repeated_rows(32, torch.Generator().manual_seed(1))
    layers = attention_weights(copies_repeats(), ids)
    scores = torch.stack([torch.as_tensor(induction_scores(w, PERIOD)) for w in layers])  # (2, 2)
    heads = [(layer, head) for layer in range(len(layers)) for head in range(scores.shape[1])]
    told = ", ".join(f"layer {n}, head {i}: {float(scores[n, i]):.2f}" for n, i in heads)
    alt = (
        "Attention from each place (down) to each place (across) of a row of twelve symbols twice. "
        f"A head with a high score has a stripe in the lower left half. Scores: {told}."
    )
    with panels(len(heads), 9.2, 2.7, alt, sharey=True) as axes:
        for panel, (layer, head) in zip(axes, heads, strict=True):
            panel.imshow(
                points(layers[layer][0, head]), cmap=ATTENTION, vmin=0, vmax=1, interpolation="none"
            )
            panel.axhline(PERIOD - 0.5, color=COLOURS[1], linewidth=0.8, linestyle=":")
            panel.axvline(PERIOD - 0.5, color=COLOURS[1], linewidth=0.8, linestyle=":")
            panel.set(title=f"head {layer}.{head}: {float(scores[layer, head]):.2f}")
            panel.set_xlabel("looks at place")
            panel.grid(False)
        axes[0].set_ylabel("place")
    return Drawn(axes, {"scores": scores, "weights": torch.stack([w[0] for w in layers])})
