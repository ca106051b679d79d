"""Reads a notebook's file as a student saved it: is it valid, and which steps are not written yet?

Tested in ``tests/attnlab/notebook/test_submit.py``, through ``submit()``.
"""

from __future__ import annotations

import ast
import hashlib
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
_DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
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
    def about(self) -> Mapping[str, Any]:
        """What the build wrote down about the lab; empty if nothing did."""
        about = self.metadata.get("attnlab")
        return about if isinstance(about, dict) else {}

    @property
    def unwritten_steps(self) -> tuple[str, ...]:
        """The student's cells in which nothing is written, or a placeholder is left."""
        return tuple(self._label(cell) for cell in self.content["cells"] if _is_open(cell))

    @property
    def defined_names(self) -> tuple[str, ...]:
        """The functions and classes that the student's cells define."""
        own = (cell for cell in self.content["cells"] if _name(cell) in self._steps)
        return tuple(name for cell in own for name in _DEFINED.findall(cell_text(cell)))

    @property
    def missing_steps(self) -> tuple[str, ...]:
        """The lab's cells for the student that are not in the notebook any more."""
        there = {_name(cell) for cell in self.content["cells"]}
        return tuple(
            _step_label(name, number) for name, number in self._steps.items() if name not in there
        )

    @property
    def not_python(self) -> tuple[str, ...]:
        """For each code cell that Python cannot read: which one, the line and what is wrong."""
        found = []
        for place, cell in enumerate(self.content["cells"], start=1):
            error = _syntax_error(cell_text(cell)) if cell["cell_type"] == "code" else None
            if error is not None:
                known = _name(cell) in self._steps
                where = self._label(cell) if known else f"cell {place}"
                found.append(f"{where} is not Python (line {error.lineno}: {error.msg})")
        return tuple(found)

    @property
    def _steps(self) -> Mapping[str, str]:
        """The numbers of the lab's steps, by name, in order; a question without one comes last."""
        steps = self.about.get("steps")
        if not isinstance(steps, dict):
            return {}
        numbered = {str(name): str(number) for name, number in steps.items()}
        return dict(sorted(numbered.items(), key=lambda item: _order(item[1])))

    def _label(self, cell: Mapping[str, Any]) -> str:
        name = _name(cell)
        return _step_label(name, self._steps.get(name, ""))

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
            f"{path} cannot be read ({error.strerror}): check its name and permissions."
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


def text_digest(text: str) -> str:
    """A short digest of a cell's text, to see later whether a student has written anything."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def _is_open(cell: Mapping[str, Any]) -> bool:
    marks = cell["metadata"].get("attnlab")
    blank = marks.get("blank") if isinstance(marks, dict) else None
    if blank is not None and blank == text_digest(cell_text(cell)):
        return True
    mark = PLACEHOLDERS.get(cell["cell_type"])
    return mark is not None and mark.search(cell_text(cell)) is not None


def _syntax_error(text: str) -> SyntaxError | None:
    """Why Python cannot read a cell, after IPython's own lines (%magic, !shell) are rewritten."""
    from IPython.core.inputtransformer2 import TransformerManager

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(TransformerManager().transform_cell(text))
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error) or "too deeply nested", ("", 1, 0, ""))
    return None


def _order(number: str) -> list[int]:
    parts = re.findall(r"\d{1,9}", number)
    return [int(part) for part in parts] or [10**9]


def _step_label(name: str, number: str) -> str:
    return f"{number} {name}".strip()


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
    defined = _DEFINED.search(cell_text(cell))
    return defined[1] if defined else "a cell without a name"
