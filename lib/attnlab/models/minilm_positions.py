"""What a real model has learned about positions: the first 60 of MiniLM's table.

The whole table has 512 rows of 384 numbers, in a package of 83 MB (:mod:`attnlab.models.minilm`).
This one is turned so that 60 numbers for each row are enough. A turn changes no dot product.
Rounded to float16, it is a file of 7 kB.

    python -m attnlab.models.minilm_positions    # makes the file again, if the package is there

Source: all-MiniLM-L6-v2, whose model card says Apache-2.0; MiniLM (Wang et al. 2020).
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

FILE = Path(__file__).with_name("minilm_positions.safetensors")
NUMBER = 60


def minilm_positions() -> Tensor:
    """The vectors of MiniLM's first 60 positions, (60, 60), up to a turn of all of them."""
    return load_file(FILE)["positions"].float()


def turned(table: Tensor) -> Tensor:
    """The first rows of a table in fewer columns, with the same dot products.

    Args:
        table: (max_len, d), with d ≥ 60 and max_len ≥ 60.

    Returns:
        (60, 60), float16.
    """
    rows = table[:NUMBER].double()  # (60, d)
    _, upper = torch.linalg.qr(rows.T)  # rows.T = Q @ upper, and Q has orthonormal columns
    return upper.T.contiguous().half()


if __name__ == "__main__":
    from attnlab.models import minilm

    folder = minilm.folder()
    if folder is None:
        raise SystemExit(f"The package is not installed: {minilm.INSTALL}")
    weights = load_file(folder / "model.safetensors")
    save_file({"positions": turned(weights["embeddings.position_embeddings.weight"])}, FILE)
