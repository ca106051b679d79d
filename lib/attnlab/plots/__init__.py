"""The figures of the labs, one module per topic: ``from attnlab.plots import heads``.

Each function draws one figure and returns its axes and the data drawn. It draws the results of the
student's own functions, which it takes as arguments, and contains no answer. The colours differ for
colour-blind eyes and in grey print, and lines also differ in style.

The package may import :mod:`attnlab.checking`, :mod:`attnlab.notebook` and :mod:`attnlab.data`. Its
tests are in ``tests/attnlab/plots``, one file per module. The functions of
:mod:`attnlab.plots.scores` and :mod:`attnlab.plots.words` can also be imported from here.
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
