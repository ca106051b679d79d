"""The names that a probe may ask for, and running a probe on them."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from attnlab.checking.draw import Draw
from attnlab.checking.errors import ForbiddenCallError, MissingFileError, MissingNameError
from attnlab.checking.observation import Missing, Raised

# What the names of a notebook cell's "file" hold: Jupyter and VS Code, Colab and terminals, the
# grader.
_NOTEBOOK_MARKS = ("ipykernel", "ipython-input", "<student")

Probe = Callable[["Lab", Draw], Any]


class Lab:
    """A namespace behind attributes: ``lab.softmax`` is what the notebook calls ``softmax``.

    Args:
        names: what the notebook defined; the judge's own side also has saved weights in here, by
            their file's name.
        folder: where the notebook's files are, None where there are none.
    """

    def __init__(self, names: Mapping[str, Any], folder: Path | None = None) -> None:
        self._names = names
        self._folder = folder

    def saved_weights(self, name: str) -> dict[str, Tensor]:
        """The tensors in the file `name` that the notebook saved, by their names."""
        if name in self._names:
            return dict(self._names[name])
        if self._folder is None or not (self._folder / name).is_file():
            raise MissingFileError(name)
        return load_file(self._folder / name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise MissingNameError(name) from None


def observe(probe: Probe, lab: Lab, draw: Draw, forbids: Iterable[str] = ()) -> Any:
    """Run `probe` and return what it saw; an exception of the student's is an observation.

    Args:
        probe: the check.
        lab: the names that it may use.
        draw: its inputs.
        forbids: torch functions, by full name, that stop the probe when they are called.
    """
    try:
        with _usual_modes(), _forbidding(frozenset(forbids)):
            return probe(lab, draw)
    except (MissingNameError, MissingFileError) as error:
        return Missing(str(error))
    except ForbiddenCallError as error:
        return Raised("ForbiddenCallError", str(error))
    except (Exception, SystemExit) as error:  # what the student's code raises is what was seen
        return Raised(type(error).__name__, _first_line(error), _line_of(error.__traceback__))


@contextmanager
def _usual_modes() -> Iterator[None]:
    """Undo meanwhile what a notebook may have left switched, somewhere above."""
    usual_device = torch.get_default_device().type == "cpu"
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with (
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
            # Which makes every call of torch slower, so only where it is needed.
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
    """Sees every call of a torch function, however it was reached, and stops the named ones.

    A courtesy that keeps honest students on the road, not a wall: code that means to get around
    it can.
    """

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._names = names

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = resolve_name(func)
        if name in self._names:
            raise ForbiddenCallError(name)
        return func(*args, **(kwargs or {}))


def _first_line(error: BaseException) -> str:
    try:
        return str(error).strip().partition("\n")[0]
    except Exception:  # a student's exception may fail at this, too
        return ""


def _line_of(trace: TracebackType | None) -> str:
    """The innermost line that a student wrote, as text; empty where there is none."""
    for frame in reversed(traceback.extract_tb(trace)):
        if any(mark in frame.filename for mark in _NOTEBOOK_MARKS):
            return (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return ""
