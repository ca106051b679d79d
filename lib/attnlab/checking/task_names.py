"""The weights of a model under the names in its task, whatever the student's own names are.

A task names the parts of a model, and a right model may call them otherwise. In a notebook the
student's class is there, so what its parts are is seen from their classes, their shapes and, last,
their names. A file then holds the weights by the names in the task, and is graded without the
student's code. :mod:`.transformer_weights` and :mod:`.stack_weights` find the parts of each model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnlab.checking.layer_weights import Names, layer_shapes, layer_spellings
from attnlab.checking.weights import (
    MissingWeightError,
    Reordered,
    Spellings,
    give_weights,
    module_weights,
)

Shape = tuple[int, ...]
Locations = list[str | Reordered]
Found = dict[Names, Locations]  # spellings that can be changed
# Endings of a bias's name; other vectors of a normalisation are its weight.
BIASES = ("bias", "beta", "b_2", "shift", "offset", "b")


@dataclass(frozen=True)
class TaskNames:
    """By which names a task calls a model's weights, and where a student's model has them.

    Attributes:
        shapes: the shape of each weight, by its name in the task.
        spellings: from a model to its own names, in the form that :mod:`.weights` takes.
    """

    shapes: Mapping[str, Shape]
    spellings: Callable[[nn.Module], Spellings]

    def give(self, model: nn.Module, weights: Mapping[str, Tensor]) -> None:
        """Give a model weights by the names in the task, or by all of its own names.

        Raises:
            MissingWeightError: the model has no parameter for one of the weights.
        """
        try:
            model.load_state_dict(dict(weights))
        except RuntimeError:  # its names are others, or a file lacks what is not a parameter
            give_weights(model, weights, self.spellings(model))

    def read(self, model: nn.Module) -> dict[str, Tensor]:
        """A model's weights by the names in the task; by its own names, if one is not found."""
        state = model.state_dict()
        if self.shapes.keys() <= state.keys():
            return state
        empty = {name: torch.empty(shape, device="meta") for name, shape in self.shapes.items()}
        try:
            return module_weights(model, empty, self.spellings(model))
        except MissingWeightError:
            return state


def layers_of(model: nn.Module, kind: str) -> list[nn.Module]:
    """The registered modules of a class, in order.

    Args:
        model: of any class.
        kind: the name of the class. A name, because a notebook that nbgrader runs by itself has
            other classes than the grader.
    """
    return [m for m in model.modules() if kind in [k.__name__ for k in type(m).__mro__]]


def outside(
    model: nn.Module, layers: Iterable[nn.Module]
) -> Iterator[tuple[str, nn.Parameter, nn.Module]]:
    """Each parameter outside of `layers`: its name, itself, and the module that it is in."""
    inside = {id(parameter) for layer in layers for parameter in layer.parameters()}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) not in inside:
            yield name, parameter, model.get_submodule(name.rpartition(".")[0])


def kind_of_vector(name: str) -> str:
    """Whether a vector is a "bias" or a "weight", by its name."""
    return "bias" if name.rpartition(".")[2] in BIASES else "weight"


def layer_names(
    model: nn.Module, layer: nn.Module, task_name: Callable[[str], str], *, decoder: bool = False
) -> Found:
    """Where the model stores the weights of one of its layers.

    Args:
        model: of any class.
        layer: one of its parts.
        task_name: from a name of :func:`~.layer_weights.layer_shapes` to the name in the task.
        decoder: whether it is a decoder layer.
    """
    path = next(name for name, part in model.named_modules() if part is layer)
    found: Found = {
        task_name(name): [f"{path}.{name}"] for name in layer_shapes(1, 1, decoder=decoder)
    }
    for names, keys in layer_spellings(layer, decoder=decoder).items():
        together = renamed(names, task_name)
        found.setdefault(together, []).extend(_inside(f"{path}.", key) for key in keys)
    return found


def renamed(names: Names, name: Callable[[str], str]) -> Names:
    """One name, or several that one tensor stores, each replaced by `name` of it."""
    return name(names) if isinstance(names, str) else tuple(name(one) for one in names)


def _inside(path: str, key: str | Reordered) -> str | Reordered:
    return path + key if isinstance(key, str) else Reordered(path + key.key, key.rows)
