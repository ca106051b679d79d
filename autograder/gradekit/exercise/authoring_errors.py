"""An error in an exercise file as one sentence: the file, the line, what is wrong, what to do.

Tested in tests/gradekit/exercise/test_authoring_errors.py.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gradekit.errors import ExerciseError, LabError
from gradekit.python_names import global_names_read_by
from gradekit.wording import did_you_mean

_UNKNOWN_ARGUMENT = re.compile(
    r"(?P<call>[\w.]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)
_CANNOT_IMPORT = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'")


def in_one_sentence(error: Exception, path: Path) -> ExerciseError:
    """The error of importing the exercise module `path`, with the line that it comes from."""
    return ExerciseError(f"{_place(error, path)}: {_sentence(error)}")


def file_name(path: Path) -> str:
    """A file of an exercise below the course's folder: autograder/exercises/lab01/softmax.py."""
    parts = path.parts
    start = len(parts) - 1 - parts[::-1].index("exercises") if "exercises" in parts else None
    return "/".join(parts[start - 1 :]) if start else path.name


def calling_line() -> str:
    """Where an exercise file is calling the kit now: ``file, line N``; empty if none is."""
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_code.co_filename
        # The first condition only saves time: there are many frames, and paths cost more.
        if "exercises" in name and _is_exercise(file := Path(name)):
            return f"{file_name(file)}, line {frame.f_lineno}"
        frame = frame.f_back
    return ""


def line_of(function: Callable[..., Any]) -> str:
    """Where a function or class is defined: ``file, line N``; empty if its text is in no file."""
    try:
        file, line = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
    except (OSError, TypeError):
        return ""
    path = Path(file or "")
    name = file_name(path) if _is_exercise(path) else "/".join(path.parts[-2:])
    return f"{name}, line {line}"


def line_in(filename: str, error: Exception) -> int:
    """The line of the text compiled as `filename` from which an error comes; 0 if it is not."""
    if isinstance(error, SyntaxError):
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == filename), 0)


def undefined_names(function: Callable[..., Any]) -> list[str]:
    """The global names that a function reads and that neither its module nor Python has."""
    if not inspect.isfunction(function):
        return []
    known = function.__globals__
    found = global_names_read_by(function.__code__)
    return sorted({n for n in found if n not in known and not hasattr(builtins, n)})


def _is_exercise(path: Path) -> bool:
    return "exercises" in path.parts and path.suffix == ".py"


def _place(error: Exception, path: Path) -> str:
    """The line of an exercise file that raised: the last one on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename:
        at = Path(error.filename)
        return f"{file_name(at) if _is_exercise(at) else at.name}, line {error.lineno}"
    lines = [(Path(s.filename), s.lineno) for s in traceback.extract_tb(error.__traceback__)]
    own = [(file, line) for file, line in lines if _is_exercise(file)]
    file, line = own[-1] if own else (path, 1)
    return f"{file_name(file)}, line {line}"


def _sentence(error: Exception) -> str:
    match error:
        case LabError():
            return str(error)
        case SyntaxError():
            return f"this is not Python ({error.msg}); correct the line"
        case ModuleNotFoundError():
            return f"there is no module {error.name}; correct the import or install it"
        case ImportError():
            return _cannot_import(str(error))
        case NameError():
            close = f"; did you forget to import {error.name}?" if error.name else ""
            return f"{error}{close}"
        case TypeError():
            return _wrong_argument(str(error))
        case _:
            first = str(error).partition("\n")[0]
            return f"{type(error).__name__} ({first}); correct the line"


def _cannot_import(message: str) -> str:
    found = _CANNOT_IMPORT.search(message)
    if not found:
        return f"{message.partition(chr(10))[0]}; correct the import"
    known = dir(sys.modules.get(found["module"]) or importlib.import_module(found["module"]))
    return f"{found['module']} has no {found['name']}{_closest(found['name'], known)}"


def _wrong_argument(message: str) -> str:
    found = _UNKNOWN_ARGUMENT.search(message)
    if not found:
        return f"{message.partition(chr(10))[0]}; correct the call"
    closest = _closest(found["name"], _arguments(found["call"]))
    return f"{found['call']}() has no argument {found['name']}{closest}"


def _arguments(call: str) -> list[str]:
    """The arguments of one of the kit's functions, by its name in an error message."""
    owner, _, name = call.rpartition(".")
    kit = importlib.import_module("gradekit.exercise")
    judges = importlib.import_module("attnlab.checking.judges")
    for place in (kit, judges, importlib.import_module("gradekit.exercise.edits")):
        thing = getattr(place, owner or name, None)
        function = getattr(thing, name, None) if owner else thing
        if function is not None:
            return list(inspect.signature(function).parameters)
    return []


def _closest(name: str, known: Iterable[str]) -> str:
    names = [one for one in known if not one.startswith("_") and one != "self"]
    if question := did_you_mean(name, names):
        return f"; {question}"
    return f"; it has {', '.join(names)}" if len(names) < 10 and names else "; correct the name"
