"""Bytes that should be a notebook -> a notebook in one plain form, or one sentence why not.

Editors lose metadata, old versions of Jupyter wrote other formats, git leaves conflict marks, and a
file may be hostile. The returned notebook has nbformat 4.5's form, and everything in it is checked:
cells of three types, each with text, a metadata dict and an id of its own; no outputs.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from gradekit.errors import NotebookError
from gradekit.submissions.folder import MOST_BYTES
from gradekit.untrusted.messages import Cell

MOST_CELLS = 2000
# Lists and objects: each needs twenty to a hundred times more bytes in Python than in a file.
MOST_PARTS = 500_000
MOST_METADATA = 1000
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_TEXT_CONFLICT = re.compile(r"^(?:<{7} .*|>{7} .*)$", re.MULTILINE)
# A call with only strings in it; for other texts, Python's parser may take seconds.
_CALL = re.compile(
    r"""(?:\s|\#[^\n]*+\n)*+check\s*+\((?:[\s,;)rRuU]|\#[^\n]*+|"[^"]*+"|'[^']*+')*+\Z"""
)
_UP_TO_A_PART = re.compile(r'(?:[^"\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+(?:[\[{]|\Z)', re.DOTALL)
_TYPES = {
    "code": "code",
    "markdown": "markdown",
    "raw": "raw",
    "heading": "markdown",
    "html": "raw",
}


def open_notebook(raw: bytes, name: str = "the notebook") -> tuple[NotebookNode, tuple[str, ...]]:
    """The notebook in `raw`, and notes on what was unusual in it.

    Args:
        raw: the file's bytes.
        name: the file's name in messages.

    Raises:
        NotebookError: it cannot be read as a notebook.
    """
    values = read_json(raw, name)
    cells, notes = _cells(values, name)
    if len(cells) > MOST_CELLS:
        raise NotebookError(
            f"{name} has {len(cells)} cells, more than the {MOST_CELLS} that are read; "
            "remove cells that are not part of the lab and hand in again."
        )
    plain = [_plain(cell, number) for number, cell in enumerate(cells)]
    if any(_TEXT_CONFLICT.search(cell["source"]) for cell in plain):
        notes.append(
            f"{name} has git's merge-conflict marks (<<<<<<<) in a cell; keep one version of it."
        )
    whole = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "cells": plain,
        "metadata": _shallow(values.get("metadata")),
    }
    return nbformat.from_dict(whole), tuple(notes)


def read_json(raw: bytes, name: str) -> dict[str, Any]:
    """The JSON object in `raw`, if it looks like a notebook.

    Raises:
        NotebookError: it is too large or empty, not JSON, or JSON of something else.
    """
    if len(raw) > MOST_BYTES:
        raise NotebookError(
            f"{name} is {len(raw) / 2**20:.0f} MiB, more than the {MOST_BYTES // 2**20} MiB that "
            "are read; clear its outputs (Kernel, Restart and Clear Outputs) and hand in again."
        )
    if not raw.strip(b"\0 \t\r\n"):
        raise NotebookError(
            f"{name} is empty ({len(raw)} bytes); save it in Jupyter and hand in again."
        )
    try:
        text = raw.decode(json.detect_encoding(raw), "surrogatepass")
        if _too_many_parts(text):
            raise NotebookError(
                f"{name} contains more than {MOST_PARTS:,} lists and objects, which no lab needs; "
                "clear its outputs (Kernel, Restart and Clear Outputs) and hand in again."
            )
        values = json.loads(text)
    except NotebookError:
        raise
    except (ValueError, RecursionError) as error:
        raise NotebookError(_why_not_json(raw, name, error)) from None
    if not isinstance(values, dict) or not any(
        isinstance(values.get(key), list) for key in ("cells", "worksheets")
    ):
        raise NotebookError(
            f"{name} contains data but no cells, so it is not a notebook; hand in the .ipynb file."
        )
    return values


def runnable_cells(notebook: NotebookNode) -> tuple[Cell, ...]:
    """The code cells to run, in order: all except empty ones and bare ``check("…")`` calls."""
    cells: list[Cell] = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        exercise = checked_exercise(cell.source)
        if exercise is None:
            cells.append(Cell(cell.id, cell.source))
        elif cells:
            cells[-1] = replace(cells[-1], checks=(*cells[-1].checks, exercise))
    return tuple(cells)


def checked_exercise(source: str) -> str | None:
    """The exercise that a test cell checks, if its text is exactly one call of ``check``."""
    if len(source) > 2000 or not _CALL.match(source):
        return None
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match body:
        case [ast.Expr(ast.Call(ast.Name("check"), [ast.Constant(str(name))], []))]:
            return name
    return None


def _too_many_parts(text: str) -> bool:
    """Whether JSON text has too many lists and objects, not counting brackets in strings."""
    if text.count("[") + text.count("{") <= MOST_PARTS:
        return False
    parts = _UP_TO_A_PART.finditer(text)
    return next(islice(parts, MOST_PARTS + 1, None), None) is not None


def _why_not_json(raw: bytes, name: str, error: Exception) -> str:
    start = raw.lstrip()[:64].lower()
    if len(_CONFLICT.findall(raw)) >= 2:
        return (
            f"{name} contains git's merge-conflict marks (<<<<<<<), so Jupyter cannot open it; "
            "choose one version with git and hand in again."
        )
    if start.startswith((b"<!doctype", b"<html")):
        return f"{name} is a web page, not a notebook; download the .ipynb file itself."
    if start.startswith(b"%pdf"):
        return f"{name} is a PDF, not a notebook; hand in the .ipynb file."
    if start.startswith(b"pk\x03\x04"):
        return f"{name} is a zip archive with another name; unpack it and hand in the notebook."
    if isinstance(error, UnicodeDecodeError):
        return f"{name} is not text, so it is not a notebook; save it in Jupyter and hand in again."
    where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
    return (
        f"{name} is damaged{where} and Jupyter cannot open it; "
        "open it there to check, save it, and hand in again."
    )


def _cells(values: Mapping[str, Any], name: str) -> tuple[list[Any], list[str]]:
    """The cells, upgraded from older formats."""
    number = values.get("nbformat")
    if isinstance(values.get("cells"), list):
        odd = number not in (4, 4.0) or not isinstance(values.get("nbformat_minor"), int)
        notes = [f"{name} does not name its format; it was read as nbformat 4."] if odd else []
        return list(values["cells"]), notes
    sheets = [sheet.get("cells") for sheet in values["worksheets"] if isinstance(sheet, dict)]
    cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    return cells, [f"{name} is in an old format (nbformat {number}); it was read as nbformat 4."]


def _plain(cell: Any, number: int) -> dict[str, Any]:
    """One cell in nbformat 4's form, whatever it was."""
    values = cell if isinstance(cell, dict) else {"cell_type": "raw", "source": cell}
    given = values.get("cell_type")
    kind = _TYPES.get(given, "raw") if isinstance(given, str) else "raw"
    # nbformat 2 and 3 call the text of a code cell its input.
    text = _text(values.get("source", values.get("input", "")))
    if given == "heading":
        level = values.get("level")
        text = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + text
    plain: dict[str, Any] = {
        "id": f"cell-{number}",
        "cell_type": kind,
        "source": text,
        "metadata": _shallow(values.get("metadata")),
    }
    if kind == "code":
        plain.update(outputs=[], execution_count=None)
    elif isinstance(values.get("attachments"), dict):
        plain["attachments"] = _shallow(values["attachments"])
    return plain


def _shallow(value: Any, depth: int = 8) -> dict[str, Any]:
    """A JSON object without its deepest parts, which Python cannot copy and no editor writes.

    It is copied several times later, so values beyond the first `MOST_METADATA` are left out.
    """
    values_left = MOST_METADATA

    def copied(item: Any, levels: int) -> Any:
        nonlocal values_left
        values_left -= 1
        if isinstance(item, dict):
            pairs = item.items() if levels else ()
            return {key: copied(part, levels - 1) for key, part in pairs if values_left > 0}
        if isinstance(item, list):
            parts = item if levels else ()
            return [copied(part, levels - 1) for part in parts if values_left > 0]
        return item

    return copied(value, depth) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """A string, or a list of strings joined; half characters (lone surrogates) are replaced."""
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
