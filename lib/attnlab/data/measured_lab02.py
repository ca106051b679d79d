"""Numbers for two pictures of lab 2, measured once because measuring them takes too long.

The shares of strings of digits that are copied with and without attention were measured by
``autograder/exercises/lab02/train_translator/measure_without_attention.py`` (five seeds, five CPU
minutes); its numbers are in ``without_attention.json`` next to it. The attention weights are those
of the lab's own solution. A test compares both with their sources.
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
    """The share of strings copied without a mistake, (5 seeds, 12 lengths), by kind of model."""
    return {
        "with attention": torch.tensor(_WITH, dtype=torch.float64),
        "without": torch.tensor(_WITHOUT, dtype=torch.float64),
    }


def weights_of_a_date() -> Tensor:
    """Where a trained translator looks, (11, 13): ISO's symbols and EOS by DATE's characters."""
    return torch.tensor(_WEIGHTS, dtype=torch.float64) / 100
