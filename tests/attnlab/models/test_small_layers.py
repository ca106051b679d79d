"""The experiments on an untrained layer show what lab 4 says about them."""

from __future__ import annotations

import torch

from attnlab.models import small_layers
from attnlab.multihead import (
    MultiHeadAttention,
    ablate_head,
    fuse_qkv,
    merge_heads,
    mha_param_shapes,
    project_fused,
    split_heads,
)
from tests.helpers.figures import unwritten


def test_the_steps_have_the_shapes_that_their_names_say() -> None:
    steps = small_layers.steps(MultiHeadAttention, split_heads, merge_heads)
    sizes = {"B": 2, "T": 5, "D": 12, "h": 3, "d": 4, "h·d": 12}
    for name, tensor in steps.items():
        axes = name.partition(", (")[2].strip(")").split()
        assert [sizes[axis] for axis in axes] == list(tensor.shape), name
    weights = small_layers.weights(MultiHeadAttention)
    assert torch.equal(weights, steps["weights, (B h T T)"])


def test_an_untrained_head_that_asks_nothing_moves_the_output_less_far_than_none() -> None:
    moved = small_layers.changes_without_heads(MultiHeadAttention, ablate_head)
    for head in range(3):
        assert 0 < moved[f"head {head}\nasks nothing"] < 0.5 * moved[f"without\nhead {head}"]


def test_the_bias_of_the_keys_is_idle() -> None:
    moved = small_layers.changes_by_bias(MultiHeadAttention)
    assert moved.pop("k_proj.bias") < 1e-6
    assert min(moved.values()) > 0.1


def test_the_layer_stays_unchanged() -> None:
    layer = small_layers.layer(MultiHeadAttention)
    before = [parameter.clone() for parameter in layer.parameters()]
    small_layers.asks_nothing(layer, 1)
    assert all(torch.equal(*both) for both in zip(before, layer.parameters(), strict=True))


def test_a_mask_without_an_axis_for_heads_fits_by_accident_if_there_are_two() -> None:
    text = small_layers.which_masks_fit([(2, 4, 7)], heads=(3, 2)).splitlines()
    assert text[0] == "(2, 4, 7) does not fit (2, 3, 4, 7): from the right, 2 meets 3"
    assert text[1] == "(2, 4, 7) fits weights of shape (2, 2, 4, 7)"


def test_lecture_ns_layers_are_counted() -> None:
    text = small_layers.shapes_of_lecture_n(mha_param_shapes)
    assert all(f"{count} numbers" in text for count in ("150", "418", "1,021"))
    assert "(48, 16) (48,) (16, 16) (16,)" in text
    assert "not written" in small_layers.shapes_of_lecture_n(unwritten)


def test_torchs_weights_run_through_the_fused_projection() -> None:
    right = small_layers.through_torchs_weights(project_fused, split_heads, merge_heads)
    assert right.endswith("the same output")

    def other_order(*args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, k, v = project_fused(*args)  # type: ignore[arg-type]
        return k, v, q

    wrong = small_layers.through_torchs_weights(other_order, split_heads, merge_heads)  # type: ignore[arg-type]
    assert "another output" in wrong
    assert "not written" in small_layers.through_torchs_weights(unwritten, split_heads, merge_heads)
    assert fuse_qkv(*[torch.ones(1, 2)] * 3)[0].shape == (3, 2)
