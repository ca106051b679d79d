"""Other right ways to ablate a head: zeros in other layers, hooks, and a module around the copy."""

from __future__ import annotations

import copy

import torch
from torch import nn

from . import exercise


@exercise.also_right
def columns_zeroed(model, head):
    if not 0 <= head < model.num_heads:
        raise IndexError("no such head")
    changed = copy.deepcopy(model)
    start, stop = head * model.d_v, (head + 1) * model.d_v
    with torch.no_grad():
        changed.out_proj.weight[:, start:stop] = 0
    return changed


@exercise.also_right
def by_leaving_it_out(model, head):
    if not 0 <= head < model.num_heads:
        raise IndexError("no such head")

    def without(layer, given):
        heads = given[0].unflatten(-1, (model.num_heads, model.d_v)).clone()  # (B, L, h, d_v)
        heads[..., list(changed.ablated), :] = 0
        return heads.flatten(-2)  # (B, L, h * d_v)

    changed = copy.deepcopy(model)
    changed.ablated = {*getattr(model, "ablated", ()), head}
    changed.out_proj.register_forward_pre_hook(without)
    return changed


@exercise.also_right
def by_subtracting(model, head):
    if head not in range(model.num_heads):
        raise IndexError(head)
    changed = copy.deepcopy(model)
    W = changed.out_proj.weight
    part = torch.zeros_like(W)
    part[:, head * model.d_v : (head + 1) * model.d_v] = 1
    W.data = W.data - W.data * part
    return changed


@exercise.also_right
def values_and_their_bias_zeroed(model, head):
    if head < 0 or head >= model.num_heads:
        raise IndexError(f"no head {head}")
    changed = copy.deepcopy(model)
    rows = slice(head * model.d_v, (head + 1) * model.d_v)
    changed.v_proj.weight.data[rows] = 0.0
    if changed.v_proj.bias is not None:
        changed.v_proj.bias.data[rows] = 0.0
    return changed


@exercise.also_right
def by_views_of_the_weight(model, head):
    if head not in range(model.num_heads):
        raise IndexError("no such head")
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.out_proj.weight.view(-1, model.num_heads, model.d_v)[:, head].zero_()
    return changed


class Ablated(nn.Module):
    """A model whose last layer sees zeros in place of one head."""

    def __init__(self, model, head):
        super().__init__()
        self.model = model
        width = model.d_v
        self.model.out_proj.register_forward_pre_hook(
            lambda layer, given: (
                torch.cat(
                    [
                        given[0][..., : head * width],
                        torch.zeros_like(given[0][..., :width]),
                        given[0][..., (head + 1) * width :],
                    ],
                    -1,
                ),
            )
        )
        self.train(model.training)
        self.num_heads, self.d_v, self.out_proj = model.num_heads, width, model.out_proj

    def forward(self, *given, **options):
        return self.model(*given, **options)


@exercise.also_right
def by_a_hook(model, head):
    if not 0 <= head <= model.num_heads - 1:
        raise IndexError("no such head")
    return Ablated(copy.deepcopy(model), head)
