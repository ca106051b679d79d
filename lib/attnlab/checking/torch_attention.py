"""torch's own multi-head attention with the weights of another layer, to compare the two.

Correct layers store their weights differently: in four `nn.Linear`, in one fused matrix, in a small
matrix for each head, or in raw parameters with an axis for the heads. This module finds the weights
under their usual names and copies them into torch's layer.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.checking.weights import rename_weights

Names = str | tuple[str, ...]
Attention = Callable[..., tuple[Tensor, Tensor]]

_INPUTS = ("q_proj", "k_proj", "v_proj")
# The usual names of the layers that make queries, keys, values and the output: each of these words
# in each of the forms below.
_WORDS = {
    "q_proj": "q Q query queries",
    "k_proj": "k K key keys",
    "v_proj": "v V value values",
    "out_proj": "o O out output",
}
_FORMS = (
    "{}", "W_{}", "w_{}", "W{}", "w{}", "{}_proj", "proj_{}", "{}_projection", "project_{}",
    "to_{}", "to{}", "{}_linear", "linear_{}", "{}_lin", "lin_{}", "{}_layer", "fc_{}",
    "{}_dense", "w_{}s", "{}_heads", "heads_{}",
    "proj.{}", "layers.{}", "linears.{}", "projections.{}",
)  # fmt: skip
_ALIASES = {
    layer: " ".join(form.format(word) for word in words.split() for form in _FORMS)
    for layer, words in _WORDS.items()
}
_ALIASES["q_proj"] += " linears.0 layers.0"
_ALIASES["k_proj"] += " linears.1 layers.1"
_ALIASES["v_proj"] += " linears.2 layers.2"
_ALIASES["out_proj"] += (
    " linears.3 layers.3 c_proj proj projection linear fc dense final_linear final_layer "
    "unify_heads unifyheads merge mix output.dense"
)
_FUSED = ("in_proj", "qkv_proj", "qkv", "c_attn", "to_qkv", "W_qkv", "query_key_value")
_KEYS_AND_VALUES = ("kv_proj", "kv", "to_kv", "W_kv")


def spellings(prefix: str = "") -> dict[Names, tuple[str, ...]]:
    """Other names under which students store the weights of a multi-head attention.

    Args:
        prefix: comes before every name, such as "attention." if the layer is part of a model.

    Returns:
        For each name of the reference (or a tuple of names, if one tensor stores several weights)
        the other names, in the form that :mod:`attnlab.checking.weights` takes.
    """
    found: dict[Names, tuple[str, ...]] = {}
    for kind in ("weight", "bias"):
        for layer, aliases in _ALIASES.items():
            names = [layer, *aliases.split()]
            if layer in _INPUTS:  # one layer per head; not out_proj, whose heads are columns
                names += [f"{name}{end}" for name in names for end in (".{i}", "s.{i}")]
                names += [f"heads.{{i}}.{name}" for name in (layer, *aliases.split())]
            letters = (layer[0], layer[0].upper())
            raw = [f"{start}{letter}" for start in ("b_", "b", "bias_") for letter in letters]
            raw += ["b_out"] if layer == "out_proj" else []
            keys = [f"{name}.{kind}" for name in names] + (names if kind == "weight" else raw)
            found[f"{prefix}{layer}.{kind}"] = tuple(prefix + key for key in keys)
        together = tuple(f"{prefix}{layer}.{kind}" for layer in _INPUTS)
        fused = [f"{name}{dot}{kind}" for name in _FUSED for dot in "._"]
        fused += _FUSED if kind == "weight" else ("b_qkv", "qkv_bias")
        found[together] = tuple(prefix + key for key in fused)
        found[together[1:]] = tuple(f"{prefix}{name}.{kind}" for name in _KEYS_AND_VALUES)
    return found


def torch_equivalent(
    module: nn.Module, d_model: int, num_heads: int, d_k: int, d_v: int, bias: bool | None = None
) -> Attention:
    """torch's own multi-head attention with the weights of another layer.

    Args:
        module: the other layer. No two of d_model, num_heads · d_k and num_heads · d_v should be
            equal, because a square weight does not show whether it is transposed. Nor should d_k or
            d_v be d_model, for raw parameters with an axis for the heads.
        d_model: features of its inputs and of its output.
        num_heads: its number of heads.
        d_k: features of one head's queries and keys.
        d_v: features of one head's values.
        bias: whether it has biases; None: it has some if it has any numbers beside its weights.

    Returns:
        A function, called as ``attend(q, k, v)`` or ``attend(q, k, v, mask)``. It returns the
        output (B, Lq, d_model) and the weights of each head (B, h, Lq, Lk), without dropout. The
        mask is boolean, True where a query may attend to a key, of any shape that broadcasts to
        (B, h, Lq, Lk). If a query may attend to no key, torch returns NaN for it.

    Raises:
        MissingWeightError: the layer lacks one of the weights, or some of the biases but not all.
            The message says which.
    """
    given = _weights_of(module, d_model, num_heads * d_k, num_heads * d_v, bias)
    # torch has one width for all heads. Extra features that are 0 change only √d_k, so the queries
    # are scaled to make up for that.
    width = max(d_k, d_v, -(-d_model // num_heads))
    total = num_heads * width
    for kind in ("weight", "bias"):
        given[f"q_proj.{kind}"] = given[f"q_proj.{kind}"] * (width / d_k) ** 0.5
    weights = [_widened(given[f"{layer}.weight"], num_heads, width) for layer in _INPUTS]
    biases = [_widened(given[f"{layer}.bias"][:, None], num_heads, width) for layer in _INPUTS]
    mixing = _widened(given["out_proj.weight"].mT, num_heads, width)  # (total, d_model)
    torchs = nn.MultiheadAttention(total, num_heads, batch_first=True, dtype=mixing.dtype).eval()
    torchs.load_state_dict(
        {
            "in_proj_weight": _padded(torch.cat(weights), total),
            "in_proj_bias": torch.cat(biases)[:, 0],
            "out_proj.weight": _padded(mixing, total).mT,
            "out_proj.bias": _padded(given["out_proj.bias"], total),
        }
    )

    def attend(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        if mask is not None:
            every = mask.expand(len(q), num_heads, q.shape[1], k.shape[1])
            mask = ~every.flatten(0, 1)  # (B * h, Lq, Lk); in torch, True means forbidden
        padded = [_padded(x, total) for x in (q, k, v)]
        out, weights = torchs(*padded, attn_mask=mask, average_attn_weights=False)
        return out[..., :d_model], weights

    return attend


def _weights_of(
    module: nn.Module, d_model: int, d_q: int, d_v: int, bias: bool | None
) -> dict[str, Tensor]:
    """The module's weights, (out, in), and biases (0 if it has none), by the reference's names."""
    sizes = {"q_proj": (d_q, d_model), "k_proj": (d_q, d_model), "v_proj": (d_v, d_model)}
    sizes["out_proj"] = (d_model, d_v)
    biases = {f"{name}.bias": torch.zeros(rows) for name, (rows, _) in sizes.items()}
    shapes = {f"{name}.weight": torch.empty(size) for name, size in sizes.items()}
    state = {name: value.detach() for name, value in module.named_parameters()}
    if bias is None:
        numbers = sum(value.numel() for value in state.values())
        bias = numbers > sum(weight.numel() for weight in shapes.values())
    found = rename_weights(state, {**shapes, **biases} if bias else shapes, spellings())
    dtype = found["q_proj.weight"].dtype
    return {**{name: value.to(dtype) for name, value in biases.items()}, **found}


def _widened(rows: Tensor, num_heads: int, width: int) -> Tensor:
    """(h * d, n) to (h * width, n): each head gets more rows, which are zero."""
    heads = rows.unflatten(0, (num_heads, -1))  # (h, d, n)
    return _padded(heads.mT, width).mT.flatten(0, 1)  # (h * width, n)


def _padded(x: Tensor, length: int) -> Tensor:
    """`x` with zeros added at the end of its last axis, up to `length`."""
    return nn.functional.pad(x, (0, length - x.shape[-1]))
