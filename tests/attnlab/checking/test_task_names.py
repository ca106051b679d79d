"""Names in a task for the weights of a model whose parts have other names."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnlab.checking.task_names import (
    TaskNames,
    kind_of_vector,
    layer_names,
    layers_of,
    outside,
    renamed,
)
from attnlab.checking.weights import MissingWeightError, Reordered
from attnlab.layers import FeedForward, LayerNorm

NAMES = TaskNames({"slope": (2, 2), "offset": (2,)}, lambda _: {"slope": ["a"], "offset": ["b"]})


class Line(nn.Module):
    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.rand(size, size)), nn.Parameter(torch.rand(size))
        self.register_buffer("calls", torch.tensor(3))


class Layer(nn.Module):
    """An encoder layer with one matrix for queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.proj, self.mlp = nn.Linear(4, 12), nn.Linear(4, 4), FeedForward(4, 8)
        self.norm1, self.norm2 = LayerNorm(4), LayerNorm(4)

    def forward(self, x: Tensor) -> Tensor:
        v, q, k = self.qkv(self.norm1(x)).chunk(3, -1)
        x = x + self.proj((q @ k.mT).softmax(-1) @ v)
        return x + self.mlp(self.norm2(x))


def test_weights_are_read_and_given_by_the_names_in_the_task() -> None:
    one, other = Line(), Line()
    weights = NAMES.read(one)
    assert weights.keys() == NAMES.shapes.keys()
    NAMES.give(other, weights)
    assert torch.equal(other.a, one.a)
    assert torch.equal(other.b, one.b)


def test_a_model_takes_its_own_names_too() -> None:
    one, other = Line(), Line()
    NAMES.give(other, one.state_dict())
    assert torch.equal(other.a, one.a)


def test_a_model_with_the_names_in_the_task_keeps_all_of_its_state() -> None:
    model = Line()
    assert TaskNames({"a": (2, 2)}, lambda _: {}).read(model).keys() == {"a", "b", "calls"}


def test_a_model_that_lacks_a_weight_keeps_its_names_and_takes_no_others() -> None:
    assert NAMES.read(Line(3)).keys() == {"a", "b", "calls"}
    with pytest.raises(MissingWeightError, match="slope"):
        NAMES.give(Line(3), NAMES.read(Line()))


def test_layers_are_found_by_the_name_of_their_class_or_of_a_base() -> None:
    class Other(Layer):
        pass

    model = nn.Sequential(Layer(), nn.Sequential(Other()), Line())
    assert layers_of(model, "Layer") == [model[0], model[1][0]]


def test_parameters_outside_of_the_layers_come_with_each_of_their_names() -> None:
    model = nn.ModuleDict({"layer": Layer(), "line": Line()})
    model["again"] = model["line"]
    found = list(outside(model, [model["layer"]]))
    assert [name for name, _, _ in found] == ["line.a", "line.b", "again.a", "again.b"]
    assert all(owner is model["line"] for _, _, owner in found)


def test_the_end_of_a_name_tells_biases_from_weights() -> None:
    names = ("norm.bias", "ln.beta", "b", "bias.gamma", "norm.weight")
    assert [kind_of_vector(name) for name in names] == ["bias"] * 3 + ["weight"] * 2


def test_a_layer_s_names_are_those_of_the_model_and_keep_the_order_of_its_rows() -> None:
    model = nn.ModuleDict({"stack": nn.ModuleList([Layer(), Layer()])})
    found = layer_names(model, model["stack"][1], "encoder.1.".__add__)
    assert "stack.1.norm2.weight" in found["encoder.1.residual2.norm.weight"]
    parts = tuple(f"encoder.1.self_attention.{x}_proj.weight" for x in "qkv")
    rows = (*range(8, 12), *range(8))
    assert found[parts] == [Reordered("stack.1.qkv.weight", rows)]


def test_one_name_or_several_are_renamed() -> None:
    assert renamed("a", str.upper) == "A"
    assert renamed(("a", "b"), str.upper) == ("A", "B")
