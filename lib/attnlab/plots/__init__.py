"""The figures of the labs, one module per topic: ``plots.heads.head_grid(...)``.

    from attnlab import plots

Each function draws one figure and returns its axes and the data drawn. It draws the results of the
student's own functions, which it takes as arguments, and contains no answer. The colours differ for
colour-blind eyes and in grey print, and lines also differ in style.

The package may import :mod:`attnlab.checking`, :mod:`attnlab.notebook` and :mod:`attnlab.data`. Its
tests are in ``tests/attnlab/plots``, one file per module.
"""

from attnlab.plots import (
    alignment,
    attention,
    averaging,
    before_training,
    bleu,
    buckets,
    decoding,
    devices,
    few_shot,
    forcing,
    gpt_inputs,
    gradients,
    heads,
    heatmap,
    language_models,
    layers,
    leaks,
    learning,
    masks,
    one_update,
    optimizers,
    positions,
    power_law,
    precision,
    pretraining,
    reading,
    scaling,
    scores,
    smoothing,
    symptoms,
    text_to_text,
    three_attentions,
    tokens,
    training,
    translation,
    words,
)
from attnlab.plots.canvas import Drawn

__all__ = [
    "Drawn",
    "alignment",
    "attention",
    "averaging",
    "before_training",
    "bleu",
    "buckets",
    "decoding",
    "devices",
    "few_shot",
    "forcing",
    "gpt_inputs",
    "gradients",
    "heads",
    "heatmap",
    "language_models",
    "layers",
    "leaks",
    "learning",
    "masks",
    "one_update",
    "optimizers",
    "positions",
    "power_law",
    "precision",
    "pretraining",
    "reading",
    "scaling",
    "scores",
    "smoothing",
    "symptoms",
    "text_to_text",
    "three_attentions",
    "tokens",
    "training",
    "translation",
    "words",
]
