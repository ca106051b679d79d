"""The order of the rows in a fused projection, found by running the layer that it belongs to.

One matrix may make queries, keys and values. Right layers cut its output differently: first all
queries, then all keys, then all values; or head by head, each with its queries, keys and values; or
feature by feature. No name or shape tells which, but the layer's output does.

With all weights 0, but for the biases of the fused projection and an output projection that copies,
the layer's output is the values' biases. A normalisation changes only their mean and size. So the
output shows which of the fused biases are the values', and in which order. A second question tells
queries from keys: if all queries are equal, keys that differ still matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    found = spellings
    for names, keys in spellings.items():
        if isinstance(names, str) or not names[-1].endswith("v_proj.bias"):
            continue
        sizes = {tensors[key].numel() for key in keys if isinstance(key, str) and key in tensors}
        if len(sizes) == 1:
            d_model = sizes.pop() // len(names)
            try:
                found = _in_order(layer, found, names, d_model, num_inputs)
            except Exception:  # noqa: S112 - what the student's layer raises, its checks meet again
                continue
    return found


def _in_order(
    layer: nn.Module, spellings: Spellings, names: Sequence[str], d_model: int, num_inputs: int
) -> Spellings:
    """The spellings with the order of rows of one fused projection."""
    random = torch.Generator().manual_seed(0)
    like = next(layer.parameters())

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=random).to(like.dtype)

    attention = names[-1].removesuffix("v_proj.bias")
    weights = {f"{attention}out_proj.weight": torch.eye(d_model)}
    for name in spellings:
        if isinstance(name, str) and name.endswith("norm.weight"):
            weights[name] = torch.ones(d_model)
    tries = drawn(_TRIES, len(names) * d_model)
    zeros = [drawn(1, 1, d_model) * 0 for _ in range(num_inputs)]
    seen = []
    for biases in tries:
        given = dict(zip(names, biases.split(d_model), strict=True))
        seen.append(_output(layer, weights | given, spellings, zeros).reshape(d_model))
    for order in _orders(len(names), d_model):
        if _same_but_for_a_norm(tries[:, order.argsort()[-d_model:]], torch.stack(seen)):
            break
    else:
        return spellings
    found = _reordered(spellings, names, order)
    if len(names) == 2:
        return found
    q, k, v = (name.removesuffix("bias") + "weight" for name in names)
    weights |= {name: torch.zeros(d_model) for name in names} | {names[0]: drawn(d_model)}
    weights |= {q: torch.zeros(d_model, d_model), v: drawn(d_model, d_model)}
    inputs = [drawn(1, 3, d_model) for _ in range(num_inputs)]
    keys = [drawn(d_model, d_model) for _ in range(2)]

    def keys_matter(now: Spellings) -> bool:
        one, other = (_output(layer, weights | {k: some}, now, inputs) for some in keys)
        return not torch.allclose(one, other, atol=1e-4)

    if keys_matter(found):
        return found
    rows = torch.tensor([1, 0, 2])[order // d_model] * d_model + order % d_model
    exchanged = _reordered(spellings, names, rows)
    return exchanged if keys_matter(exchanged) else found


def _output(
    layer: nn.Module, weights: Mapping[str, Tensor], spellings: Spellings, inputs: Sequence[Tensor]
) -> Tensor:
    """The layer's output with these weights; all others are 0. The layer stays as it was."""
    before = [parameter.detach().clone() for parameter in layer.parameters()]
    training = layer.training
    try:
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.zero_()
            give_weights(layer, weights, spellings)
            out: Tensor = layer.eval()(*inputs)
            return out
    finally:
        with torch.no_grad():
            for parameter, value in zip(layer.parameters(), before, strict=True):
                parameter.copy_(value)
        layer.train(training)


def _same_but_for_a_norm(x: Tensor, y: Tensor) -> bool:
    """Whether two tables are equal, or differ only in the mean and the size of their rows."""
    if torch.allclose(x, y, atol=1e-3):
        return True
    x, y = (table - table.mean(-1, keepdim=True) for table in (x, y))
    x, y = (table / table.std(-1, keepdim=True, correction=0) for table in (x, y))
    return torch.allclose(x, y, atol=1e-3)


def _reordered(spellings: Spellings, names: Sequence[str], order: Tensor) -> Spellings:
    """The spellings with this order of rows for one fused projection: weights and biases."""
    found = dict(spellings)
    for kind in ("weight", "bias"):
        together = tuple(name.removesuffix("bias") + kind for name in names)
        keys = [key for key in spellings[together] if isinstance(key, str)]
        found[together] = [Reordered(key, tuple(order.tolist())) for key in keys]
    return found


def _orders(parts: int, d_model: int) -> Iterator[Tensor]:
    """Orders of (parts * d_model) rows: parts, heads and features as axes, in any order.

    The first is that of the names. The values may come at any place; the number of heads is any
    that divides d_model.
    """
    for place in reversed(range(parts)):
        order = list(range(parts - 1))
        order.insert(place, parts - 1)
        for heads in range(1, d_model + 1):
            if d_model % heads == 0:
                stack = torch.arange(parts * d_model).reshape(parts, heads, -1)[order]
                for axes in permutations(range(3)):
                    yield stack.permute(axes).flatten()
