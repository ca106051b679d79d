"""Puts a handed-in notebook back on the released notebook's cells.

nbgrader finds cells by the ids in their metadata, and editors lose those: Colab and VS Code drop
them, a copied or split cell has them twice, a deleted test cell leaves none. Here each released
cell (its *seat*) is found again, by id where that is right, else by what the cell holds, so that
nbgrader, formgrader and the gradebook see every cell that they ask for, once.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable

from nbformat.notebooknode import NotebookNode

from gradekit.python_names import names_bound_in
from gradekit.results.records import digest_of
from gradekit.submissions.notebook import checked_exercise
from gradekit.submissions.released import Released, TargetCell, grade_id_of

_MOST_PROSE = 20_000


def align(notebook: NotebookNode, released: Released) -> NotebookNode:
    """A copy of `notebook` on the released cells; the student's other cells stay where they are.

    A cell that is no seat loses its metadata, which makes second copies and changed test cells
    plain cells. Missing tests and answers are put in again, behind the seat they used to follow.
    """
    cells = [_stripped(cell) for cell in notebook.cells]
    ids = [grade_id_of(cell) for cell in notebook.cells]
    search = _Search(cells, ids, released)
    places = {target.grade_id: search.find(target) for target in released.targets}
    found = [place for place in places.values() if place is not None]
    anchor = min(found) - 1 if found else len(cells) - 1
    behind: dict[int, list[NotebookNode]] = {}
    for target in released.targets:
        place = places[target.grade_id]
        if place is not None:
            cells[place] = _aligned(cells[place], target)
            anchor = place
        elif target.kind != "locked":
            behind.setdefault(anchor, []).append(_fresh(target))
    ordered = list(behind.get(-1, []))
    for place, cell in enumerate(cells):
        if place not in search.merged:
            ordered.append(cell)
        ordered.extend(behind.get(place, []))
    return _assembled(ordered, released)


def answer_digests(notebook: NotebookNode, released: Released) -> dict[str, str]:
    """For each free-text seat of a re-seated notebook, a digest of its text; empty if unwritten."""
    texts = {grade_id_of(cell): cell.source for cell in notebook.cells}
    return {
        target.grade_id: digest_of(texts[target.grade_id].encode())
        if target.is_new(texts.get(target.grade_id, ""))
        else ""
        for target in released.answers
    }


def written_exercises(notebook: NotebookNode, released: Released) -> tuple[int, int]:
    """How many solution seats a notebook fills with something new, and how many it has at all."""
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
    """Finds the seats of one notebook; a cell is taken once.

    Attributes:
        merged: places of text cells that became part of an answer.
    """

    def __init__(
        self, cells: list[NotebookNode], ids: list[str | None], released: Released
    ) -> None:
        self.cells, self.ids, self.released = cells, ids, released
        self.merged: set[int] = set()
        self._taken: set[int] = set()
        self._checks = [checked_exercise(cell.source) for cell in cells]
        self._bound = [names_bound_in(cell.source) for cell in cells]

    def find(self, target: TargetCell) -> int | None:
        """The place of `seat`, or None."""
        place = {
            "test": self._test,
            "solution": self._solution,
            "answer": self._answer,
            "locked": self._locked,
        }[target.kind](target)
        if place is not None:
            self._taken.add(place)
        return place

    def _places(self, target: TargetCell | None = None) -> list[int]:
        gone = self._taken | self.merged
        return [
            place
            for place in range(len(self.cells))
            if place not in gone and (target is None or self.ids[place] == target.grade_id)
        ]

    def _first(self, target: TargetCell, fits: list[int]) -> int | None:
        named = [place for place in fits if self.ids[place] == target.grade_id]
        return next(iter(named or fits), None)

    def _test(self, target: TargetCell) -> int | None:
        text = target.cell.source.strip()
        return self._first(
            target,
            [
                place
                for place in self._places()
                if self.cells[place].source.strip() == text
                or (target.exercise and self._checks[place] == target.exercise)
            ],
        )

    def _locked(self, target: TargetCell) -> int | None:
        text = target.cell.source.strip()
        return self._first(
            target,
            [
                place
                for place in self._places()
                if self.cells[place].source.strip() == text
                and self.cells[place].cell_type == target.cell.cell_type
            ],
        )

    def _solution(self, target: TargetCell) -> int | None:
        code = [place for place in self._places() if self.cells[place].cell_type == "code"]
        fits = [place for place in code if not self._bound[place].isdisjoint(target.names)]
        fresh = [p for p in fits if self.cells[p].source.strip() not in self.released.sources]
        if fits:
            # The last definition is the one that counts when the notebook has run.
            chosen = fresh or fits
            named = [place for place in chosen if self.ids[place] == target.grade_id]
            return (named or chosen)[-1]
        return next((p for p in code if self.ids[p] == target.grade_id), None)

    def _answer(self, target: TargetCell) -> int | None:
        named = [p for p in self._places(target) if self._checks[p] is None]
        texts = [p for p in named if target.is_new(self.cells[p].source)]
        if not texts:
            texts = self._below(target, named)
        if not texts:
            return named[0] if named else None
        first, *others = texts
        self.cells[first].source = "\n\n".join(self.cells[place].source for place in texts)
        self.merged.update(others)
        return first

    def _below(self, target: TargetCell, named: list[int]) -> list[int]:
        """Texts that stand where the answer should: under its seat, or under its prompt."""
        start = named[0] if named else self._prompt(target)
        if start is None:
            return []
        opening = _first_line(target.cell.source)
        if opening and _first_line(self.cells[start].source) == opening and not named:
            return [start] if target.is_new(self.cells[start].source) else []
        texts = []
        for place in range(start + 1, len(self.cells)):
            cell = self.cells[place]
            known = cell.source.strip() in self.released.sources and cell.source.strip()
            if known or self.ids[place] or place in self._taken:
                break
            if not _is_prose(cell):
                break
            if target.is_new(cell.source):
                texts.append(place)
        return texts

    def _prompt(self, target: TargetCell) -> int | None:
        opening, prompt = _first_line(target.cell.source), target.prompt.strip()
        markdown = [p for p in self._places() if self.cells[p].cell_type == "markdown"]
        for place in markdown:
            if opening and _first_line(self.cells[place].source) == opening:
                return place
        for place in range(len(self.cells)):
            if prompt and self.cells[place].source.strip() == prompt:
                return place
        return None


def _stripped(cell: NotebookNode) -> NotebookNode:
    bare = copy.deepcopy(cell)
    bare.metadata = NotebookNode()
    return bare


def _aligned(cell: NotebookNode, target: TargetCell) -> NotebookNode:
    """The student's cell with the released cell's identity; tests and locked cells whole."""
    if target.kind in ("test", "locked"):
        return _fresh(target)
    aligned = copy.deepcopy(target.cell)
    aligned.source = cell.source
    if target.cell.cell_type == "code":
        aligned.outputs = cell.get("outputs", [])
        aligned.execution_count = cell.get("execution_count")
    elif "attachments" in cell:
        aligned.attachments = cell.attachments
    return aligned


def _fresh(target: TargetCell) -> NotebookNode:
    cell = copy.deepcopy(target.cell)
    if target.kind == "solution":
        # The released stub would replace a definition that stands in a place nobody thought of.
        names = " or ".join(target.names) or f"the exercise {target.grade_id}"
        cell.source = f"# No cell of the handed-in notebook holds {names}."
    return cell


def _assembled(cells: list[NotebookNode], released: Released) -> NotebookNode:
    """A notebook with the released metadata, and ids that nothing shares."""
    frame = {key: value for key, value in released.notebook.items() if key != "cells"}
    whole = NotebookNode(copy.deepcopy(frame))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    whole.cells = cells
    return whole


def _first_line(text: str) -> str:
    """The first line that holds words, if it is long enough to be told from others."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) >= 12 else ""


def _is_prose(cell: NotebookNode) -> bool:
    if cell.cell_type != "code":
        return True
    if len(cell.source) > _MOST_PROSE:
        return False
    try:
        ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = r"^[ \t]*(?:def|class|import|from|for|if|@|%|!)"
        return not re.search(words, cell.source, re.MULTILINE)
    return False
