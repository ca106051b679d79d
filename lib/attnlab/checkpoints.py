"""Checkpoints: folders with the weights and all else that training needs to go on exactly.

    out/last/model.safetensors       the weights, under the model's own names
    out/last/training.safetensors    the optimiser's state, random states, sums since the last line
    out/last/state.json              position, settings, loss scale
    out/step-000400/ …               earlier checkpoints, if more than one is kept
    out/averaged/model.safetensors   their mean
    out/best/model.safetensors       the weights with the lowest validation loss so far

Both formats contain numbers alone, so reading a checkpoint runs no code. A checkpoint is written
beside its place and moved there when it is complete and on the disk. So a program that is killed
and a disk that is full leave the previous checkpoint as it was.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from attnlab.checking.errors import LabError

LAST, AVERAGED, BEST, PART = "last", "averaged", "best", ".part"
MODEL, TRAINING, STATE = "model.safetensors", "training.safetensors", "state.json"


class CheckpointError(LabError):
    """A checkpoint cannot be written, is damaged, or is another model's."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Everything that training needs to go on.

    Attributes:
        weights: the model's state.
        tensors: other tensors by name.
        state: what JSON can hold; its "step" is the number of updates so far.
    """

    weights: Mapping[str, Tensor]
    tensors: Mapping[str, Tensor]
    state: Mapping[str, Any]


def write(folder: Path, checkpoint: Checkpoint, keep: int = 1) -> Path:
    """Write a checkpoint as ``folder/last``.

    Args:
        folder: made if it is not there.
        checkpoint: what to write.
        keep: how many checkpoints stay, this one included; older ones are deleted.

    Returns:
        The checkpoint's folder.

    Raises:
        CheckpointError: it cannot be written; earlier checkpoints are as they were.
    """
    part, last = folder / PART, folder / LAST
    try:
        shutil.rmtree(part, ignore_errors=True)  # of a program that was killed
        part.mkdir(parents=True)
        for name, data in _files(checkpoint).items():
            _write_to_disk(part / name, data)
        if last.exists():
            earlier = folder / _name(_read_state(last)["step"])
            shutil.rmtree(earlier, ignore_errors=True)  # the same step, written before
            last.rename(earlier)
        # Killed here, a program goes on from the folder with the highest number.
        part.rename(last)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise CheckpointError(
            f"the checkpoint of step {checkpoint.state['step']} could not be written to {folder} "
            f"({error.strerror or error}); earlier checkpoints are intact, so correct that, for "
            "example by freeing space, and run the command again"
        ) from error
    for old in _numbered(folder)[: -(keep - 1) or None]:
        shutil.rmtree(old, ignore_errors=True)
    return last


def read(folder: Path) -> Checkpoint | None:
    """The newest checkpoint in `folder`; None if there is none.

    Raises:
        CheckpointError: it is damaged.
    """
    places = kept(folder)
    return _read(places[-1]) if places else None


def kept(folder: Path) -> list[Path]:
    """The folders of all checkpoints in `folder`, the oldest first."""
    return [*_numbered(folder), *(place for place in [folder / LAST] if place.is_dir())]


def read_weights(place: Path) -> dict[str, Tensor]:
    """The weights of one checkpoint, such as ``out/last``.

    Raises:
        CheckpointError: there are none, or the file is damaged.
    """
    return _read_tensors(place / MODEL)


def write_weights(place: Path, weights: Mapping[str, Tensor]) -> Path:
    """Write weights alone, such as to ``out/best/model.safetensors``; returns the file.

    Args:
        place: the folder, such as ``out/best``; made if it is not there.
        weights: the model's state.

    Raises:
        CheckpointError: they cannot be written; an earlier file is as it was.
    """
    path = place / MODEL
    part = path.with_suffix(PART)
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write_to_disk(part, _bytes(weights))
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CheckpointError(
            f"{path} could not be written ({error.strerror or error}); checkpoints are intact, so "
            "correct that, for example by freeing space, and run the command again"
        ) from error
    return path


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], place: Path) -> None:
    """Fill a model with the weights of a checkpoint, or leave it as it is.

    Raises:
        CheckpointError: they are another model's; the message names one difference.
    """
    own = model.state_dict()
    for name in sorted(own.keys() | weights.keys()):
        if name not in own or name not in weights:
            here, there = ("this model", place) if name in own else (place, "this model")
            difference = f"{here} has {name!r}, which {there} does not have"
        elif own[name].shape != weights[name].shape:
            shapes = tuple(weights[name].shape), tuple(own[name].shape)
            difference = f"{name!r} has the shape {shapes[0]} there and {shapes[1]} here"
        else:
            continue
        raise CheckpointError(
            f"{place} is a checkpoint of another model ({difference}); give the settings with "
            "which it was trained, or another folder"
        )
    model.load_state_dict(weights)


def refuse_other_settings(
    found: Checkpoint, settings: Mapping[str, Any], may_change: Collection[str], place: Path
) -> None:
    """Compare the settings that a checkpoint was trained with, `found.state["settings"]`.

    Raises:
        CheckpointError: one of `settings` has another value there, and is not in `may_change`.
    """
    there = found.state.get("settings")
    there = there if isinstance(there, dict) else {}
    for name, value in settings.items():
        if name not in may_change and there.get(name) != value:
            raise CheckpointError(
                f"{place} was trained with {name}={there.get(name)}, not {name}={value}; give the "
                "same settings to go on from it, or another folder to begin again"
            )


def average_checkpoints(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints, name by name.

    Args:
        states: state dicts of one model at several times, the oldest first, in a list or a tuple.
            They stay unchanged.

    Returns:
        A new state dict that shares no memory with any of them. Floating-point tensors are means,
        in their own dtype, but added and divided in float32 or a wider type: two numbers of 60,000
        in float16 have a mean, although not a sum. A tensor that has two names, as tied tables do,
        has its mean under both. Whole numbers and booleans, such as a counter of steps, are those
        of the last state.

    Raises:
        ValueError: there are no states, or their names or shapes differ.

    Source: Attention Is All You Need, section 6.1; lecture C.
    """
    # blank: errors; means of floating-point tensors, the last of all others
    if not states:
        raise ValueError("there are no checkpoints to average")
    *earlier, last = states
    for state in earlier:
        if {name: x.shape for name, x in state.items()} != {n: x.shape for n, x in last.items()}:
            raise ValueError("the checkpoints have different names or shapes")
    averaged = {}
    for name, newest in last.items():
        if not newest.is_floating_point():
            averaged[name] = newest.clone()
            continue
        wide = torch.promote_types(newest.dtype, torch.float32)
        total = torch.zeros_like(newest, dtype=wide)
        for state in states:
            total += state[name]
        averaged[name] = (total / len(states)).to(newest.dtype)
    return averaged
    # end blank


def _files(checkpoint: Checkpoint) -> dict[str, bytes]:
    return {
        MODEL: _bytes(checkpoint.weights),
        TRAINING: _bytes(checkpoint.tensors),
        STATE: json.dumps(checkpoint.state, indent=1).encode(),
    }


def _bytes(tensors: Mapping[str, Tensor]) -> bytes:
    # safetensors refuses tensors that share memory, as tied weights do.
    return save(
        {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    )


def _write_to_disk(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # otherwise the folder could be moved before its content is there


def _read(place: Path) -> Checkpoint:
    tensors = _read_tensors(place / TRAINING)
    return Checkpoint(read_weights(place), tensors, _read_state(place))


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise _damaged(path, error) from error


def _read_state(place: Path) -> dict[str, Any]:
    path = place / STATE
    try:
        state: dict[str, Any] = json.loads(path.read_bytes())
        state["step"] = int(state["step"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _damaged(path, error) from error
    return state


def _damaged(path: Path, error: Exception) -> CheckpointError:
    why = error.strerror if isinstance(error, OSError) else "it is damaged"
    return CheckpointError(
        f"{path} cannot be read ({why}); delete the folder {path.parent}, and training goes on "
        "from the checkpoint before, or from the beginning"
    )


def _name(step: int) -> str:
    return f"step-{step:06}"


def _numbered(folder: Path) -> list[Path]:
    found = [place for place in folder.glob("step-*") if place.name[5:].isdecimal()]
    return sorted(found, key=lambda place: int(place.name[5:]))
