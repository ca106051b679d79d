"""lora_linear: a frozen layer with a correction of low rank."""

from __future__ import annotations

import copy
import math

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.lora import LoRALinear
from gradekit.exercise import Exercise

exercise = Exercise(LoRALinear)


def a_layer(draw, bias=True, dtype=torch.float64):
    """Five features to three, with drawn weights."""
    layer = nn.Linear(5, 3, bias=bias, dtype=dtype)
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(draw.normal(*p.shape))
    return layer


def with_drawn_factors(lab, draw, bias=True):
    """A layer of rank 2 whose A and B are drawn; with alpha 6 if it has a bias."""
    base = a_layer(draw, bias)
    layer = lab.LoRALinear(base, 2, alpha=6.0) if bias else lab.LoRALinear(base, 2)
    with torch.no_grad():
        layer.A.copy_(draw.normal(2, 5))
        layer.B.copy_(draw.normal(3, 2))
    return layer


@exercise.check(points=0)
def nothing_changes_at_first(lab, draw):
    """At first the result is that of the layer, and yet a step of training changes it."""
    base, x = a_layer(draw), draw.normal(4, 5)
    then = base(x)
    layer = lab.LoRALinear(base, 2)
    seen = {"as the layer": bool(torch.allclose(layer(x), then))}
    layer(x).square().sum().backward()
    return {
        **seen,
        "A is random": bool((layer.A != 0).all()),
        "B is zeros": bool((layer.B == 0).all()),
        "B has a gradient": layer.B.grad is not None and bool((layer.B.grad != 0).any()),
    }


@exercise.check(points=0)
def only_the_factors_are_trained(lab, draw):
    """A and B are the only parameters that take gradients; shapes and dtype fit the layer."""
    seen = {}
    for name, dtype in (("float64", torch.float64), ("float32", torch.float32)):
        layer = lab.LoRALinear(a_layer(draw, dtype=dtype), 2)
        trained = {n: list(p.shape) for n, p in layer.named_parameters() if p.requires_grad}
        seen[name] = {"shapes": trained.get("A"), "of B": trained.get("B"), "number": len(trained),
                      "dtype": dtype_of(layer.A), "parameters": isinstance(layer.A, nn.Parameter),
                      "base kept": isinstance(layer.base, nn.Linear)}  # fmt: skip
    return seen


@exercise.check(points=0)
def two_paths(lab, draw):
    """The correction is B A x times alpha / rank, for any number of axes, with gradients."""
    seen = {}
    for bias in (True, False):
        layer = with_drawn_factors(lab, draw, bias)
        x = draw.normal(2, 4, 5)
        seen[f"bias {bias}"] = layer(x)
        seen[f"one vector, bias {bias}"] = layer(x[0, 0])
        seen[f"gradient, bias {bias}"] = draw.gradients(layer, x)
    layer.zero_grad()
    layer(draw.normal(4, 5)).square().sum().backward()
    return {**seen, "A": layer.A.grad, "B": layer.B.grad, "x as it was": draw.untouched()}


@exercise.check(points=0)
def merged_into_one(lab, draw):
    """`merged` gives one new layer with the same results; the parts stay as they are."""
    seen = {}
    for bias in (True, False):
        layer = with_drawn_factors(lab, draw, bias)
        before = {name: p.detach().clone() for name, p in layer.named_parameters()}
        one, x = layer.merged(), draw.normal(4, 5)
        after = dict(layer.named_parameters())
        seen[f"bias {bias}"] = {
            "kind": type(one).__name__,
            "results": one(x),
            "has a bias": one.bias is not None,
            "takes gradients": all(p.requires_grad for p in one.parameters()),
            "memory of its own": one.weight.data_ptr() != layer.base.weight.data_ptr(),
            "bias of its own": not bias or one.bias.data_ptr() != layer.base.bias.data_ptr(),
            "parts as they were": all(torch.equal(after[k], x) for k, x in before.items()),
            "the same results as before": bool(torch.allclose(one(x), layer(x))),
        }
    return seen


exercise.promises(
    {
        "A linear layer that is frozen, plus a correction of low rank that is trained.": (
            "only_the_factors_are_trained"
        ),
        "base(x) + (alpha / rank) · B A x": "two_paths",
        "`A`, (rank, in), starts with random numbers, and `B`, (out, rank), with zeros, so at "
        "first the result is that of the layer.": "nothing_changes_at_first",
        "Both are parameters with the dtype": "only_the_factors_are_trained",
        "with or without a bias; from now on its parameters take no gradient": (
            "only_the_factors_are_trained two_paths"
        ),
        "It is kept as `base`.": "only_the_factors_are_trained",
        "rank: the number of rows of A.": "only_the_factors_are_trained",
        "alpha: the strength of the correction.": "two_paths",
        "x: (..., in); stays unchanged.": "two_paths",
        "(..., out). Gradients flow back to `x`, A and B.": "two_paths",
        "Make one ordinary layer that gives the same results": "merged_into_one",
        "A new layer with a weight (and bias) of its own, which take gradients.": "merged_into_one",
        "The parts stay as they are.": "merged_into_one",
    },
    explained=["Apply the layer and add the correction."],
)


@exercise.also_right
class SmallLayers(nn.Module):
    def __init__(self, base, rank, alpha=1.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        kind = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.randn(rank, base.in_features, **kind) / math.sqrt(rank))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank, **kind))
        self.factor = alpha / rank

    def forward(self, x):
        low = nn.functional.linear(x, self.A)
        return self.base(x) + nn.functional.linear(low, self.B) * self.factor

    def merged(self):
        weight = self.base.weight.data + self.factor * (self.B.data @ self.A.data)
        one = nn.Linear(weight.shape[1], weight.shape[0], bias=self.base.bias is not None)
        one.weight = nn.Parameter(weight)
        if self.base.bias is not None:
            one.bias = nn.Parameter(self.base.bias.data.clone())
        return one


@exercise.also_right
class TwoLinearLayers(nn.Module):
    def __init__(self, base, rank, alpha=1.0):
        super().__init__()
        base.requires_grad_(False)
        self.base, self.scale = base, alpha / rank
        kind = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.empty(rank, base.in_features, **kind))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank, **kind))
        nn.init.normal_(self.A, 0, rank**-0.5)

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.mT @ self.B.mT)

    def merged(self):
        made = copy.deepcopy(self.base)
        with torch.no_grad():
            made.weight += self.scale * self.B @ self.A
        return made.requires_grad_(True)


wrong = exercise.edits(SmallLayers)

wrong(
    "both_random",
    "torch.zeros(base.out_features, rank, **kind)",
    "torch.ones(base.out_features, rank, **kind)",
    "Your correction is not 0 at first, so the layer is damaged before anything is learned. Which "
    "of the two factors starts with zeros?",
)
wrong(
    "both_zero",
    "torch.randn(rank, base.in_features, **kind) / math.sqrt(rank)",
    "torch.zeros(rank, base.in_features, **kind)",
    "Both of your factors are 0, and then no gradient reaches either of them. What is the gradient "
    "of a product?",
)
wrong(
    "base_still_trained",
    "p.requires_grad = False",
    "p.requires_grad = True",
    "The layer itself is still trained, so nothing is saved. Which parameters should take "
    "gradients?",
)
wrong(
    "bias_still_trained",
    "for p in self.base.parameters():\n            p.requires_grad = False",
    "self.base.weight.requires_grad = False",
    "The layer's bias is still trained. Which parameters should take gradients?",
)
wrong(
    "scale_forgotten",
    "self.factor = alpha / rank",
    "self.factor = 1.0",
    "Your correction does not change with `alpha`. By which number is it multiplied?",
)
wrong(
    "not_divided_by_the_rank",
    "self.factor = alpha / rank",
    "self.factor = alpha",
    "Your correction grows with the rank. What divides it?",
)
wrong(
    "base_left_out",
    "return self.base(x) + nn",
    "return nn",
    "Your result is the correction alone. To what is it added?",
)
wrong(
    "bias_twice",
    "return self.base(x) + nn.functional.linear(low, self.B) * self.factor",
    "extra = nn.functional.linear(low, self.B, self.base.bias) * self.factor\n"
    "        return self.base(x) + extra",
    "Your bias is added twice. Where does it belong, to the layer or to the correction?",
)
wrong(
    "merged_without_the_scale",
    "self.factor * (self.B.data @ self.A.data)",
    "(self.B.data @ self.A.data)",
    "Your merged layer gives other results than the two paths. By which number is the correction "
    "multiplied?",
)
wrong(
    "merged_without_the_bias",
    "one.bias = nn.Parameter(self.base.bias.data.clone())",
    "one.bias = nn.Parameter(torch.zeros_like(self.base.bias))",
    "Your merged layer has lost the bias. Which parts does the layer have?",
)
wrong(
    "merged_in_place",
    "weight = self.base.weight.data + self.factor * (self.B.data @ self.A.data)",
    "weight = self.base.weight.data.add_(self.factor * (self.B.data @ self.A.data))",
    "You change the frozen layer itself, so from now on the correction counts twice. What should "
    "stay as it is?",
)
wrong(
    "merged_and_frozen",
    "        return one\n",
    "        return one.requires_grad_(False)\n",
    "Your merged layer takes no gradients, so nobody can train it further. What does the task say?",
)
wrong(
    "base_returned",
    "        return one\n",
    "        return self.base\n",
    "You return the frozen layer, without its correction. What does the task ask for?",
)
wrong(
    "factors_not_parameters",
    "self.A = nn.Parameter(torch.randn(rank, base.in_features, **kind) / math.sqrt(rank))",
    "self.A = torch.randn(rank, base.in_features, **kind) / math.sqrt(rank)",
    "Your A is a plain tensor, so no optimiser finds it. What makes a tensor a parameter?",
)
