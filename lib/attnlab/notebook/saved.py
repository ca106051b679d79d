"""Trains a model once and keeps its weights beside the notebook, for the next time and the hand-in.

The file is safetensors: numbers alone, nothing that runs when it is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from attnlab.checking.render import notice
from attnlab.notebook.unwritten import unwritten_step

Model = TypeVar("Model", bound=nn.Module)


def trained(
    name: str,
    build: Callable[[], Model],
    train: Callable[[Model], Sequence[float]],
    again: bool = False,
) -> tuple[Model | None, Tensor]:
    """The model with its weights from the file `name`, or trained now and saved there.

    Args:
        name: the file beside the notebook, such as ``dates.safetensors``; it is part of what you
            hand in, so that nobody has to train your model again.
        build: makes the model, not yet trained.
        train: trains it in place and returns the losses on the way.
        again: train even if there is a file.

    Returns:
        The model, in evaluation mode, and the losses of its training. Where a step that it needs
        is still to be written: a notice, None, and no losses.
    """
    path = Path(name)
    try:
        model = build()
        losses = None if again else _load(path, model)
        if losses is None:
            start = time.perf_counter()
            losses = torch.tensor([float(loss) for loss in train(model)])
            _save(path, model, losses)
            print(f"Trained in {time.perf_counter() - start:.0f} s; the weights are in {path}.")
    except NotImplementedError as error:
        _show(f"Nothing to train yet: `{unwritten_step(error)}` is still to be written.")
        return None, torch.empty(0)
    return model.eval(), losses


def _load(path: Path, model: nn.Module) -> Tensor | None:
    """Fill `model` from the file and return its losses; None where it has to be trained."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no dict
            losses = json.loads((file.metadata() or {}).get("losses", "[]"))
        model.load_state_dict(weights)
        found = torch.tensor([float(loss) for loss in losses])
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"{path} does not fit this model ({type(error).__name__}), so it is trained anew.")
        return None
    print(f"Loaded {path}; nothing was trained.")
    print("Mended a step since? Then delete the file, or pass again=True once.")
    return found


def _save(path: Path, model: nn.Module, losses: Tensor) -> None:
    """Write the weights, first beside their place, so that a failure leaves an older file whole."""
    weights = {key: value.clone().contiguous() for key, value in model.state_dict().items()}
    unfinished = path.with_suffix(".part")
    # safetensors' own way of writing a file makes one that nobody else may read.
    unfinished.write_bytes(save(weights, metadata={"losses": json.dumps(losses.tolist())}))
    unfinished.replace(path)


def _show(sentence: str) -> None:
    from IPython.display import display

    face = notice(sentence)
    display({"text/plain": face.text(), "text/html": face.html()}, raw=True)
