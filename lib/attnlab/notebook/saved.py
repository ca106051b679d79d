"""Trains a model once and saves its weights next to the notebook, for later and for the hand-in.

The file's format is safetensors: it contains numbers alone, and reading it runs no code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from attnlab.checking.render import notice
from attnlab.checking.task_names import TaskNames
from attnlab.notebook.unwritten import why_not

Model = TypeVar("Model", bound=nn.Module)


def trained(
    name: str,
    build: Callable[[], Model],
    train: Callable[[Model], Sequence[float]],
    again: bool = False,
    names: TaskNames | None = None,
) -> tuple[Model | None, Tensor]:
    """The model with its weights from the file `name`, or trained now and saved there.

    Args:
        name: the file next to the notebook, such as ``dates.safetensors``; you hand it in with the
            notebook, so your model is not trained again for grading.
        build: makes the model, not yet trained.
        train: trains it in place and returns the losses on the way.
        again: train even if there is a file.
        names: of the weights in the file; without them, they have the model's own.

    Returns:
        The model, in evaluation mode, and the losses of its training, (steps,). If a step that it
        needs is not written yet or stops, it shows a notice and returns None and no losses.
    """
    path = Path(name)
    try:
        model = build()
        losses = None if again else _load(path, model, names)
        if losses is None:
            if path.is_file():  # it may have changed some of the weights before it failed
                model = build()
            start = time.perf_counter()
            losses = torch.tensor([float(loss) for loss in train(model)])
            _save(path, names.read(model) if names else model.state_dict(), losses)
            print(f"Trained in {time.perf_counter() - start:.0f} s; the weights are in {path}.")
    except Exception as error:  # whatever is wrong with a step, the cells below must run
        _show(f"Nothing to train yet: {why_not(error, build, train)}")
        return None, torch.empty(0)
    return model.eval(), losses


def _load(path: Path, model: nn.Module, names: TaskNames | None) -> Tensor | None:
    """Fill `model` from the file and return the losses; None if the model must be trained."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
            losses = json.loads((file.metadata() or {}).get("losses", "[]"))
        if names:
            names.give(model, weights)
        else:
            model.load_state_dict(weights)
        found = torch.tensor([float(loss) for loss in losses])
    except (SafetensorError, OSError, LookupError, RuntimeError, TypeError, ValueError) as error:
        print(f"{path} does not fit this model ({type(error).__name__}), so it is trained again.")
        return None
    print(f"Loaded {path}; nothing was trained.")
    print("Changed a step since? Then delete the file, or pass again=True once.")
    return found


def _save(path: Path, state: Mapping[str, Tensor], losses: Tensor) -> None:
    """Write the weights to a temporary file first, so a failure leaves an older file intact."""
    weights = {key: value.clone().contiguous() for key, value in state.items()}
    unfinished = path.with_suffix(".part")
    # Not safetensors' own save_file: only the file's owner may read what it writes.
    # A file has its tensors by name; some models can be read only in the order of their parts.
    said = {"losses": json.dumps(losses.tolist()), "order": "\n".join(weights)}
    unfinished.write_bytes(save(weights, metadata=said))
    unfinished.replace(path)


def _show(sentence: str) -> None:
    from IPython.display import display

    shown = notice(sentence)
    display({"text/plain": shown.text(), "text/html": shown.html()}, raw=True)
