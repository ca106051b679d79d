"""The figures of the labs: labs 0 and 1 by name here, later labs in a file for each idea.

Each function draws one figure and returns its axes and the data drawn.

The functions take what they draw from, a student's own `softmax` among it; none of them holds an
answer. Colours stay apart for colour-blind eyes and in grey print, and lines differ in style, too.
"""

from attnlab.plots.canvas import Drawn
from attnlab.plots.scores import (
    entropy_curve,
    log_softmax_gap,
    loss_against_scale,
    softmax_bars,
    softmax_jacobian,
    temperature_fan,
)
from attnlab.plots.words import (
    apple_arrows,
    equivariance_bars,
    lab00_preview,
    lab01_preview,
    number_tables,
    tensor_cells,
)

__all__ = [
    "Drawn",
    "apple_arrows",
    "entropy_curve",
    "equivariance_bars",
    "lab00_preview",
    "lab01_preview",
    "log_softmax_gap",
    "loss_against_scale",
    "number_tables",
    "softmax_bars",
    "softmax_jacobian",
    "temperature_fan",
    "tensor_cells",
]
