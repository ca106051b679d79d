"""What ``check`` says of the cells whose names it takes: why a name is not what it seems to be.

Tested in ``tests/attnlab/notebook/test_cells.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from attnlab.checking.definitions import CLASS, FUNCTION, Definitions, rank
from attnlab.checking.progress import needed_names
from attnlab.notebook.cells import Cells


def notes(cells: Cells, definitions: Definitions, step: str) -> Iterator[str]:
    """A sentence for each name of the step that students may take for another one than it is.

    A cell changed it after its definition; two cells define it; the last run of its cell has not
    defined it, or an earlier run of another cell has left it; or Python could not read the cell
    that should define it.

    Args:
        cells: the cells that have run.
        definitions: what the names mean in grading.
        step: the step that is checked.
    """
    runs, values = list(cells.by_id.values()), definitions.of(step)
    for change in definitions.changes(step):
        # The last place is what the names are now: the cell that ran last made it so.
        later = runs[change.cell] if change.cell < len(runs) else cells.last(change.name)
        first = [run for run in runs if run.values.get(change.name) is values[change.name]]
        if later and first:
            yield (
                f"Cell In [{later.count}] changed `{change.name}`. It is checked and graded "
                f"as cell In [{first[-1].count}] left it."
            )
    yield from _not_as_in_its_cell(cells, step)


def _not_as_in_its_cell(cells: Cells, step: str) -> Iterator[str]:
    """A sentence for each graded name that the step runs on and no cell, or two, define now."""
    exercise = cells.lab.exercise(step) if cells.lab else None
    if cells.lab is None or exercise is None:
        return
    kinds = {name: kind for names in cells.lab.graded.values() for name, kind in names.items()}
    needed = sorted(needed_names(exercise, cells.names) & kinds.keys() & cells.names.keys())
    left_over = cells.left_over()
    for name in needed:
        if name in left_over:
            left, defines = left_over[name]
            yield (
                f"An earlier run of cell In [{left.count}] left another `{name}`. The one of "
                f"cell In [{defines.count}] is checked and graded; run that cell again, so "
                "that your own cells use it, too."
            )
        else:
            yield from _defined_twice(cells, name, kinds[name])
    reasons: dict[str, list[str]] = {}
    for name in needed:
        if name not in left_over and (reason := _why_older(cells, name)):
            reasons.setdefault(reason, []).append(f"`{name}`")
    for reason, names in reasons.items():
        yield (
            f"{reason}, so an older version of {' and '.join(names)} is used here. Grading "
            "runs the cell as you save it."
        )
    for name in needed:
        yield from _cut_short(cells, name, kinds[name])


def _defined_twice(cells: Cells, name: str, kind: str) -> Iterator[str]:
    """A sentence if two cells define a name, equally well."""
    ranks = {
        cell.count: rank(kind, cell.values[name])
        for cell in cells.by_id.values()
        if name in cell.values and name not in cell.missed
    }
    best = sorted(count for count in ranks if ranks[count] == max(ranks.values()) > 0)
    if len(best) > 1:
        others = ", ".join(f"In [{count}]" for count in best[:-1])
        yield (
            f"Cells {others} and In [{best[-1]}] define `{name}`. The version that ran last is "
            "used here; grading takes the one that is further down in the notebook. Where it "
            f"is not meant, use another name than `{name}`."
        )


def _why_older(cells: Cells, name: str) -> str:
    """Why the last run of its cell did not define a name; empty if it did."""
    if refused := cells.not_read.get(name):
        return f"Cell In [{refused.count}] ended in {refused.not_read}"
    cell = cells.last(name)
    if cell is None or cell.run is None or name not in cell.missed:
        return ""
    if cell.run.error and name in cell.run.sets:
        return f"Cell In [{cell.count}] ended in {cell.run.error} before it defined `{name}`"
    return f"Cell In [{cell.count}] does not define `{name}` any longer"


def _cut_short(cells: Cells, name: str, kind: str) -> Iterator[str]:
    """A sentence if an error ended the cell that fills a dictionary line by line."""
    cell = cells.last(name)
    if kind in (FUNCTION, CLASS) or cell is None or cell.run is None or name in cell.missed:
        return
    if cell.run.error:
        yield (
            f"Cell In [{cell.count}] ended in {cell.run.error}, so its lines after the one "
            f"that Python shows did not run, and `{name}` may lack what they write."
        )
