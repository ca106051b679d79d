"""The weights of a GPT and of a BERT under the names in their tasks, whatever their own are.

Both are a stack of equal layers with tables before it and heads behind it. The parts outside the
stack are found by their shapes; where several have the same, by their modules and names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from torch import nn

from attnlab.checking.layer_weights import is_norm, layer_shapes
from attnlab.checking.task_names import (
    Found,
    Shape,
    TaskNames,
    kind_of_vector,
    layer_names,
    layers_of,
    outside,
    renamed,
)
from attnlab.checking.weights import Spellings

# What the tasks of labs 9 and 10 call the parts of a layer.
_IN_A_LAYER = {
    "self_attention.": "attention.",
    "feed_forward.": "",
    "residual1.norm.": "norm1.",
    "residual2.norm.": "norm2.",
}
# Words in the names of parts, for a BERT whose head for hidden words is not a module of its own.
_OF_THE_HEAD = ("mlm", "head", "pred", "lm_", "decoder", "cls", "transform", "output")
_OF_A_NORM = ("norm", "ln", "Norm")


def gpt_names(cfg: Any) -> TaskNames:
    """The names of lab 9's `GPT`.

    Args:
        cfg: a `GPTConfig`, with the numbers of the model.
    """
    d = cfg.d_model
    shapes = {**_gpt_tables(cfg), "norm.weight": (d,), "norm.bias": (d,)}

    def spellings(model: nn.Module) -> Spellings:
        blocks = blocks_of(model, cfg.num_layers)
        return gpt_parts(model, cfg, blocks) | _in_a_stack(model, "blocks", blocks)

    return TaskNames(shapes | _stack_shapes("blocks", cfg.num_layers, d, 4 * d), spellings)


def blocks_of(model: nn.Module, number: int) -> list[nn.Module]:
    """The blocks of a GPT: the children of the first container that has so many of one class."""
    for part in model.modules():
        children = list(part.children())
        if isinstance(part, nn.ModuleList | nn.Sequential | nn.ModuleDict) and (
            len(children) == number and len({type(child) for child in children}) == 1
        ):
            return children
    return []


def gpt_parts(model: nn.Module, cfg: Any, blocks: Iterable[nn.Module]) -> Found:
    """A GPT's own names of the parts outside its blocks, by the names in the task."""
    tables = _gpt_tables(cfg)
    return _parts(model, blocks, tables, lambda name, *_: f"norm.{kind_of_vector(name)}")


def _gpt_tables(cfg: Any) -> dict[str, Shape]:
    d, v = cfg.d_model, cfg.vocab_size
    return {"tokens.weight": (v, d), "positions.weight": (cfg.context, d), "head.weight": (v, d)}


def bert_names(cfg: Any) -> TaskNames:
    """The names of lab 10's `Bert`.

    Args:
        cfg: a `BertConfig`, with the numbers of the model.
    """
    d, shapes = cfg.d_model, _bert_tables(cfg)
    for linear in ("pooler", "mlm_head.transform"):
        shapes |= {f"{linear}.weight": (d, d), f"{linear}.bias": (d,)}
    for norm in ("norm", "mlm_head.norm"):
        shapes |= {f"{norm}.weight": (d,), f"{norm}.bias": (d,)}

    def spellings(model: nn.Module) -> Spellings:
        layers = bert_layers_of(model)
        return bert_parts(model, cfg, layers) | _in_a_stack(model, "layers", layers)

    return TaskNames(shapes | _stack_shapes("layers", cfg.num_layers, d, cfg.d_ff), spellings)


def classifier_names(cfg: Any, num_classes: int) -> TaskNames:
    """The names of lab 10's `Classifier`: a BERT as `bert`, and a linear layer `head`.

    Args:
        cfg: a `BertConfig`, with the numbers of the BERT.
        num_classes: C.
    """
    bert = bert_names(cfg)
    shapes = {f"bert.{name}": shape for name, shape in bert.shapes.items()}
    shapes |= {"head.weight": (num_classes, cfg.d_model), "head.bias": (num_classes,)}

    def spellings(model: nn.Module) -> Spellings:
        own = bert.spellings(model)
        return {renamed(names, "bert.".__add__): keys for names, keys in own.items()}

    return TaskNames(shapes, spellings)


def bert_layers_of(model: nn.Module, kind: str = "BertLayer") -> list[nn.Module]:
    """The layers of a BERT: all of a class, by its name; if none is, the longest `ModuleList`."""
    lists = [list(part) for part in model.modules() if isinstance(part, nn.ModuleList)]
    return layers_of(model, kind) or max(lists, key=len, default=[])


def bert_parts(
    model: nn.Module, cfg: Any, layers: Iterable[nn.Module], head: str = "MLMHead"
) -> Found:
    """A BERT's own names of the parts outside its layers, by the names in the task.

    Args:
        model: of any class.
        cfg: a `BertConfig`, with the numbers of the model.
        layers: from `bert_layers_of`.
        head: the name of the class of the head for hidden words.
    """
    heads = layers_of(model, head)
    in_head = {id(parameter) for head in heads for parameter in head.parameters()}
    if not heads:  # its parts are the model's own
        words = [(name.lower(), p) for name, p in model.named_parameters()]
        in_head = {id(p) for name, p in words if any(word in name for word in _OF_THE_HEAD)}

    def other(name: str, parameter: nn.Parameter, owner: nn.Module) -> str:
        if id(parameter) in in_head:
            return f"mlm_head.{linear_or_norm(name, parameter, owner, 'transform')}"
        return linear_or_norm(name, parameter, owner, "pooler")

    return _parts(model, layers, _bert_tables(cfg), other)


def _bert_tables(cfg: Any) -> dict[str, Shape]:
    d, v = cfg.d_model, cfg.vocab_size
    return {
        "tokens.weight": (v, d), "positions.weight": (cfg.max_len, d),
        "segments.weight": (cfg.num_segments, d),
        "mlm_head.output.weight": (v, d), "mlm_head.output.bias": (v,),
        "nsp_head.weight": (2, d), "nsp_head.bias": (2,),
    }  # fmt: skip


def linear_or_norm(name: str, parameter: nn.Parameter, owner: nn.Module, linear: str) -> str:
    """The name in the task of a parameter that belongs to `linear` or to a normalisation `norm`.

    Args:
        name, parameter, owner: from :func:`~.task_names.outside`.
        linear: the name of the linear layer.
    """
    if parameter.ndim > 1:
        return f"{linear}.weight"
    if is_norm(owner) or any(word in name for word in _OF_A_NORM):
        return f"norm.{kind_of_vector(name)}"
    return f"{linear}.bias"


def _parts(
    model: nn.Module,
    layers: Iterable[nn.Module],
    tables: Mapping[str, Shape],
    other: Callable[[str, nn.Parameter, nn.Module], str],
) -> Found:
    """The model's own names of the parts outside its layers, by the names in the task.

    Args:
        model: of any class.
        layers: its layers.
        tables: the parts that are known by their shapes. If a table and a head have the same, the
            `nn.Linear` is rather the head. But both may be one parameter, perhaps with one name.
        other: from one of :func:`~.task_names.outside` to a part, for all other shapes.
    """
    likely: Found = {}
    unlikely: Found = {}
    for name, parameter, owner in outside(model, layers):
        alike = [part for part, shape in tables.items() if shape == parameter.shape[-2:]]
        for part in alike or [other(name, parameter, owner)]:
            found = likely if isinstance(owner, nn.Linear) == ("head" in part) else unlikely
            found.setdefault(part, []).append(name)
    return {part: likely.get(part, []) + unlikely.get(part, []) for part in likely | unlikely}


def _in_a_stack(model: nn.Module, part: str, layers: Sequence[nn.Module]) -> Found:
    """Where a model stores the weights of its layers."""
    found: Found = {}
    for number, layer in enumerate(layers):
        found |= layer_names(model, layer, partial(_name, part, number))
    return found


def _stack_shapes(part: str, num_layers: int, d_model: int, d_ff: int) -> dict[str, Shape]:
    shapes = layer_shapes(d_model, d_ff).items()
    return {_name(part, i, name): shape for i in range(num_layers) for name, shape in shapes}


def _name(part: str, number: int, name: str) -> str:
    """The name in the task of a layer's weight, from its name in `layer_shapes`."""
    start = next(start for start in _IN_A_LAYER if name.startswith(start))
    return f"{part}.{number}.{_IN_A_LAYER[start]}{name.removeprefix(start)}"
