"""Gives weights to a module that a student wrote, and reads its gradients.

A student's class is compared with the reference on equal weights. The task names the weights
(``q_proj.weight``), but right answers have other layouts, too: other names, one fused matrix
instead of three, a raw parameter that is transposed, one small matrix for each head. ``spellings``
lists the other layouts that are accepted:

    {"q_proj.weight": ("W_q", "query.weight"),                     # another name
     ("q_proj.weight", "k_proj.weight"): ("qk.weight",),           # stacked along the first axis
     "v_proj.weight": ("heads.{i}.v.weight",)}                     # split along the first axis

A stack may also have its rows in another order: :class:`Reordered`. The projections of an attention
may be raw parameters with an axis for the heads, such as (h, d_model, d_k) for the queries and
(h, d_v, d_model) for the output. Names decide which of its two sides has the heads, shapes decide
the order of the axes. If several orders fit, the first of ``_HEADS`` is taken. Every order is a
bijection, so a wrong guess can refuse a right layer, but cannot make a wrong one right.

Files of weights may also come from a wrapped model: one prefix that all names share
(``module.``) is taken off, and tensors of whole numbers (a counter of steps) are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnlab.checking.draw import NO_GRADIENT

Name = str


@dataclass(frozen=True)
class Reordered:
    """A tensor that stores a stack of weights in another order of rows, such as head by head.

    Attributes:
        key: the tensor's name.
        rows: for each row of the tensor, which row of the stack it is.
    """

    key: str
    rows: tuple[int, ...]


Spellings = Mapping[Name | tuple[Name, ...], Sequence[str | Reordered]]


# Prefixes of wrapped models: nn.DataParallel's, torch.compile's, and one that people write.
WRAPPERS = ("module.", "_orig_mod.", "model.")

# Weights whose rows (or, in the output projection, columns) are those of one head after the other.
_PROJECTION = re.compile(r"\b([qkv]|out)_proj\.(?:weight|bias)$")
# Orders of three axes that bring them into (h, d, in), or for the output projection (out, h, d).
# They are for tensors (h, in, d), (h, d, in), (in, h, d); (h, d, out), (h, out, d), (out, h, d).
_HEADS = {"in": ((0, 2, 1), (0, 1, 2), (1, 2, 0)), "out": ((2, 0, 1), (1, 0, 2), (0, 1, 2))}


class MissingWeightError(LookupError):
    """A module or a file lacks a weight. The message says which, and lists those it has."""


@dataclass(frozen=True)
class _Location:
    """One tensor of a module that stores some weights, stacked along its first axis.

    Attributes:
        key: the tensor's name.
        names: the weights, in the order in which they are stacked.
        axes: the order of the tensor's axes in which its numbers are those of the stack.
        piece: if the stack is split over several tensors, the index of this one and their number.
        rows: for each row of the tensor, which row of the stack it is; empty: they are in order.
    """

    key: str
    names: tuple[Name, ...]
    axes: tuple[int, ...]
    piece: tuple[int, int] = (0, 1)
    rows: tuple[int, ...] = ()


def give_weights(
    module: nn.Module, weights: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> None:
    """Copy `weights` into the parameters of `module`.

    Args:
        module: of any class; its other parameters stay unchanged.
        weights: by the names that the task gives them.
        spellings: other layouts that are accepted.

    Raises:
        MissingWeightError: the module has no parameter for one of the weights.
    """
    parameters = dict(module.named_parameters(remove_duplicate=False))  # a part may have two names
    with torch.no_grad():
        for location in _locations(parameters, weights, spellings):
            value = _cut(torch.cat([weights[name] for name in location.names]), location)
            parameter = parameters[location.key].permute(location.axes)
            parameter.copy_(value.reshape(parameter.shape))


def module_weights(
    module: nn.Module, shapes: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> dict[Name, Tensor]:
    """The weights of `module`, in any accepted layout, by the names of `shapes`.

    Raises:
        MissingWeightError: the module has no parameter for one of them.
    """
    own = dict(module.named_parameters(remove_duplicate=False))  # a part may have two names
    parameters = {name: parameter.detach() for name, parameter in own.items()}
    return _collect(parameters, list(_locations(parameters, shapes, spellings)), shapes)


def weight_gradients(
    module: nn.Module, weights: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> dict[Name, Tensor | str]:
    """The gradients of `module`'s parameters, with the names and shapes of `weights`.

    A parameter without a gradient gets the string ``"no gradient"``.

    Raises:
        MissingWeightError: the module has no parameter for one of `weights`.
    """
    parameters = dict(module.named_parameters(remove_duplicate=False))  # a part may have two names
    locations = list(_locations(parameters, weights, spellings))
    without = {name for at in locations if parameters[at.key].grad is None for name in at.names}
    every = {key: parameter.grad for key, parameter in parameters.items()}
    grads = {key: grad for key, grad in every.items() if grad is not None}
    found = _collect(grads, [at for at in locations if not without & set(at.names)], weights)
    return {name: NO_GRADIENT if name in without else found[name].clone() for name in weights}


def rename_weights(
    state: Mapping[str, Tensor], shapes: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> dict[Name, Tensor]:
    """The tensors of `state`, a module's state in any accepted layout, by the names of `shapes`.

    Raises:
        MissingWeightError: `state` lacks one of them.
    """
    state = unwrapped(state)
    return _collect(state, list(_locations(state, shapes, spellings)), shapes)


def unwrapped(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`state` without whole numbers, and without one prefix of a wrapper if all names have it."""
    found = {key: value for key, value in state.items() if value.is_floating_point()}
    for prefix in WRAPPERS:
        if found and all(key.startswith(prefix) for key in found):
            return {key.removeprefix(prefix): value for key, value in found.items()}
    return found


def _locations(
    tensors: Mapping[str, Tensor], weights: Mapping[Name, Tensor], spellings: Spellings | None
) -> Iterator[_Location]:
    """Where each weight is: under its own name, or else the first of `spellings` that fits."""
    known: list[tuple[tuple[Name, ...], Reordered]]
    known = [((name,), Reordered(name, ())) for name in weights]
    for names, keys in (spellings or {}).items():
        together = (names,) if isinstance(names, str) else names
        if all(name in weights for name in together):
            layouts = (key if isinstance(key, Reordered) else Reordered(key, ()) for key in keys)
            known += [(together, at) for at in layouts if at.key.format(i=0) in tensors]
    missing = dict.fromkeys(weights)
    for names, at in known:
        if any(name in missing for name in names):
            fitting = _fitting(tensors, weights, names, at.key)
            found = [replace(location, rows=at.rows) for location in fitting]
            yield from found
            for name in names if found else ():
                missing.pop(name, None)
    if missing:
        name = next(iter(missing))
        known_names = _listed(tensors) or "none (nn.Linear and nn.Parameter would register them)"
        shape = tuple(weights[name].shape)
        raise MissingWeightError(
            f"there is no weight {name} of shape {shape}; there are {known_names}"
        )


def _fitting(
    tensors: Mapping[str, Tensor], weights: Mapping[Name, Tensor], names: tuple[Name, ...], key: str
) -> Iterator[_Location]:
    """The tensors under `key` that together store the weights `names`, if their shapes fit."""
    keys = [key]
    if "{i}" in key:
        keys = []
        while key.format(i=len(keys)) in tensors:
            keys.append(key.format(i=len(keys)))
    first = weights[names[0]]
    if any(weights[name].ndim == 0 for name in names):  # a file may contain anything
        return
    rows = sum(weights[name].shape[0] for name in names)
    if not keys or rows % len(keys) or any(weights[n].shape[1:] != first.shape[1:] for n in names):
        return
    shape = (rows // len(keys), *first.shape[1:])
    shapes = {tuple(tensors[key].shape) if key in tensors else None for key in keys}
    found = shapes.pop()
    axes = _axes(found, shape, names[0] if len(names) == len(keys) == 1 else "") if found else None
    if axes is not None and not shapes:
        for index, one in enumerate(keys):
            yield _Location(one, names, axes, (index, len(keys)))


def _axes(found: tuple[int, ...], shape: tuple[int, ...], name: Name) -> tuple[int, ...] | None:
    """The order of axes in which a tensor's numbers are those of a weight; None if none fits.

    Args:
        found: the shape of the tensor.
        shape: the shape of the weight.
        name: the name of the weight if it is alone in the tensor; else empty.
    """
    plain = tuple(range(len(found)))
    projection = _PROJECTION.search(name)
    mixes = bool(projection and projection[1] == "out")  # its heads are columns
    if projection and len(shape) == 1:  # a bias, also (h, d) or (h, 1, d)
        long = sum(size > 1 for size in found)
        return plain if math.prod(found) == shape[0] and long <= 2 - mixes else None
    if projection and len(shape) == 2 and len(found) == 3:
        for axes in _HEADS["out" if mixes else "in"]:
            a, b, c = (found[axis] for axis in axes)
            if shape == ((a, b * c) if mixes else (a * b, c)):
                return axes
        return None
    # A raw parameter may have an axis of length 1 in place of a batch.
    matrix = found[1:] if len(found) > len(shape) and found[0] == 1 else found
    if matrix == shape:
        return plain
    return (*plain[:-2], *plain[:-3:-1]) if len(shape) == 2 and matrix == shape[::-1] else None


def _cut(stacked: Tensor, location: _Location) -> Tensor:
    """The piece of the stacked weights that belongs at `location`."""
    index, pieces = location.piece
    piece = stacked.chunk(pieces)[index]
    return piece[list(location.rows)] if location.rows else piece


def _collect(
    tensors: Mapping[str, Tensor], locations: Sequence[_Location], weights: Mapping[Name, Tensor]
) -> dict[Name, Tensor]:
    """The weights by name, put together from their locations."""
    pieces: dict[tuple[Name, ...], list[Tensor]] = {}
    for location in locations:
        rows = sum(weights[name].shape[0] for name in location.names) // location.piece[1]
        shape = (rows, *weights[location.names[0]].shape[1:])
        tensor = tensors[location.key].permute(location.axes).reshape(shape)
        if location.rows:
            tensor = tensor[torch.tensor(location.rows).argsort()]
        pieces.setdefault(location.names, []).append(tensor)
    found: dict[Name, Tensor] = {}
    for names, parts in pieces.items():
        sizes = [weights[name].shape[0] for name in names]
        found.update(zip(names, torch.cat(parts).split(sizes), strict=True))
    return found


def _listed(tensors: Mapping[str, Tensor], most: int = 8) -> str:
    shown = ", ".join(f"{key} {tuple(tensor.shape)}" for key, tensor in [*tensors.items()][:most])
    return f"{len(tensors)}: {shown}, …" if len(tensors) > most else shown
