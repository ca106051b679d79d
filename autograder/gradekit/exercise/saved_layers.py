"""Reads the layers of a saved model whose parts have other names than the task's.

A file of weights holds names and numbers, and no class. The names are paths, so they tell which
tensors are in one module, and which modules are alike: the layers of a Transformer. Each of them is
then read like a layer that a student wrote (:mod:`attnlab.checking.layer_weights`). No code of the
student runs.

Tested in tests/gradekit/exercise/test_saved_models.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import torch
from torch import Tensor, nn

from attnlab.checking.layer_weights import layer_shapes, layer_spellings
from attnlab.checking.weights import MissingWeightError, rename_weights

Weights = Mapping[str, Tensor]
# A file may contain anything, so the search is limited: parts of a name, tensors, modules tried.
DEEPEST, MOST_TENSORS, MOST_TRIES = 16, 1000, 32


def layers_and_others(
    weights: Weights,
    num_layers: int,
    d_model: int,
    d_ff: int,
) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
    """The weights of each layer of a saved model, and all others.

    Args:
        weights: by the names that the student's model gives them.
        num_layers: how many encoder layers (or blocks without a second attention) it has.
        d_model: features of each vector.
        d_ff: features inside each feed-forward network.

    Returns:
        For each layer its weights, by the names of :func:`layer_shapes`; and the tensors outside
        of the layers, by their own names.

    Raises:
        MissingWeightError: there are not so many equal layers, or they lack a weight.
    """
    shapes = {name: torch.empty(shape) for name, shape in layer_shapes(d_model, d_ff).items()}
    for paths in _likely(_tree(weights), num_layers):
        inside = [
            {name.removeprefix(path): w for name, w in weights.items() if name.startswith(path)}
            for path in paths
        ]
        with suppress(MissingWeightError):
            layers = [rename_weights(one, shapes, layer_spellings(_tree(one))) for one in inside]
            others = {n: w for n, w in weights.items() if not n.startswith(tuple(paths))}
            return layers, others
    raise MissingWeightError(f"there are no {num_layers} equal layers with all weights of a layer")


def _tree(weights: Weights) -> nn.Module:
    """Modules with these parameters, whose paths are their names.

    Raises:
        MissingWeightError: no model could have these names.
    """
    if len(weights) > MOST_TENSORS:
        raise MissingWeightError(f"the file has {len(weights)} tensors")
    root = nn.Module()
    try:
        for name, tensor in weights.items():
            *path, last = name.split(".")
            if len(path) > DEEPEST:
                raise KeyError(name)
            module = root
            for part in path:
                if part not in dict(module.named_children()):
                    module.add_module(part, nn.Module())
                module = module.get_submodule(part)
            module.register_parameter(last, nn.Parameter(tensor, requires_grad=False))
    except (KeyError, AttributeError, TypeError) as error:
        raise MissingWeightError(f"no model has weights of these names: {error}") from error
    return root


def _likely(tree: nn.Module, number: int) -> list[list[str]]:
    """The paths, each ending in a dot, of `number` equal modules beside each other; large first."""
    found = [group for group in _groups(tree) if len(group) == number]
    found.sort(key=lambda group: _numbers(tree.get_submodule(group[0][:-1])), reverse=True)
    return found[:MOST_TRIES]


def _groups(tree: nn.Module) -> Iterator[list[str]]:
    """The children of each module that have equal names and shapes inside, in their order."""
    for path, module in tree.named_modules():
        alike: dict[tuple[object, ...], list[str]] = {}
        for name, child in sorted(module.named_children(), key=_numbered):
            inside = tuple(sorted((n, tuple(p.shape)) for n, p in child.named_parameters()))
            alike.setdefault(inside, []).append(f"{path}.{name}." if path else f"{name}.")
        yield from alike.values()


def _numbered(child: tuple[str, nn.Module]) -> tuple[int, str]:
    """Sorts 10 behind 9; the names of a file have no order of their own."""
    digits = "".join(letter for letter in child[0] if letter.isdecimal() and letter.isascii())
    return int(digits[:9] or 0), child[0]


def _numbers(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
