"""The names that a probe may ask for, and :func:`observe`, which runs a probe on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from attnlab.checking.draw import Draw
from attnlab.checking.errors import ForbiddenCallError, MissingFileError, MissingNameError
from attnlab.checking.observation import Missing, Raised
from attnlab.checking.raised import raised_by

Probe = Callable[["Lab", Draw], Any]
_ASKED = re.compile(r"\blab\.(\w+)")


def asked_names(source: str) -> set[str]:
    """The names that a probe, given as text, asks its `lab` for."""
    return set(_ASKED.findall(source))


class Lab:
    """A namespace behind attributes: ``lab.softmax`` is what the notebook calls ``softmax``.

    Args:
        names: everything that the notebook defined. The grader's own run also puts saved weights
            here, by their file's name.
        folder: the folder of the notebook's files; None if there are none.
    """

    def __init__(self, names: Mapping[str, Any], folder: Path | None = None) -> None:
        self._names = names
        self._folder = folder

    def saved_weights(self, name: str) -> dict[str, Tensor]:
        """The tensors, by name, in the file `name` that the notebook saved.

        They are in the order in which the model registers them, if the file says it: a file has
        them by name, and some right answers are read by their order.

        Raises:
            MissingFileError: there is no such file.
        """
        if name in self._names:
            return dict(self._names[name])
        if self._folder is None or not (self._folder / name).is_file():
            raise MissingFileError(name)
        found = load_file(self._folder / name)
        return {key: found[key] for key in [*order_in(self._folder / name, found), *found]}

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise MissingNameError(name) from None


def order_in(path: Path, known: Mapping[str, Any]) -> list[str]:
    """The names of a file's tensors in their model's order; empty if the file does not say it."""
    with safe_open(path, framework="pt") as file:
        text = (file.metadata() or {}).get("order", "")
    return [name for name in text.split("\n") if name in known]


def observe(
    probe: Probe,
    lab: Lab,
    draw: Draw,
    forbids: Iterable[str] = (),
    elsewhere: Collection[CodeType] = (),
) -> Any:
    """Run `probe` and return its observation; an exception in the student's code is one, too.

    Args:
        probe: the check.
        lab: the names that the probe may use.
        draw: its inputs.
        forbids: full names of torch functions. A call of one of them ends the probe.
        elsewhere: the code of other steps (see :func:`~attnlab.checking.raised.raised_by`).
    """
    try:
        with _usual_modes(), _forbidding(frozenset(forbids)):
            return probe(lab, draw)
    except (MissingNameError, MissingFileError) as error:
        return Missing(str(error))
    except ForbiddenCallError as error:
        return Raised("ForbiddenCallError", str(error))
    except (Exception, SystemExit) as error:  # what the student's code raises is the observation
        return raised_by(error, elsewhere)


@contextmanager
def _usual_modes() -> Iterator[None]:
    """In this block, torch's modes have their defaults, whatever the notebook has switched."""
    usual_device = torch.get_default_device().type == "cpu"
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with (
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
            # This makes every call of torch slower, so it is used only if needed.
            nullcontext() if usual_device else torch.device("cpu"),
        ):
            yield
    finally:
        torch.set_default_dtype(dtype)


@contextmanager
def _forbidding(names: frozenset[str]) -> Iterator[None]:
    if not names:
        yield
        return
    with _Forbidding(names):
        yield


class _Forbidding(TorchFunctionMode):
    """Sees every call of a torch function, under whatever name, and stops the forbidden ones.

    It reminds honest students of the task. It is not a security measure: code can get around it
    deliberately.
    """

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._listed = {_public_name(name): name for name in names}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # torch cannot say the name of a function that is not its own public one.
        name = resolve_name(func) or f"{func.__module__}.{getattr(func, '__name__', '')}"
        if listed := self._listed.get(_public_name(name)):
            raise ForbiddenCallError(listed)
        return func(*args, **(kwargs or {}))


@cache
def _public_name(name: str) -> str:
    """The public name of a variant of torch's own: ``torch.softmax`` of ``aten._softmax``."""
    if name.startswith("aten."):
        name = f"torch.{name.split('.')[1]}"  # the rest says which overload
    module, _, last = name.rpartition(".")
    return f"{module}.{last.lstrip('_')}"
