"""The attention weights of lab 7's first picture: where the lab's own model looks.

They are those of the trained weights in ``numbers.safetensors``, beside the exercise
``train_transformer`` of lab 7: the mean over the heads of the decoder's attention to the source. A
test compares them. Tested in tests/attnlab/plots/test_reading.py.
"""

from __future__ import annotations

import torch
from torch import Tensor

ENGLISH = "eighty-one thousand two hundred"
FRENCH = "quatre-vingt-un mille deux cents"

# In percent; rows are the words of FRENCH and then EOS, columns the words of ENGLISH.
_WEIGHTS = (
    (43, 57, 0, 0, 0, 0),
    (63, 37, 0, 0, 0, 0),
    (64, 0, 36, 0, 0, 0),
    (56, 30, 13, 0, 0, 0),
    (25, 1, 65, 9, 0, 0),
    (26, 22, 3, 47, 1, 1),
    (0, 0, 0, 0, 100, 0),
    (0, 0, 0, 24, 1, 75),
    (0, 0, 0, 16, 1, 83),
)  # fmt: skip


def weights_of_a_number() -> Tensor:
    """Where a trained model looks, (9, 6): the words of FRENCH and EOS by the words of ENGLISH."""
    return torch.tensor(_WEIGHTS, dtype=torch.float64) / 100
