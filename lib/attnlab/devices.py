"""Devices: which there are, choosing one, and going through the tensors of a batch."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from importlib.util import find_spec
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attnlab.checking.errors import LabError
from attnlab.pretend_gpu import PretendGPU

__all__ = [
    "DeviceError", "PretendGPU", "available", "compiled", "map_tensors", "missing_compiler",
    "peak_memory", "pick_device",
]  # fmt: skip

B = TypeVar("B")
log = logging.getLogger(__name__)

KINDS = ("cuda", "mps", "cpu")  # in the order in which `pick_device` prefers them


class DeviceError(LabError):
    """A device that this machine does not have."""


def available() -> list[str]:
    """The kinds of devices that torch can use on this machine, the fastest first."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    return [kind for kind in KINDS if there[kind]]


def pick_device(wanted: str = "auto") -> torch.device:
    """The device to train on.

    Args:
        wanted: "auto" takes "cuda" if torch can use it, else "mps", else "cpu". One of these words
            takes this kind; "cuda:1" takes the second GPU (they count from 0).

    Raises:
        DeviceError: this machine does not have the device, or there is no such kind of device. It
            never takes another device instead.
    """
    # blank: the best device, or exactly the wanted one
    there = available()
    if wanted == "auto":
        return torch.device(there[0])
    kind, _, index = wanted.partition(":")
    if kind in there and (not index or (index.isdecimal() and int(index) < _count(kind))):
        return torch.device(wanted)
    raise DeviceError(
        f"there is no device {wanted!r} on this machine: "
        f"give device=auto, or one of these: {', '.join(there)}"
    )
    # end blank


def _count(kind: str) -> int:
    return torch.cuda.device_count() if kind == "cuda" else 1


def map_tensors(batch: B, change: Callable[[Tensor], Tensor]) -> B:
    """The same structure with every tensor replaced by `change(tensor)`.

    Args:
        batch: a tensor; or a tuple, a NamedTuple, a list, a dict or a dataclass of such things, in
            any depth. Whatever else is in it stays as it is. It is not changed itself.
        change: called once for each tensor.
    """
    found: Any = batch
    result: Any
    match found:
        case Tensor():
            result = change(found)
        case tuple() if hasattr(found, "_fields"):  # a NamedTuple takes its parts one by one
            result = type(found)(*(map_tensors(part, change) for part in found))
        case tuple() | list():
            result = type(found)(map_tensors(part, change) for part in found)
        case dict():
            result = {key: map_tensors(part, change) for key, part in found.items()}
        case _ if is_dataclass(found) and not isinstance(found, type):
            parts = {part.name: getattr(found, part.name) for part in fields(found) if part.init}
            result = replace(found, **map_tensors(parts, change))
        case _:
            result = found
    return result


def missing_compiler(device: torch.device) -> str | None:
    """What `torch.compile` needs for a device and this machine does not have; None: nothing."""
    if device.type == "cuda":
        return None if find_spec("triton") else "the package triton"
    named = os.environ.get("CXX")
    found = any(map(shutil.which, [named] if named else ["g++", "clang++", "c++"]))
    return None if found else "a C++ compiler"


def compiled(model: nn.Module, device: torch.device) -> nn.Module:
    """The model compiled, with the same parameters; the model itself if there is no compiler.

    A missing compiler is logged, in one line.
    """
    missing = missing_compiler(device)
    if missing is not None:
        log.warning("compile=true, but %s is not there: the model is not compiled.", missing)
        return model
    # Buckets have many lengths; one program must fit all of them.
    return torch.compile(model, dynamic=True)  # type: ignore[return-value]


def peak_memory(device: torch.device) -> int:
    """The most memory, in bytes, that this process has had on `device`; for a CPU, in all.

    0 on systems that do not report it.
    """
    match device.type:
        case "cuda":
            return torch.cuda.max_memory_allocated(device)
        case "mps":
            return torch.mps.driver_allocated_memory()
        case "cpu" if sys.platform != "win32":
            import resource

            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            return most if sys.platform == "darwin" else most * 1024  # Linux counts KiB
        case _:
            return 0
