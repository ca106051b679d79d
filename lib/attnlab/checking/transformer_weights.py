"""The weights of an encoder–decoder Transformer under the names in its task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from torch import nn

from attnlab.checking.layer_weights import layer_shapes
from attnlab.checking.task_names import (
    Found,
    Locations,
    Shape,
    TaskNames,
    kind_of_vector,
    layer_names,
    layers_of,
    outside,
)
from attnlab.checking.weights import Spellings

_KINDS = ("EncoderLayer", "DecoderLayer")
_SIDES = ("encoder", "decoder")
_OF_THE_DECODER = ("dec", "tgt", "target", "out")


def sides_of(model: nn.Module, kinds: Sequence[str] = _KINDS) -> list[list[nn.Module]]:
    """The encoder's and the decoder's layers that are registered, by the names of their classes."""
    return [layers_of(model, kind) for kind in kinds]


def outer_spellings(model: nn.Module, cfg: Any, layers: Sequence[Sequence[nn.Module]]) -> Found:
    """The model's own names of the parts outside its layers, found by kind, shape and words.

    Args:
        model: of any class.
        cfg: a `TransformerConfig`, with the numbers of the model.
        layers: from `sides_of`.
    """
    found: Found = {}
    sources: Locations = []
    targets: Locations = []
    others: Locations = []
    for name, parameter, owner in outside(model, chain(*layers)):
        of_decoder = any(word in name for word in _OF_THE_DECODER)
        if parameter.ndim == 1:
            part = f"{_SIDES[of_decoder]}_norm.{kind_of_vector(name)}"
            found.setdefault(part, []).append(name)
        elif parameter.shape[0] == cfg.source_vocab != cfg.target_vocab:
            sources.append(name)
        elif isinstance(owner, nn.Embedding):
            (targets if of_decoder or cfg.source_vocab != cfg.target_vocab else sources).append(
                name
            )
        else:
            others.append(name)
    for kind in ("weight", "bias"):  # two norms whose names say nothing: in their order
        names = found.get(f"encoder_norm.{kind}", [])
        if len(names) == 2 and f"decoder_norm.{kind}" not in found:
            found[f"encoder_norm.{kind}"], found[f"decoder_norm.{kind}"] = names[:1], names[1:]
    # If tables are tied, one parameter has several of these names, or one name for all.
    found["source_embedding.weight"] = sources + (targets if cfg.tie == "all" else [])
    found["target_embedding.weight"] = targets + (others if cfg.tie != "none" else [])
    found["head.weight"] = others + (targets if cfg.tie != "none" else [])
    if cfg.tie == "all":
        for part in ("target_embedding.weight", "head.weight"):
            found[part] += sources
    return found


def transformer_names(cfg: Any) -> TaskNames:
    """The names of lab 7's `Transformer`.

    Args:
        cfg: a `TransformerConfig`, with the numbers of the model.
    """

    def spellings(model: nn.Module) -> Spellings:
        layers = sides_of(model)
        found = outer_spellings(model, cfg, layers)
        for decoder, side in enumerate(_SIDES):
            for number, layer in enumerate(layers[decoder]):
                path = f"{side}.{number}."
                found |= layer_names(model, layer, path.__add__, decoder=bool(decoder))
        return found

    return TaskNames(_shapes(cfg), spellings)


def _shapes(cfg: Any) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {"source_embedding.weight": (cfg.source_vocab, cfg.d_model)}
    for table in ("target_embedding.weight", "head.weight"):
        shapes[table] = (cfg.target_vocab, cfg.d_model)
    for decoder, side in enumerate(_SIDES):
        number = cfg.num_decoder_layers if decoder else cfg.num_encoder_layers
        for name, shape in layer_shapes(cfg.d_model, cfg.d_ff, decoder=bool(decoder)).items():
            shapes |= {f"{side}.{i}.{name}": shape for i in range(number)}
        if cfg.norm == "pre":
            shapes |= {f"{side}_norm.{kind}": (cfg.d_model,) for kind in ("weight", "bias")}
    return shapes
