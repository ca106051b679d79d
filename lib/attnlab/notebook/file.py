"""Reads a notebook's file as a student saved it: is it valid, and which steps are still open?

Tested in ``tests/attnlab/notebook/test_submit.py``, through ``submit()``.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.checking.errors import LabError

PLACEHOLDERS = {
    "code": re.compile(r"^\s*raise NotImplementedError\b", re.MULTILINE),
    "markdown": re.compile(r"^\s*(YOUR ANSWER HERE|\*Write your answer here\b.*)$", re.MULTILINE),
}
_CONFLICT = re.compile(r"^\s*\"?(<{7}|>{7}) ", re.MULTILINE)


class SubmitError(LabError):
    """The hand-in is missing or not valid. The message says what to do."""

    def _render_traceback_(self) -> list[str]:
        """The message alone, because a traceback would not help the student."""
        return [str(self)]


@dataclass(frozen=True)
class NotebookFile:
    """A valid notebook.

    Attributes:
        path: its file.
        raw: the file's bytes.
        content: the same notebook as JSON values.
    """

    path: Path
    raw: bytes
    content: Mapping[str, Any]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The notebook's own metadata."""
        metadata: Mapping[str, Any] = self.content["metadata"]
        return metadata

    @property
    def open_steps(self) -> tuple[str, ...]:
        """Names of the student's cells that still contain a placeholder."""
        return tuple(_name(cell) for cell in self.content["cells"] if _is_open(cell))

    @property
    def never_run(self) -> bool:
        """Whether no code cell has a number or an output."""
        return not any(
            cell.get("execution_count") or cell.get("outputs")
            for cell in self.content["cells"]
            if cell["cell_type"] == "code"
        )


def read_notebook(path: Path) -> NotebookFile:
    """The notebook in `path`.

    Raises:
        SubmitError: it cannot be read, or is not a valid notebook of nbformat 4.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SubmitError(
            f"{path} cannot be read ({error.strerror}): check the name and who may read it."
        ) from error
    if not raw.strip():
        raise SubmitError(f"{path.name} is empty: save the notebook again, then hand in.")
    content = _parse(path.name, raw)
    if not isinstance(content, dict) or content.get("nbformat") != 4:
        raise SubmitError(
            f"{path.name} is not a notebook in the current format (nbformat 4): "
            "open it in JupyterLab and save it again."
        )
    _validate(path.name, content)
    for number, cell in enumerate(content["cells"], start=1):
        if len(_CONFLICT.findall(cell_text(cell))) > 1:
            raise SubmitError(
                f"Cell {number} of {path.name} contains the marks of a merge conflict (<<<<<<<): "
                "keep one of the two versions, delete the marks and save."
            )
    return NotebookFile(path, raw, content)


def cell_text(cell: Mapping[str, Any]) -> str:
    """A cell's text. The format also allows a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _is_open(cell: Mapping[str, Any]) -> bool:
    mark = PLACEHOLDERS.get(cell["cell_type"])
    return mark is not None and mark.search(cell_text(cell)) is not None


def _parse(name: str, raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if len(_CONFLICT.findall(raw.decode("utf-8", "replace"))) > 1:
            raise SubmitError(
                f"{name} contains the marks of a merge conflict (<<<<<<<): "
                "choose one version with git, then hand in again."
            ) from error
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise SubmitError(
            f"{name} is damaged{line}: restore an earlier version (in JupyterLab: File, Revert "
            "Notebook to Checkpoint), or ask your course for help."
        ) from error


def _validate(name: str, content: dict[str, Any]) -> None:
    import nbformat

    # nbformat repairs the notebook that it validates, and warns. So it validates a copy.
    copy = nbformat.from_dict(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nbformat.validate(copy, relax_add_props=True)
        # The validator itself fails on content that is far from a notebook.
        except (nbformat.ValidationError, KeyError, TypeError, AttributeError) as error:
            known = isinstance(error, nbformat.ValidationError)
            reason = str(error).splitlines()[0].rstrip(".:") if known else "its cells are damaged"
            raise SubmitError(
                f"{name} is not a valid notebook ({reason}): open it in JupyterLab and save it "
                "again."
            ) from error


def _name(cell: Mapping[str, Any]) -> str:
    """The step's name: the one for nbgrader, or else the first function or class in the cell."""
    marks = cell["metadata"].get("nbgrader")
    named = marks.get("grade_id") if isinstance(marks, dict) else None
    if isinstance(named, str) and named:
        return named
    defined = re.search(r"^(?:def|class) (\w+)", cell_text(cell), re.MULTILINE)
    return defined[1] if defined else "a cell without a name"
