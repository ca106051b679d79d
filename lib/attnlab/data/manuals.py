"""English prose that every Python brings along: topics of its manual, docstrings of its library.

About 1.6 MB, so a small language model can be trained without a download. Pythons of different
versions have different texts: compare a model only with figures counted on the same texts.

The texts belong to the Python Software Foundation (PSF licence). They are read where they are
installed and are not copied.
"""

from __future__ import annotations

import ast
import hashlib
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

SHARE = 13 / 256  # of the texts, for validation
SHORTEST = 200  # characters; shorter docstrings are fragments
SHORT_LINE = 30  # characters; lines up to here, such as "Raises:", stand in many texts
# Folders beside the library that hold other packages, tests or generated tables.
_SKIPPED = frozenset({"site-packages", "dist-packages", "test", "tests", "lib2to3", "idlelib"})


class Manuals(NamedTuple):
    """The texts in two parts that share no line of more than 30 characters.

    Attributes:
        train: most of the texts.
        validation: about a twentieth of them.
    """

    train: str
    validation: str


def load(
    library: Path | None = None,
    split: Callable[[Sequence[str], float], tuple[list[str], list[str]]] | None = None,
) -> Manuals:
    """Read all texts (four seconds the first time) and divide them.

    Args:
        library: the folder of the standard library; None for this Python's.
        split: divides texts into those to train on and those to validate on; None: by the first
            byte of their SHA-256.

    Returns:
        The two parts. A text belongs to a part by its hash; in the second part, lines that also
        stand in the first one are left out, because a model would know them by heart.
    """
    found = texts(library or Path(sysconfig.get_path("stdlib")))
    train, validation = (split or _by_first_byte)(found, SHARE)
    known = {line for text in train for line in _long_lines(text)}
    kept = (
        "\n".join(line for line in text.splitlines() if line.strip() not in known).strip()
        for text in validation
    )
    return Manuals("\n\n".join(train), "\n\n".join(text for text in kept if text))


def texts(library: Path) -> list[str]:
    """The manual's topics and every docstring from 200 characters on.

    Args:
        library: the folder of the standard library.

    Returns:
        Each text once, in an order that does not depend on the machine.
    """
    return list(_texts(library))


@cache
def _texts(library: Path) -> tuple[str, ...]:
    from pydoc_data.topics import topics

    found = dict.fromkeys(topics[name].strip() for name in sorted(topics))
    for path in _sources(library):
        found.update(dict.fromkeys(_docstrings(path)))
    return tuple(found)


def _sources(root: Path) -> list[Path]:
    """The library's own files, in an order that does not depend on the machine."""
    paths = (
        path for path in root.rglob("*.py") if not _SKIPPED & set(path.relative_to(root).parts)
    )
    return sorted(paths, key=lambda path: path.relative_to(root).as_posix())


def _docstrings(path: Path) -> Iterator[str]:
    """The long docstrings of a file; none if it is no Python that this Python reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old code with invalid escapes
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = (ast.get_docstring(node) or "").strip()
            if len(text) >= SHORTEST:
                yield text


def _by_first_byte(found: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    # Not lab 9's `split_documents`, which is blank in its students' library until the lab closes.
    parts: tuple[list[str], list[str]] = ([], [])
    for text in found:
        parts[hashlib.sha256(text.encode()).digest()[0] < share * 256].append(text)
    return parts


def _long_lines(text: str) -> Iterator[str]:
    return (line for part in text.splitlines() if len(line := part.strip()) > SHORT_LINE)
