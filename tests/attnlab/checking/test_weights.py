"""Weights are given to a student's module in any layout, and its gradients are read."""

import pytest
import torch
from torch import nn

from attnlab.checking.weights import (
    MissingWeightError,
    give_weights,
    module_weights,
    rename_weights,
    weight_gradients,
)

SPELLINGS = {
    "q_proj.weight": ("W_q", "heads.{i}.q.weight"),
    "k_proj.weight": ("W_k", "heads.{i}.k.weight"),
    ("q_proj.weight", "k_proj.weight"): ("qk.weight", "W_qk"),
}


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(5, 6, bias=False)
        self.k_proj = nn.Linear(5, 4, bias=False)

    def both(self, x):
        return self.q_proj(x), self.k_proj(x)


class Raw(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_q = nn.Parameter(torch.empty(5, 6))
        self.W_k = nn.Parameter(torch.empty(5, 4))

    def both(self, x):
        return x @ self.W_q, x @ self.W_k


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.qk = nn.Linear(5, 10, bias=False)

    def both(self, x):
        return self.qk(x).split((6, 4), dim=-1)


class FusedRaw(nn.Module):
    def __init__(self):
        super().__init__()
        self.W_qk = nn.Parameter(torch.empty(5, 10))

    def both(self, x):
        return (x @ self.W_qk).split((6, 4), dim=-1)


class Batched(nn.Module):
    """Raw parameters with an axis of length 1 for a batch."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Parameter(torch.empty(1, 6, 5))
        self.W_k = nn.Parameter(torch.empty(1, 5, 4))

    def both(self, x):
        return x @ self.W_q[0].mT, x @ self.W_k[0]


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(5, 3, bias=False)
        self.k = nn.Linear(5, 2, bias=False)


class ByHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head(), Head()])

    def both(self, x):
        return (
            torch.cat([head.q(x) for head in self.heads], -1),
            torch.cat([head.k(x) for head in self.heads], -1),
        )


class HeadsFirst(nn.Module):
    """Raw parameters with an axis for two heads: (h, in, d)."""

    SHAPES = (2, 5, 3), (2, 5, 2)
    AXES = "hmd"

    def __init__(self):
        super().__init__()
        self.W_q, self.W_k = (nn.Parameter(torch.empty(shape)) for shape in self.SHAPES)

    def both(self, x):
        return [torch.einsum(f"bm,{self.AXES}->bhd", x, W).flatten(1) for W in (self.W_q, self.W_k)]


class InputsLast(HeadsFirst):
    SHAPES = (2, 3, 5), (2, 2, 5)
    AXES = "hdm"


class InputsFirst(HeadsFirst):
    SHAPES = (5, 2, 3), (5, 2, 2)
    AXES = "mhd"


LAYOUTS = [
    Named, Raw, Batched, Fused, FusedRaw, ByHead, HeadsFirst, InputsLast, InputsFirst,
]  # fmt: skip


@pytest.fixture
def weights():
    generator = torch.Generator().manual_seed(3)
    return {
        "q_proj.weight": torch.randn(6, 5, generator=generator),
        "k_proj.weight": torch.randn(4, 5, generator=generator),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_weight_reaches_its_parameter(layout, weights):
    module = layout()
    give_weights(module, weights, SPELLINGS)
    x = torch.randn(2, 5)
    q, k = module.both(x)
    torch.testing.assert_close(q, x @ weights["q_proj.weight"].T)
    torch.testing.assert_close(k, x @ weights["k_proj.weight"].T)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_have_the_names_of_the_task(layout, weights):
    module = layout()
    give_weights(module, weights, SPELLINGS)
    x = torch.randn(2, 5)
    q, k = module.both(x)
    (q.sum() + 3 * k.sum()).backward()
    grads = weight_gradients(module, weights, SPELLINGS)
    torch.testing.assert_close(grads["q_proj.weight"], x.sum(0).expand(6, 5))
    torch.testing.assert_close(grads["k_proj.weight"], 3 * x.sum(0).expand(4, 5))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_saved_weights_get_the_names_of_the_task(layout, weights):
    module = layout()
    give_weights(module, weights, SPELLINGS)
    for found in (
        rename_weights(module.state_dict(), weights, SPELLINGS),
        module_weights(module, weights, SPELLINGS),
    ):
        assert found.keys() == weights.keys()
        for name, tensor in weights.items():
            torch.testing.assert_close(found[name], tensor)


@pytest.mark.parametrize(
    ("axes", "shape"), [("hdm", (2, 3, 5)), ("hmd", (2, 5, 3)), ("mhd", (5, 2, 3))]
)
def test_the_heads_of_an_output_projection_are_columns(axes, shape):
    module = nn.Module()
    module.W_O = nn.Parameter(torch.empty(shape))
    weights, spelled = {"out_proj.weight": torch.randn(5, 6)}, {"out_proj.weight": ("W_O",)}
    give_weights(module, weights, spelled)
    heads = torch.randn(4, 2, 3)
    out = torch.einsum(f"bhd,{axes}->bm", heads, module.W_O)
    torch.testing.assert_close(out, heads.flatten(1) @ weights["out_proj.weight"].T)
    assert torch.equal(
        module_weights(module, weights, spelled)["out_proj.weight"], *weights.values()
    )


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_heads_inputs_and_outputs_come_in_this_order_if_sizes_are_equal(heads):
    module, x = nn.Module(), torch.randn(3, 4)
    names = {"q_proj": (heads * 4, 4), "out_proj": (4, heads * 4)}
    weights = {f"attention.{name}.weight": torch.randn(size) for name, size in names.items()}
    for name in names:
        module.register_parameter(name, nn.Parameter(torch.empty(heads, 4, 4)))
    give_weights(module, weights, {f"attention.{name}.weight": (name,) for name in names})
    q, out = weights.values()
    made = torch.einsum("bm,hmd->bhd", x, module.q_proj)
    torch.testing.assert_close(made.flatten(1), x @ q.T)
    torch.testing.assert_close(torch.einsum("bhd,hdm->bm", made, module.out_proj), x @ q.T @ out.T)


@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3), (1, 2, 1, 3)])
def test_a_bias_may_have_an_axis_for_the_heads(shape):
    module = nn.Module()
    module.b_Q = nn.Parameter(torch.empty(shape))
    weights, spelled = {"q_proj.bias": torch.arange(6.0)}, {"q_proj.bias": ("b_Q",)}
    give_weights(module, weights, spelled)
    assert module.b_Q.shape == shape
    assert module.b_Q.flatten().tolist() == [*range(6)]
    assert torch.equal(module_weights(module, weights, spelled)["q_proj.bias"], torch.arange(6.0))


@pytest.mark.parametrize(
    ("name", "size", "shape"),
    [
        ("embedding.weight", (6, 5), (2, 5, 3)),  # not a projection
        ("q_proj.weight", (6, 5), (2, 5, 4)),
        ("q_proj.weight", (6, 5), (3, 2, 5, 1)),
        ("out_proj.weight", (5, 6), (2, 5, 4)),
        ("out_proj.bias", (6,), (2, 3)),  # has no heads
        ("q_proj.bias", (12,), (2, 2, 3)),
    ],
)
def test_an_axis_too_many_is_not_taken_for_heads(name, size, shape):
    module = nn.Module()
    module.own = nn.Parameter(torch.empty(shape))
    with pytest.raises(MissingWeightError, match="there is no weight"):
        give_weights(module, {name: torch.empty(size)}, {name: ("own",)})


def test_an_unused_weight_has_no_gradient(weights):
    module = Named()
    module.both(torch.randn(2, 5))[0].sum().backward()
    grads = weight_gradients(module, weights)
    assert grads["k_proj.weight"] == "no gradient"
    assert isinstance(grads["q_proj.weight"], torch.Tensor)


def test_a_part_with_two_names_is_found_under_both(weights):
    module = Named()
    module.other = module.q_proj
    del module.q_proj
    module.q_proj = module.other  # registered second
    give_weights(module, weights)
    assert torch.equal(module.q_proj.weight, weights["q_proj.weight"].to(module.q_proj.weight))
    module.q_proj(torch.ones(1, 5)).sum().backward()
    module.k_proj(torch.ones(1, 5)).sum().backward()
    assert weight_gradients(module, weights)["q_proj.weight"].shape == (6, 5)


def test_a_missing_weight_is_named_and_the_others_are_listed(weights):
    said = r"no weight q_proj\.weight of shape \(6, 5\).*W_q \(5, 6\)"
    with pytest.raises(MissingWeightError, match=said):
        give_weights(Raw(), weights)


def test_a_module_without_parameters_gets_advice_to_register_them(weights):
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(5, 6)]

    with pytest.raises(MissingWeightError, match="register"):
        give_weights(Hidden(), weights, SPELLINGS)


def test_a_weight_of_another_shape_does_not_fit(weights):
    module = Named()
    module.q_proj = nn.Linear(5, 7, bias=False)
    with pytest.raises(MissingWeightError, match=r"q_proj\.weight"):
        give_weights(module, weights, SPELLINGS)


def test_a_number_instead_of_a_matrix_is_not_a_weight():
    numbers = {"q_proj.weight": torch.tensor(1.0)}
    with pytest.raises(MissingWeightError):
        give_weights(Named(), numbers)
    with pytest.raises(MissingWeightError):
        rename_weights(numbers, {"q_proj.weight": torch.empty(6, 5)})


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model."])
def test_the_prefix_of_a_wrapped_model_is_taken_off(prefix, weights):
    saved = {f"{prefix}{name}": tensor for name, tensor in weights.items()}
    found = rename_weights(saved, weights)
    assert all(torch.equal(found[name], tensor) for name, tensor in weights.items())


def test_a_prefix_that_only_some_names_have_stays(weights):
    saved = {"module.q_proj.weight": weights["q_proj.weight"], "k_proj.weight": torch.ones(4, 5)}
    with pytest.raises(MissingWeightError, match=r"q_proj\.weight"):
        rename_weights(saved, weights)


def test_a_counter_of_steps_beside_the_weights_is_left_out(weights):
    saved = {"steps": torch.tensor(1500), "mask": torch.ones(3, dtype=torch.bool)}
    wrapped = {f"module.{name}": tensor for name, tensor in weights.items()}
    found = rename_weights({**saved, **wrapped}, weights)
    assert torch.equal(found["k_proj.weight"], weights["k_proj.weight"])
