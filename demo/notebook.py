"""A notebook as editors write it: plain JSON, changed one cell at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

Cell = Mapping[str, Any]


class MissingCellError(LookupError):
    """The notebook has no such cell. The message says which."""


@dataclass(frozen=True)
class Notebook:
    """A notebook's cells and its metadata; every change makes a new one."""

    cells: tuple[Cell, ...]
    metadata: Mapping[str, Any]

    @classmethod
    def parse(cls, data: bytes) -> Notebook:
        """Read a notebook of format 4; a source in lines becomes one text."""
        tree = json.loads(data)
        cells = tuple({**cell, "source": "".join(cell["source"])} for cell in tree["cells"])
        return cls(cells, tree["metadata"])

    def bytes(self) -> bytes:
        """The notebook as a file."""
        tree = {
            "cells": list(self.cells),
            "metadata": self.metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()

    def check_at(self, exercise: str) -> int:
        """The index of the test cell of `exercise`."""
        return self._find(f"check_{exercise}")

    def answer_at(self, exercise: str) -> int:
        """The index of the cell for the answer to `exercise`."""
        return self._find(exercise)

    def source(self, at: int) -> str:
        """The text of one cell."""
        return str(self.cells[at]["source"])

    def with_source(self, at: int, text: str) -> Notebook:
        """The notebook with another text in one cell."""
        return self.with_cells(at, {**self.cells[at], "source": text})

    def with_cells(self, at: int, *cells: Cell) -> Notebook:
        """The notebook with the cell at `at` replaced by any number of cells."""
        return replace(self, cells=(*self.cells[:at], *cells, *self.cells[at + 1 :]))

    def inserted(self, at: int, *cells: Cell) -> Notebook:
        """The notebook with cells inserted before the one at `at`."""
        return replace(self, cells=(*self.cells[:at], *cells, *self.cells[at:]))

    def appended(self, *cells: Cell) -> Notebook:
        """The notebook with cells added at its end."""
        return self.inserted(len(self.cells), *cells)

    def changed(self, change: Callable[[Cell], Cell]) -> Notebook:
        """The notebook with `change` applied to every cell."""
        return replace(self, cells=tuple(map(change, self.cells)))

    def free_text(self) -> Iterator[int]:
        """The indices of the cells that a TA marks."""
        for at, cell in enumerate(self.cells):
            if cell["cell_type"] == "markdown" and cell["metadata"].get("nbgrader"):
                yield at

    def _find(self, grade_id: str) -> int:
        for at, cell in enumerate(self.cells):
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
                return at
        raise MissingCellError(f"no cell of the notebook has the id {grade_id!r}")


def code(text: str, cell_id: str = "mine") -> Cell:
    """A code cell that a student added."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {},
        "outputs": [],
        "source": text,
    }


def prose(text: str, cell_id: str = "my-words") -> Cell:
    """A Markdown cell that a student added."""
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": text}
