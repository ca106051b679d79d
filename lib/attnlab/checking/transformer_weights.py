"""The weights of an encoder–decoder Transformer under the names in its task, whatever its own are.

The task names the parts of the model, and other names of a layer's parts are accepted. So a model
that a student wrote gets weights that come with the course, and its own weights are read, through
these names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.checking.layer_weights import layer_shapes, layer_spellings
from attnlab.checking.weights import (
    MissingWeightError,
    Reordered,
    Spellings,
    give_weights,
    rename_weights,
)

KINDS = ("EncoderLayer", "DecoderLayer")
_SIDES = ("encoder", "decoder")
_OF_THE_DECODER = ("dec", "tgt", "target", "out")
_BIASES = ("bias", "beta", "b_2", "shift", "offset")


def layers_of(model: nn.Module, kinds: Sequence[str] = KINDS) -> list[list[nn.Module]]:
    """The encoder's and the decoder's layers that are registered, in order.

    Args:
        model: of any class.
        kinds: the names of the two classes. Names, because a notebook that nbgrader runs by itself
            has other classes than the grader.
    """
    names = {part: [kind.__name__ for kind in type(part).__mro__] for part in model.modules()}
    return [[part for part in names if kind in names[part]] for kind in kinds]


def outer_spellings(
    model: nn.Module, cfg: Any, layers: Sequence[Sequence[nn.Module]]
) -> dict[str, list[str]]:
    """The model's own names of the parts outside its layers, found by kind, shape and words.

    Args:
        model: of any class.
        cfg: a `TransformerConfig`, with the numbers of the model.
        layers: from `layers_of`.
    """
    inside = {id(p) for side in layers for layer in side for p in layer.parameters()}
    tables = {f"{n}.weight" for n, part in model.named_modules() if isinstance(part, nn.Embedding)}
    found: dict[str, list[str]] = {}
    sources: list[str] = []
    targets: list[str] = []
    others: list[str] = []
    for name, parameter in model.named_parameters(remove_duplicate=False):
        of_decoder = any(word in name for word in _OF_THE_DECODER)
        if id(parameter) in inside:
            continue
        if parameter.ndim == 1:
            kind = "bias" if name.rpartition(".")[2] in _BIASES else "weight"
            found.setdefault(f"{_SIDES[of_decoder]}_norm.{kind}", []).append(name)
        elif parameter.shape[0] == cfg.source_vocab != cfg.target_vocab:
            sources.append(name)
        elif name in tables:
            (targets if of_decoder or cfg.source_vocab != cfg.target_vocab else sources).append(
                name
            )
        else:
            others.append(name)
    # If tables are tied, one parameter has several of these names, or one name for all.
    found["source_embedding.weight"] = sources + (targets if cfg.tie == "all" else [])
    found["target_embedding.weight"] = targets + (others if cfg.tie != "none" else [])
    found["head.weight"] = others + (targets if cfg.tie != "none" else [])
    if cfg.tie == "all":
        for part in ("target_embedding.weight", "head.weight"):
            found[part] += sources
    return found


def transformer_spellings(model: nn.Module, cfg: Any) -> Spellings:
    """Under which names a model stores its weights.

    Args:
        model: of any class. Its layers are of classes with the names in `KINDS`.
        cfg: a `TransformerConfig`, with the numbers of the model.

    Returns:
        For each name in the task the model's own, in the form that :mod:`attnlab.checking.weights`
        takes.
    """
    layers = layers_of(model)
    paths = {part: name for name, part in model.named_modules()}
    found: dict[str | tuple[str, ...], list[str | Reordered]] = {}
    found |= {name: [*keys] for name, keys in outer_spellings(model, cfg, layers).items()}
    for decoder, side in enumerate(_SIDES):
        for number, layer in enumerate(layers[decoder]):
            ours, own = f"{side}.{number}.", f"{paths[layer]}."
            for name in layer_shapes(1, 1, decoder=bool(decoder)):
                found[ours + name] = [own + name]
            for names, keys in layer_spellings(layer, decoder=bool(decoder)).items():
                alone = isinstance(names, str)
                together = f"{ours}{names}" if alone else tuple(ours + name for name in names)
                found.setdefault(together, []).extend(_inside(own, key) for key in keys)
    return found


def give_transformer(model: nn.Module, weights: Mapping[str, Tensor], cfg: Any) -> None:
    """Give a model weights by the names in the task, or by all of its own names.

    Raises:
        MissingWeightError: the model has no parameter for one of the weights.
    """
    try:
        model.load_state_dict(dict(weights))
    except RuntimeError:  # its names are others, or a file lacks what is no parameter
        give_weights(model, weights, transformer_spellings(model, cfg))


def transformer_state(model: nn.Module, cfg: Any) -> dict[str, Tensor]:
    """A model's weights by the names in the task; if one of them is not found, by its own names."""
    state = model.state_dict()
    shapes = _shapes(cfg)
    if shapes.keys() <= state.keys():
        return state
    try:
        return rename_weights(state, shapes, transformer_spellings(model, cfg))
    except MissingWeightError:
        return state


def _inside(path: str, key: str | Reordered) -> str | Reordered:
    return path + key if isinstance(key, str) else Reordered(path + key.key, key.rows)


def _shapes(cfg: Any) -> dict[str, Tensor]:
    """A tensor without numbers for each weight of the task's model."""
    shapes: dict[str, tuple[int, ...]] = {
        "source_embedding.weight": (cfg.source_vocab, cfg.d_model)
    }
    for table in ("target_embedding.weight", "head.weight"):
        shapes[table] = (cfg.target_vocab, cfg.d_model)
    for decoder, side in enumerate(_SIDES):
        number = cfg.num_decoder_layers if decoder else cfg.num_encoder_layers
        for name, shape in layer_shapes(cfg.d_model, cfg.d_ff, decoder=bool(decoder)).items():
            shapes |= {f"{side}.{i}.{name}": shape for i in range(number)}
        if cfg.norm == "pre":
            shapes |= {f"{side}_norm.{kind}": (cfg.d_model,) for kind in ("weight", "bias")}
    return {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}
