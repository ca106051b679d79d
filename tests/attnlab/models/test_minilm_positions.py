"""The recorded positions of MiniLM have the dot products of its own."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file

from attnlab.models import minilm, minilm_positions


def similarities(vectors: torch.Tensor) -> torch.Tensor:
    """All dot products, divided by the mean squared length, as the figure draws them."""
    vectors = vectors.double()
    return vectors @ vectors.T / vectors.square().sum(-1).mean()


def test_a_turn_changes_no_dot_product() -> None:
    table = torch.randn(70, 96, generator=torch.Generator().manual_seed(0))
    turned = minilm_positions.turned(table)
    assert turned.shape == (60, 60)
    assert torch.allclose(similarities(turned), similarities(table[:60]), atol=5e-3)


def test_the_recorded_rows_are_stripes_except_for_the_first() -> None:
    gram = similarities(minilm_positions.minilm_positions())
    middle = gram[1:, 1:]
    near, far = middle.diagonal(1).mean(), middle.diagonal(4).mean()
    assert middle.diagonal(0).min() > near > far
    for distance in (1, 4, 8):
        assert middle.diagonal(distance).std() < 0.1
    assert (gram[0, 1:] - near).abs().min() > 0.1


@pytest.mark.skipif(minilm.folder() is None, reason=f"needs {minilm.PACKAGE}")
def test_the_recorded_rows_are_those_of_the_package() -> None:
    folder = minilm.folder()
    assert folder is not None
    weights = load_file(folder / "model.safetensors")
    theirs = weights["embeddings.position_embeddings.weight"][:60]
    ours = similarities(minilm_positions.minilm_positions())
    assert torch.allclose(ours, similarities(theirs), atol=5e-3)
