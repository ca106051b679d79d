"""Fills the course's GPT or BERT from a file whose parts have names of the student's own.

Layers are found by :mod:`.saved_layers`. The parts outside of them are found by their shapes, by
the module that they are in, and, where two parts are alike, by usual words in their names. A file
with the task's names needs none of this. (Lab 7's notebook writes its files with them.) If one
matrix makes queries, keys and values, its rows are read in this order: no code of the student runs
here, and a file does not say another one.

Tested in tests/gradekit/exercise/test_saved_models.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.checking.layer_weights import fill_layer
from attnlab.checking.weights import MissingWeightError, give_weights, rename_weights
from gradekit.exercise.saved_layers import layers_and_others

Weights = Mapping[str, Tensor]
Fill = Callable[[Any, Weights], None]
# Words in the last part of a bias's name, and in the names of two parts of equal shape.
_BIASES = ("bias", "beta", "b_2", "shift", "offset", "b")
_HEADS = ("head", "out", "unembed", "logit", "proj")
_SEGMENTS = ("seg", "type", "sentence_emb", "ab_emb")


def fill(model: nn.Module, weights: Weights, from_other_names: Fill) -> None:
    """Give `model` the saved weights.

    Args:
        model: the course's own.
        weights: by the task's names, or by the names of a student's own class.
        from_other_names: one of the functions below.

    Raises:
        MissingWeightError: a weight is missing, or is not a finite number.
    """
    try:
        give_weights(model, rename_weights(weights, dict(model.named_parameters())))
    except MissingWeightError:
        from_other_names(model, weights)
    if not all(torch.isfinite(tensor).all() for tensor in model.parameters()):
        raise MissingWeightError("a weight is NaN or infinite")


def gpt_from_other_names(model: Any, weights: Weights) -> None:
    """Fill a GPT whose `head` is no part of its table; a file may hold one of the two or both.

    Raises:
        MissingWeightError: a weight is missing.
    """
    cfg = model.cfg
    blocks, others = layers_and_others(weights, cfg.num_layers, cfg.d_model, 4 * cfg.d_model)
    found = {}
    for name, tensor in _flat(others):
        match tuple(tensor.shape):
            case (cfg.vocab_size, cfg.d_model):
                found["head.weight" if _says(name, _HEADS) else "tokens.weight"] = tensor
            case (cfg.context, cfg.d_model):
                found["positions.weight"] = tensor
            case (cfg.d_model,):
                found[f"norm.{_kind(name)}"] = tensor
    for one, other in (("head", "tokens"), ("tokens", "head")):
        if f"{other}.weight" in found:
            found.setdefault(f"{one}.weight", found[f"{other}.weight"])
    _give(model, found, model.blocks, blocks)


def bert_from_other_names(model: Any, weights: Weights) -> None:
    """Fill a BERT; its head for hidden words is the module with the bias of V numbers.

    Raises:
        MissingWeightError: a weight is missing.
    """
    cfg = model.cfg
    d, v = cfg.d_model, cfg.vocab_size
    layers, others = layers_and_others(weights, cfg.num_layers, d, cfg.d_ff)
    named = _flat(others)
    matrices = [name for name, tensor in named if tuple(tensor.shape) == (d, d)]
    head = _deepest(matrices, [name for name, tensor in named if tuple(tensor.shape) == (v,)])
    found = {}
    for name, tensor in named:
        owner = _owner(name)
        in_head = name.startswith(head)
        linear = any(_owner(matrix) == owner for matrix in matrices)
        match tuple(tensor.shape):
            case (rows, columns) if (rows, columns) == (v, d):
                found["tokens.weight"] = tensor
            case (cfg.max_len, columns) if columns == d:
                found["positions.weight"] = tensor
            case (2, columns) if columns == d and not _says(name, _SEGMENTS):
                found["nsp_head.weight"] = tensor
            case (cfg.num_segments, columns) if columns == d:
                found["segments.weight"] = tensor
            case (2,):
                found["nsp_head.bias"] = tensor
            case (rows,) if rows == v:
                found["mlm_head.output.bias"] = tensor
            case (rows, columns) if rows == columns == d:
                found["mlm_head.transform.weight" if in_head else "pooler.weight"] = tensor
            case (rows,) if rows == d and linear:
                found["mlm_head.transform.bias" if in_head else "pooler.bias"] = tensor
            case (rows,) if rows == d:
                norm = "mlm_head.norm" if in_head else "norm"
                found[f"{norm}.{_kind(name)}"] = tensor
    _give(model, found, model.layers, layers)


def _give(
    model: nn.Module, found: Weights, layers: Iterable[nn.Module], weights: Iterable[Weights]
) -> None:
    """Copy `found` to the parts outside of the layers, and each layer's weights into it."""
    layers = list(layers)
    inside = {id(p) for layer in layers for p in layer.parameters()}
    outside = {name: p for name, p in model.named_parameters() if id(p) not in inside}
    if missing := outside.keys() - found.keys():
        raise MissingWeightError(f"there is no weight like {min(missing)}")
    with torch.no_grad():
        for name, parameter in outside.items():
            parameter.copy_(found[name])
    for layer, own in zip(layers, weights, strict=True):
        fill_layer(layer, own)


def _flat(others: Weights) -> list[tuple[str, Tensor]]:
    """The tensors by name, without an axis of a batch that a raw parameter may have."""
    return [(name, t[0] if t.ndim == 3 and len(t) == 1 else t) for name, t in others.items()]


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def _kind(name: str) -> str:
    return "bias" if name.rpartition(".")[2] in _BIASES else "weight"


def _says(name: str, words: Iterable[str]) -> bool:
    return any(word in name.lower() for word in words)


def _deepest(names: Iterable[str], others: Iterable[str]) -> str:
    """The longest path that one of `names` and one of `others` have in common."""
    paths = [_common(one, other) for one in names for other in others]
    return max(paths, key=len, default="")


def _common(one: str, other: str) -> str:
    """The path that two names have in common, ending in a dot; empty at the top."""
    found = ""
    for a, b in zip(one.split(".")[:-1], other.split(".")[:-1], strict=False):
        if a != b:
            break
        found += f"{a}."
    return found
