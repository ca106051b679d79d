"""Aligns a submitted notebook with the released notebook's cells.

nbgrader finds cells by the ids in their metadata, and editors lose those: Colab and VS Code drop
them, a copied or split cell has them twice, a deleted test cell leaves none. Here each released
cell (a *target*) is found again, by its id if that is right, else by the cell's text. So nbgrader,
formgrader and the gradebook see every cell that they need exactly once.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable

from nbformat.notebooknode import NotebookNode

from gradekit.python_names import names_bound_in, parsed
from gradekit.results.records import digest_of
from gradekit.submissions.notebook import checked_exercise
from gradekit.submissions.released import Released, TargetCell, grade_id_of

_MOST_PROSE = 20_000


def align(notebook: NotebookNode, released: Released) -> NotebookNode:
    """A copy of `notebook` with the released cells; the student's other cells keep their positions.

    A cell that is not aligned with a target loses its metadata, so second copies and changed test
    cells become plain cells. Missing tests and answers are inserted again, after the target that
    they follow in the released notebook.

    Raises:
        ValueError: a target has a kind that targets do not have.
    """
    cells = [_stripped(cell) for cell in notebook.cells]
    ids = [_id_now(grade_id_of(cell), released) for cell in notebook.cells]
    search = _Search(cells, ids, released)
    positions = {target.grade_id: search.find(target) for target in released.targets}
    found = [position for position in positions.values() if position is not None]
    anchor = min(found) - 1 if found else len(cells) - 1
    inserted: dict[int, list[NotebookNode]] = {}  # by the position that they follow
    for target in released.targets:
        position = positions[target.grade_id]
        if position is not None:
            cells[position] = _aligned(cells[position], target)
            anchor = position
        else:
            inserted.setdefault(anchor, []).extend(_replacement(target))
    ordered = list(inserted.get(-1, []))
    for position, cell in enumerate(cells):
        if position not in search.merged:
            ordered.append(cell)
        ordered.extend(inserted.get(position, []))
    return _assembled(ordered, released)


def answer_digests(notebook: NotebookNode, released: Released) -> dict[str, str]:
    """For each free-text cell of an aligned notebook, a digest of its text; empty if unwritten."""
    texts = {grade_id_of(cell): cell.source for cell in notebook.cells}
    return {
        target.grade_id: digest_of(texts[target.grade_id].encode())
        if target.is_new(texts.get(target.grade_id, ""))
        else ""
        for target in released.answers
    }


def blank_exercises(notebook: NotebookNode, released: Released) -> tuple[str, ...]:
    """The exercises whose cell in an aligned notebook is as it was released, empty or gone."""
    texts = {grade_id_of(cell): cell.source.strip() for cell in notebook.cells}
    unwritten = {
        target.grade_id: ("", target.cell.source.strip(), _released_cell(target).source)
        for target in released.targets
        if target.kind == "solution"
    }
    return tuple(
        target.exercise
        for target in released.tests
        if texts.get(target.exercise, "") in unwritten.get(target.exercise, ())
    )


def written_exercises(notebook: NotebookNode, released: Released) -> tuple[int, int]:
    """The number of solution cells with new text in a notebook, and of released cells in it."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    fresh = [source for source in sources if source.strip() not in released.sources]
    targets = [target for target in released.targets if target.kind == "solution"]
    new, had = (
        sum(not names.isdisjoint(target.names) for target in targets)
        for names in (_bound_in(fresh), _bound_in(sources))
    )
    return new, had + sum(checked_exercise(source) is not None for source in sources)


def _bound_in(sources: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(names_bound_in, sources))


class _Search:
    """Finds the targets in one notebook; a cell is taken once.

    Attributes:
        merged: positions of text cells that became part of an answer.
    """

    def __init__(
        self, cells: list[NotebookNode], ids: list[str | None], released: Released
    ) -> None:
        self.cells, self.ids, self.released = cells, ids, released
        self.merged: set[int] = set()
        self._taken: set[int] = set()
        self._checks = [_id_now(checked_exercise(cell.source), released) for cell in cells]
        self._bound = [names_bound_in(cell.source) for cell in cells]

    def find(self, target: TargetCell) -> int | None:
        """The position of the cell that becomes `target`, or None.

        Raises:
            ValueError: a target has a kind that targets do not have.
        """
        match target.kind:
            case "test":
                position = self._test(target)
            case "solution":
                position = self._solution(target)
            case "answer":
                position = self._answer(target)
            case "locked":
                position = self._locked(target)
            case kind:
                raise ValueError(f"the cell {target.grade_id} has the kind {kind!r}")
        if position is not None:
            self._taken.add(position)
        return position

    def _free(self, target: TargetCell | None = None) -> list[int]:
        gone = self._taken | self.merged
        return [
            position
            for position in range(len(self.cells))
            if position not in gone and (target is None or self.ids[position] == target.grade_id)
        ]

    def _first(self, target: TargetCell, fits: list[int]) -> int | None:
        named = [position for position in fits if self.ids[position] == target.grade_id]
        return next(iter(named or fits), None)

    def _test(self, target: TargetCell) -> int | None:
        text = target.cell.source.strip()
        return self._first(
            target,
            [
                position
                for position in self._free()
                if self.cells[position].source.strip() == text
                or (target.exercise and self._checks[position] == target.exercise)
            ],
        )

    def _locked(self, target: TargetCell) -> int | None:
        text = target.cell.source.strip()
        return self._first(
            target,
            [
                position
                for position in self._free()
                if self.cells[position].source.strip() == text
                and self.cells[position].cell_type == target.cell.cell_type
            ],
        )

    def _solution(self, target: TargetCell) -> int | None:
        code = [position for position in self._free() if self.cells[position].cell_type == "code"]
        fits = [position for position in code if not self._bound[position].isdisjoint(target.names)]
        fresh = [p for p in fits if self.cells[p].source.strip() not in self.released.sources]
        if fits:
            # The last definition is the one that counts when the notebook has run.
            chosen = fresh or fits
            named = [position for position in chosen if self.ids[position] == target.grade_id]
            return (named or chosen)[-1]
        return next((p for p in code if self.ids[p] == target.grade_id), None)

    def _answer(self, target: TargetCell) -> int | None:
        named = [p for p in self._free(target) if self._checks[p] is None]
        texts = [p for p in named if target.is_new(self.cells[p].source)]
        if not texts:
            texts = self._below(target, named)
        if not texts:
            return named[0] if named else None
        first, *others = texts
        self.cells[first].source = "\n\n".join(self.cells[position].source for position in texts)
        self.merged.update(others)
        return first

    def _below(self, target: TargetCell, named: list[int]) -> list[int]:
        """Texts in the answer's position: below its cell, or below its prompt."""
        start = named[0] if named else self._prompt(target)
        if start is None:
            return []
        opening = _first_line(target.cell.source)
        if opening and _first_line(self.cells[start].source) == opening and not named:
            return [start] if target.is_new(self.cells[start].source) else []
        texts = []
        for position in range(start + 1, len(self.cells)):
            cell = self.cells[position]
            known = cell.source.strip() in self.released.sources and cell.source.strip()
            if known or self.ids[position] or position in self._taken:
                break
            if not _is_prose(cell):
                break
            if target.is_new(cell.source):
                texts.append(position)
        return texts

    def _prompt(self, target: TargetCell) -> int | None:
        opening, prompt = _first_line(target.cell.source), target.prompt.strip()
        markdown = [p for p in self._free() if self.cells[p].cell_type == "markdown"]
        for position in markdown:
            if opening and _first_line(self.cells[position].source) == opening:
                return position
        for position in range(len(self.cells)):
            if prompt and self.cells[position].source.strip() == prompt:
                return position
        return None


def _id_now(name: str | None, released: Released) -> str | None:
    """The id, or the exercise's name, that a cell of an earlier release has now."""
    return None if name is None else released.renamed.get(name, name)


def _stripped(cell: NotebookNode) -> NotebookNode:
    bare = copy.deepcopy(cell)
    bare.metadata = NotebookNode()
    return bare


def _aligned(cell: NotebookNode, target: TargetCell) -> NotebookNode:
    """The student's text in the released cell; tests and locked cells as they were released."""
    match target.kind:
        case "test" | "locked":
            return _released_cell(target)
        case "solution" | "answer":
            return _with_own_text(cell, target)
        case kind:
            raise ValueError(f"the cell {target.grade_id} has the kind {kind!r}")


def _replacement(target: TargetCell) -> list[NotebookNode]:
    """The cells for a target that was not found."""
    match target.kind:
        case "test" | "solution" | "answer":
            return [_released_cell(target)]
        case "locked":
            return []
        case kind:
            raise ValueError(f"the cell {target.grade_id} has the kind {kind!r}")


def _with_own_text(cell: NotebookNode, target: TargetCell) -> NotebookNode:
    aligned = copy.deepcopy(target.cell)
    aligned.source = cell.source
    if target.cell.cell_type == "code":
        aligned.outputs = cell.get("outputs", [])
        aligned.execution_count = cell.get("execution_count")
    elif "attachments" in cell:
        aligned.attachments = cell.attachments
    return aligned


def _released_cell(target: TargetCell) -> NotebookNode:
    cell = copy.deepcopy(target.cell)
    if target.kind == "solution":
        # The released stub would replace a definition in an unexpected position.
        names = " or ".join(target.names) or f"the exercise {target.grade_id}"
        cell.source = f"# No cell of the submitted notebook contains {names}."
    return cell


def _assembled(cells: list[NotebookNode], released: Released) -> NotebookNode:
    """A notebook with the released metadata and unique ids."""
    frame = {key: value for key, value in released.notebook.items() if key != "cells"}
    whole = NotebookNode(copy.deepcopy(frame))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    whole.cells = cells
    return whole


def _first_line(text: str) -> str:
    """The first line with text, if it is long enough to be distinguished from others."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) >= 12 else ""


def _is_prose(cell: NotebookNode) -> bool:
    if cell.cell_type != "code":
        return True
    if len(cell.source) > _MOST_PROSE:
        return False
    try:
        parsed(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = r"^[ \t]*(?:def|class|import|from|for|if|@|%|!)"
        return not re.search(words, cell.source, re.MULTILINE)
    return False
