"""Gives weights to a module that a student wrote, and reads the gradients back.

A class is compared with the reference on equal weights. Its task names them (``q_proj.weight``),
but right answers come in other layouts, too: other names, one fused matrix in the place of three,
a raw parameter of the transposed shape, one small matrix for each head. ``spellings`` lists the
layouts that are taken as well:

    {"q_proj.weight": ("W_q", "query.weight"),                     # another name
     ("q_proj.weight", "k_proj.weight"): ("qk.weight",),           # stacked along the first axis
     "v_proj.weight": ("heads.{i}.v.weight",)}                     # in pieces, first axis cut up
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnlab.checking.draw import NO_GRADIENT

Name = str
Spellings = Mapping[Name | tuple[Name, ...], Sequence[str]]


class MissingWeightError(LookupError):
    """A module, or a file of weights, lacks a weight. One sentence: which, and what is there."""


@dataclass(frozen=True)
class _Place:
    """Where some weights live: one tensor that holds them stacked along its first axis.

    Attributes:
        key: the tensor's name.
        names: the weights, in the order in which they are stacked.
        transposed: whether the tensor is their stack's transpose.
        piece: which part of them it holds, and of how many parts.
    """

    key: str
    names: tuple[Name, ...]
    transposed: bool = False
    piece: tuple[int, int] = (0, 1)


def give_weights(
    module: nn.Module, weights: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> None:
    """Copy `weights` into the parameters of `module`.

    Args:
        module: of any class; its other parameters stay as they are.
        weights: by the names that the task gives them.
        spellings: other layouts that are taken as well.

    Raises:
        MissingWeightError: it has no parameter for one of them.
    """
    parameters = dict(module.named_parameters())
    with torch.no_grad():
        for place in _places(parameters, weights, spellings):
            value = _cut(torch.cat([weights[name] for name in place.names]), place)
            parameters[place.key].copy_(value.mT if place.transposed else value)


def weight_gradients(
    module: nn.Module, weights: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> dict[Name, Tensor | str]:
    """The gradients of `module`'s parameters, under the names and in the shapes of `weights`.

    Where a parameter has got none, its place holds the string ``"no gradient"``.

    Raises:
        MissingWeightError: the module has no parameter for one of `weights`.
    """
    parameters = dict(module.named_parameters())
    places = list(_places(parameters, weights, spellings))
    without = {name for p in places if parameters[p.key].grad is None for name in p.names}
    grads = {key: parameter.grad for key, parameter in parameters.items()}
    held = {key: grad for key, grad in grads.items() if grad is not None}
    found = _collect(held, [p for p in places if not without & set(p.names)], weights)
    return {name: NO_GRADIENT if name in without else found[name].clone() for name in weights}


def rename_weights(
    state: Mapping[str, Tensor], shapes: Mapping[Name, Tensor], spellings: Spellings | None = None
) -> dict[Name, Tensor]:
    """The tensors of `state`, a module's state in any known layout, under the names of `shapes`.

    Raises:
        MissingWeightError: `state` lacks one of them.
    """
    return _collect(state, list(_places(state, shapes, spellings)), shapes)


def _places(
    tensors: Mapping[str, Tensor], weights: Mapping[Name, Tensor], spellings: Spellings | None
) -> Iterator[_Place]:
    """A place for each weight, under its own name first, then in the order of `spellings`."""
    known: list[tuple[tuple[Name, ...], str]] = [((name,), name) for name in weights]
    for names, keys in (spellings or {}).items():
        together = (names,) if isinstance(names, str) else names
        if all(name in weights for name in together):
            known += [(together, key) for key in keys if key.format(i=0) in tensors]
    missing = dict.fromkeys(weights)
    for names, key in known:
        if any(name in missing for name in names):
            found = list(_fitting(tensors, weights, names, key))
            yield from found
            for name in names if found else ():
                missing.pop(name, None)
    if missing:
        name = next(iter(missing))
        there = _listed(tensors) or "none (nn.Linear and nn.Parameter would register them)"
        shape = tuple(weights[name].shape)
        raise MissingWeightError(f"there is no weight {name} of shape {shape}; there are {there}")


def _fitting(
    tensors: Mapping[str, Tensor], weights: Mapping[Name, Tensor], names: tuple[Name, ...], key: str
) -> Iterator[_Place]:
    """The tensors under `key` that together hold the weights `names`, if their shapes fit."""
    keys = [key]
    if "{i}" in key:
        keys = []
        while key.format(i=len(keys)) in tensors:
            keys.append(key.format(i=len(keys)))
    first = weights[names[0]]
    if any(weights[name].ndim == 0 for name in names):  # a file may hold anything
        return
    rows = sum(weights[name].shape[0] for name in names)
    if not keys or rows % len(keys) or any(weights[n].shape[1:] != first.shape[1:] for n in names):
        return
    shape = (rows // len(keys), *first.shape[1:])
    held = [tuple(tensors[key].shape) if key in tensors else None for key in keys]
    for transposed in (False, True):
        if all(found == (shape[::-1] if transposed else shape) for found in held):
            pieces = len(keys)
            for index, one in enumerate(keys):
                yield _Place(one, names, transposed, (index, pieces))
            return


def _cut(stacked: Tensor, place: _Place) -> Tensor:
    index, pieces = place.piece
    return stacked.chunk(pieces)[index]


def _collect(
    tensors: Mapping[str, Tensor], places: Sequence[_Place], weights: Mapping[Name, Tensor]
) -> dict[Name, Tensor]:
    """The weights put together from where they live."""
    pieces: dict[tuple[Name, ...], list[Tensor]] = {}
    for place in places:
        tensor = tensors[place.key]
        pieces.setdefault(place.names, []).append(tensor.mT if place.transposed else tensor)
    found: dict[Name, Tensor] = {}
    for names, parts in pieces.items():
        sizes = [weights[name].shape[0] for name in names]
        found.update(zip(names, torch.cat(parts).split(sizes), strict=True))
    return found


def _listed(tensors: Mapping[str, Tensor], most: int = 8) -> str:
    shown = [f"{key} {tuple(tensor.shape)}" for key, tensor in list(tensors.items())[:most]]
    return ", ".join([*shown, "…"] if len(tensors) > most else shown)
