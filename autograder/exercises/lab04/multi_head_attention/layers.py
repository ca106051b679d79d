"""Layers of multi-head attention with drawn weights, and what the checks look at in them."""

from __future__ import annotations

import torch

from attnlab.checking.observation import count_of
from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import give_weights

SPELLINGS = spellings()


def drawn_weights(draw, d_model=12, num_heads=3, d_k=5, d_v=8, bias=True):
    """Weights for the four layers, by the names in the task."""
    q, v = num_heads * d_k, num_heads * d_v
    sizes = {"q_proj": (q, d_model), "k_proj": (q, d_model), "v_proj": (v, d_model)}
    weights = {}
    for name, (rows, columns) in {**sizes, "out_proj": (d_model, v)}.items():
        weights[f"{name}.weight"] = 0.5 * draw.normal(rows, columns)
        if bias:
            weights[f"{name}.bias"] = draw.normal(rows)
    return weights


def built(lab, weights, d_model=12, num_heads=3, d_k=5, d_v=8, **options):
    """A student's module with given weights, not in training; all its other weights are 0.

    So a bias too many, or a condition on sizes that are never divided, costs a check of its own
    and not all that are asked with given weights.
    """
    model = lab.MultiHeadAttention(d_model, num_heads, d_k=d_k, d_v=d_v, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    give_weights(model, weights, SPELLINGS)
    return model.eval()


def named(answer):
    """The result of a call with need_weights=True: its two parts, and how many there are.

    The output comes first, so that a call that returns None is asked whether a `return` is missing.
    """
    pair = isinstance(answer, tuple) and len(answer) == 2
    output, weights = answer if pair else (answer, None)
    return {"output": output, "with need_weights": count_of(answer), "weights": weights}


def form(out):
    """What was returned, with 0 for every number: only its kind and its shape are asked."""
    if isinstance(out, (tuple, list)):
        return [form(part) for part in out]
    return torch.zeros_like(out) if isinstance(out, torch.Tensor) else out


def shape(out):
    return list(out.shape) if isinstance(out, torch.Tensor) else count_of(out)


def any_mask(draw, *shape):
    """A random mask in which every query may attend to some key, except the second query."""
    mask = draw.uniform(*shape) < 0.6
    mask[..., 0] = True
    if shape[-2] > 1:
        mask[..., 1, :] = False
    return mask


def with_one_key(lab, draw):
    """A layer that trains with dropout=0.2, asked with one key.

    A head then returns the value of that key, unless its weight was dropped.

    Returns:
        what out_proj was given, the heads apart, shape (2, 50, 3, 5); which weights were dropped
        and which were kept and scaled, shape (2, 50, 3); the output; the layer.
    """
    weights = drawn_weights(draw, 21, 3, 2, 5)
    model = built(lab, weights, 21, 3, 2, 5, dropout=0.2).train()
    q, only = draw.normal(2, 50, 21), draw.normal(2, 1, 21)
    value = only @ weights["v_proj.weight"].mT + weights["v_proj.bias"]
    value = value.unflatten(-1, (3, 5)).expand(2, 50, 3, 5)
    back = torch.linalg.pinv(weights["out_proj.weight"]).mT
    out = model(q, only, only)
    found = ((out - weights["out_proj.bias"]) @ back).unflatten(-1, (3, 5))
    dropped = found.abs().amax(-1) < 1e-7
    kept = (found - value / 0.8).abs().amax(-1) < 1e-7
    return found, dropped, kept, out, model


def compared(training, evaluated):
    """The weights that a layer returns while training, beside those after eval(), in words."""
    if not isinstance(training, torch.Tensor) or training.shape != evaluated.shape:
        return "no weights of this shape"
    if bool(((training - evaluated).abs() < 1e-9).all()):
        return "those before dropout"
    dropped = (training == 0) & (evaluated != 0)
    if not bool(dropped.any()):
        return "other weights"
    larger = (training - 2 * evaluated).abs()[~dropped] < 1e-9
    return "some are 0, the others larger" if bool(larger.all()) else "some are 0"
