"""Numbers for three pictures of lab 2, measured once because measuring them takes too long.

The shares of strings of digits that are copied with and without attention were measured by
``autograder/exercises/lab02/train_translator/measure_without_attention.py`` (five seeds); its
numbers are in ``without_attention.json`` next to it. The losses of single symbols were measured by
``measure_learning_order.py`` in the same folder. The attention weights are those of the lab's own
solution. A test compares all of them with their sources.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHORTEST, LONGEST = 2, 16  # digits in the strings that the two translators were trained on
LENGTHS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24)
DATE, ISO = "1998, march 5", "1998-03-05"

# The share of 200 new strings of each length that were copied without a mistake; one row per seed.
_WITH = (
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.97, 0.635, 0.055, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.965, 0.395, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.985, 0.695, 0.095, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.545, 0.03, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.98, 0.52, 0.03, 0.0),
)  # fmt: skip
_WITHOUT = (
    (1.0, 1.0, 0.99, 0.96, 0.75, 0.395, 0.12, 0.025, 0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 0.995, 0.945, 0.73, 0.415, 0.175, 0.02, 0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 0.995, 0.93, 0.745, 0.37, 0.135, 0.025, 0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 0.99, 0.93, 0.735, 0.445, 0.155, 0.04, 0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 0.995, 0.915, 0.75, 0.42, 0.2, 0.035, 0.005, 0.0, 0.0, 0.0),
)  # fmt: skip
# The same without attention, trained for four times as many steps.
_LONGER = (
    (1.0, 1.0, 1.0, 1.0, 0.995, 0.98, 0.895, 0.68, 0.2, 0.015, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 0.995, 0.98, 0.93, 0.655, 0.2, 0.015, 0.0, 0.0),
    (1.0, 1.0, 1.0, 0.995, 1.0, 0.975, 0.895, 0.575, 0.165, 0.005, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.97, 0.885, 0.635, 0.22, 0.03, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 0.995, 0.98, 0.88, 0.675, 0.215, 0.015, 0.0, 0.0),
)  # fmt: skip
# The loss of each symbol of a date in nats, a row every 20 steps of the lab's own training.
EVERY = 20
_LEARNING = (
    (2.715, 2.667, 2.673, 2.662, 2.541, 2.668, 2.644, 2.496, 2.688, 2.665, 2.824),  # 0
    (2.549, 2.409, 2.658, 2.659, 2.241, 2.345, 2.638, 2.185, 2.531, 2.653, 2.708),  # 20
    (2.141, 1.884, 2.701, 2.746, 1.617, 1.719, 2.711, 1.545, 2.243, 2.754, 2.496),  # 40
    (1.255, 0.938, 2.664, 2.839, 1.394, 1.219, 2.677, 1.282, 1.878, 2.943, 1.634),  # 60
    (0.614, 0.25, 2.388, 2.881, 0.553, 0.81, 2.413, 0.695, 1.553, 2.787, 0.811),  # 80
    (0.202, 0.108, 2.152, 2.151, 0.11, 0.623, 2.155, 0.342, 1.299, 2.313, 0.154),  # 100
    (0.089, 0.048, 1.668, 1.338, 0.055, 0.459, 1.912, 0.227, 1.139, 2.146, 0.041),  # 120
    (0.044, 0.026, 0.662, 0.705, 0.023, 0.325, 1.686, 0.17, 1.099, 1.977, 0.035),  # 140
    (0.02, 0.013, 0.101, 0.175, 0.036, 0.239, 1.355, 0.158, 1.041, 1.812, 0.025),  # 160
    (0.016, 0.008, 0.167, 0.228, 0.004, 0.186, 1.013, 0.266, 0.84, 1.586, 0.013),  # 180
    (0.026, 0.006, 0.039, 0.078, 0.011, 0.13, 0.795, 0.306, 0.733, 1.287, 0.017),  # 200
    (0.009, 0.004, 0.019, 0.029, 0.008, 0.127, 0.6, 0.247, 0.606, 0.691, 0.018),  # 220
    (0.006, 0.004, 0.015, 0.052, 0.013, 0.073, 0.37, 0.049, 0.552, 0.19, 0.017),  # 240
    (0.006, 0.003, 0.009, 0.017, 0.016, 0.056, 0.286, 0.052, 0.399, 0.122, 0.012),  # 260
    (0.002, 0.001, 0.007, 0.03, 0.001, 0.044, 0.229, 0.038, 0.252, 0.08, 0.021),  # 280
    (0.002, 0.001, 0.008, 0.011, 0.002, 0.028, 0.157, 0.011, 0.197, 0.087, 0.051),  # 300
    (0.001, 0.0, 0.006, 0.01, 0.002, 0.018, 0.123, 0.04, 0.206, 0.025, 0.01),  # 320
    (0.001, 0.0, 0.004, 0.008, 0.001, 0.011, 0.064, 0.05, 0.094, 0.029, 0.003),  # 340
    (0.001, 0.0, 0.003, 0.006, 0.001, 0.011, 0.05, 0.022, 0.065, 0.027, 0.004),  # 360
    (0.001, 0.0, 0.003, 0.007, 0.001, 0.012, 0.055, 0.042, 0.059, 0.023, 0.003),  # 380
    (0.001, 0.0, 0.003, 0.012, 0.001, 0.012, 0.045, 0.016, 0.039, 0.008, 0.003),  # 400
)  # fmt: skip
# In percent; rows are the symbols of ISO and then EOS, columns the characters of DATE.
_WEIGHTS = (
    (1, 49, 47, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2),
    (1, 48, 49, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    (0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (6, 6, 1, 3, 9, 9, 15, 13, 13, 12, 3, 5, 6),
    (6, 0, 1, 1, 1, 11, 11, 10, 11, 13, 11, 12, 13),
    (7, 1, 1, 1, 2, 6, 13, 18, 18, 16, 5, 5, 7),
    (15, 13, 2, 3, 1, 7, 2, 1, 1, 3, 1, 12, 39),
    (3, 1, 3, 2, 0, 1, 2, 2, 1, 4, 3, 5, 73),
    (4, 8, 10, 2, 0, 0, 0, 0, 0, 0, 0, 0, 75),
    (2, 7, 7, 10, 0, 0, 0, 0, 0, 1, 0, 0, 74),
)  # fmt: skip


def copied() -> dict[str, Tensor]:
    """The share of strings copied without a mistake, (seeds, 12 lengths), by kind of model."""
    return {
        "with attention": torch.tensor(_WITH, dtype=torch.float64),
        "without": torch.tensor(_WITHOUT, dtype=torch.float64),
        "without, 4 times as long": torch.tensor(_LONGER, dtype=torch.float64),
    }


def learning_order() -> Tensor:
    """The loss of each symbol of a date, EOS included, in nats, (21, 11): a row every 20 steps."""
    return torch.tensor(_LEARNING, dtype=torch.float64)


def weights_of_a_date() -> Tensor:
    """Where a trained translator looks, (11, 13): ISO's symbols and EOS by DATE's characters."""
    return torch.tensor(_WEIGHTS, dtype=torch.float64) / 100
