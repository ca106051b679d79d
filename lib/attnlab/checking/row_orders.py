"""The order of the rows in a fused projection, found by running the layer that it belongs to.

One matrix may make queries, keys and values. Right layers cut its output differently: first all
queries, then all keys, then all values; or head by head, each with its queries, keys and values; or
feature by feature. No name or shape tells which, but the layer's output does.

With all weights 0, but for the biases of the fused projection and an output projection that copies,
the layer's output is the values' biases. A normalisation changes only their mean and their size. So
the output shows which of the fused biases are the values', and in which order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import torch
from torch import Tensor, nn

from attnlab.checking.weights import Reordered, Spellings, give_weights

_TRIES = 3  # one is not enough for two features: after a normalisation they are always -1 and 1


def with_row_orders(layer: nn.Module, spellings: Spellings, num_inputs: int) -> Spellings:
    """The same spellings, in which each fused projection of `layer` has its own order of rows.

    Args:
        layer: takes `num_inputs` tensors (B, T, d_model) and returns one. It is run in evaluation
            mode; its weights and its mode are the same afterwards.
        spellings: where its weights are. A fused projection is a tuple of names that ends with
            `v_proj.weight`, and another one that ends with `v_proj.bias`; next to them is
            `out_proj.weight`. Of all other names, only those of normalisations are used.
        num_inputs: 1 for an encoder layer, 2 for a decoder layer.

    Returns:
        Spellings. If no order explains the layer's output, or if the layer fails, the rows of a
        fused projection are in the order of its names.
    """
    tensors = dict(layer.named_parameters(remove_duplicate=False))
    found = dict(spellings)
    for names, keys in spellings.items():
        if isinstance(names, str) or not names[-1].endswith("v_proj.bias"):
            continue
        sizes = {tensors[key].numel() for key in keys if isinstance(key, str) and key in tensors}
        if len(sizes) != 1:
            continue
        rows = _order(layer, spellings, names, sizes.pop() // len(names), num_inputs)
        for kind in ("weight", "bias") if rows else ():
            together = tuple(name.removesuffix("bias") + kind for name in names)
            others = [key for key in spellings[together] if isinstance(key, str)]
            found[together] = [Reordered(key, rows) for key in others]
    return found


def _order(
    layer: nn.Module, spellings: Spellings, names: Sequence[str], d_model: int, num_inputs: int
) -> tuple[int, ...]:
    """The order of rows that explains the layer's output; empty: that of the names, or none."""
    random = torch.Generator().manual_seed(0)
    like = next(layer.parameters())
    tries = torch.randn(_TRIES, len(names) * d_model, generator=random).to(like.dtype)
    try:
        outputs = [_output(layer, spellings, names, biases, num_inputs) for biases in tries]
    except Exception:  # whatever the student's layer raises, its checks will meet it again
        return ()
    seen = torch.stack(outputs)
    for order in _orders(len(names), d_model):
        values = tries[:, order.argsort()[-d_model:]]
        if torch.allclose(_standardised(values), seen, atol=1e-3):
            return () if order.equal(order.sort().values) else tuple(order.tolist())
    return ()


def _output(
    layer: nn.Module, spellings: Spellings, names: Sequence[str], biases: Tensor, num_inputs: int
) -> Tensor:
    """The layer's output for zeros, standardised: (d_model,). All weights that add to it are 0."""
    d_model = len(biases) // len(names)
    attention = names[-1].removesuffix("v_proj.bias")
    weights = dict(zip(names, biases.split(d_model), strict=True))
    weights[f"{attention}out_proj.weight"] = torch.eye(d_model)
    for name in spellings:
        if isinstance(name, str) and name.endswith("norm.weight"):
            weights[name] = torch.ones(d_model)
    before = [parameter.detach().clone() for parameter in layer.parameters()]
    training = layer.training
    inputs = [biases.new_zeros(1, 1, d_model) for _ in range(num_inputs)]
    try:
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.zero_()
            give_weights(layer, weights, spellings)
            return _standardised(layer.eval()(*inputs).reshape(d_model))
    finally:
        with torch.no_grad():
            for parameter, value in zip(layer.parameters(), before, strict=True):
                parameter.copy_(value)
        layer.train(training)


def _standardised(x: Tensor) -> Tensor:
    x = x - x.mean(-1, keepdim=True)
    return x / x.std(-1, correction=0, keepdim=True)


def _orders(parts: int, d_model: int) -> Iterator[Tensor]:
    """Every usual order of (parts * d_model) rows: by part, by head and by feature, in any order.

    The first is that of the names. The number of heads is any that divides d_model.
    """
    for heads in range(1, d_model + 1):
        if d_model % heads == 0:
            stack = torch.arange(parts * d_model).reshape(parts, heads, -1)
            for axes in permutations(range(3)):
                yield stack.permute(axes).flatten()
