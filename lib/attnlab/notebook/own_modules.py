"""The modules that a notebook imports from its own folder: they must come along when it is graded.

Grading searches the folder last. So a file with the name of an installed module, or of one of
Python's own, would not be imported there, and it is not packed.

Tested in tests/attnlab/notebook/test_submit.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)


def own_modules(sources: Iterable[str], folder: Path) -> tuple[list[Path], list[str]]:
    """The files next to a notebook that it imports, directly or through one another.

    Args:
        sources: the texts of the notebook's cells.
        folder: the notebook's.

    Returns:
        the files, by name, and a sentence for each import that will not work in grading.
    """
    files: dict[str, Path] = {}
    said: dict[str, str] = {}
    todo = list(sources)
    while todo:
        for name in _imported(todo.pop()):
            path, package = folder / f"{name}.py", folder / name
            if name in files or name in said or name == "attnlab":
                continue
            if package.is_dir() and any(package.glob("*.py")) and not _is_elsewhere(name, folder):
                said[name] = (
                    f"The folder {name} is not packed, but the notebook imports it: move its code "
                    "into one .py file next to the notebook."
                )
            elif path.is_file() and _is_elsewhere(name, folder):
                said[name] = (
                    f"{path.name} is not packed: grading would import the installed module {name}. "
                    "Give your file another name."
                )
            elif path.is_file() and not path.is_symlink():
                files[name] = path
                todo.append(path.read_text("utf-8", "replace"))
    return [files[name] for name in sorted(files)], [said[name] for name in sorted(said)]


def _imported(source: str) -> Iterator[str]:
    for first, several in _IMPORT.findall(source):
        names = [first] if first else [part.split() for part in several.split(",")]
        for name in names:
            if name:
                yield (name if isinstance(name, str) else name[0]).partition(".")[0]


def _is_elsewhere(name: str, folder: Path) -> bool:
    """Whether Python finds a module of this name outside the notebook's folder."""
    if name in sys.stdlib_module_names:
        return True
    others = [path for path in sys.path if Path(path or ".").resolve() != folder.resolve()]
    return PathFinder.find_spec(name, others) is not None
