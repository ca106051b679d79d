"""Remembers what each cell of a running notebook defined, so that ``check`` agrees with grading.

Grading runs the cells from top to bottom and takes each step's last good definition (see
:mod:`attnlab.checking.definitions`). In a kernel, a cell runs many times. So the last run of a cell
replaces its earlier runs, and it keeps the place of the first one. This needs the ids of cells. If
a program does not send them, nothing is remembered, and ``check`` takes the names as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnlab.notebook.running import defined_names, kernel_shell, set_names

if TYPE_CHECKING:
    from attnlab.checking.definitions import Definitions
    from attnlab.checking.visible import VisibleLab

AsGraded = Callable[[str], AbstractContextManager[tuple[str, ...]]]

_ATTRIBUTE = "_attnlab_cells"
_GONE: Any = object()
_LARGE: Any = object()


@dataclass(frozen=True)
class Running:
    """The running cell.

    Attributes:
        cell: its id; empty if the program that shows the notebook does not send it.
        count: its number, as in ``In [12]``; 0 if it has none.
        words: the names and other words in its text.
        defines: the names that its text defines, found even if Python cannot read it.
        sets: the names that its code sets.
        not_read: the kind of SyntaxError with which Python refused it; empty if it was run.
        error: the kind of error that ended it while it ran; empty if there was none.
    """

    cell: str
    count: int
    words: frozenset[str]
    defines: frozenset[str]
    sets: frozenset[str]
    not_read: str = ""
    error: str = ""

    @staticmethod
    def of(
        info: Any,
        count: int | None,
        refused: BaseException | None = None,
        raised: BaseException | None = None,
    ) -> Running:
        """From what IPython tells at the start and at the end of a cell."""
        text = info.raw_cell or ""
        return Running(
            getattr(info, "cell_id", None) or "",
            count or 0,
            frozenset(re.findall(r"\w+", text)),
            frozenset(defined_names(text)),
            frozenset(set_names(text)),
            type(refused).__name__ if isinstance(refused, SyntaxError) else "",
            type(raised).__name__ if raised is not None else "",
        )


@dataclass(frozen=True)
class Cell:
    """The last run of a cell.

    Attributes:
        count: its number, as in ``In [12]``.
        values: by name, what it set or deleted.
        set_now: the names among them that this run, not an earlier one, has set or deleted.
        missed: the names that earlier runs of the cell have set, and this one has not.
        run: what is known of this run.
    """

    count: int
    values: Mapping[str, Any]
    set_now: frozenset[str] = frozenset()
    missed: frozenset[str] = frozenset()
    run: Running | None = None


class Cells:
    """The cells that a kernel has run, in the order of their first runs.

    Args:
        shell: IPython's shell.
        find_lab: the lab that the notebook belongs to; None if there is none.

    Attributes:
        names: the notebook's names, and what they mean now.
        lab: the lab that the notebook belongs to; None as long as it is not known.
        by_id: the last run of each cell.
        not_read: by name, the last cell that should define it and that Python could not read.
    """

    def __init__(self, shell: Any, find_lab: Callable[[], VisibleLab | None]) -> None:
        self.names: dict[str, Any] = shell.user_ns
        self._find_lab = find_lab
        self.lab: VisibleLab | None = None
        self.by_id: dict[str, Cell] = {}
        self._ids: dict[str, int] = {}
        self._changed_by: dict[str, str] = {}
        self.not_read: dict[str, Running] = {}
        self._shell = shell
        self._running: Any = None  # what IPython tells at the start of a cell
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    @contextmanager
    def as_graded(self, step: str) -> Iterator[tuple[str, ...]]:
        """In this block, the notebook's names are those that grading takes if `step` is checked.

        Yields:
            what students should know of these names (see :mod:`attnlab.notebook.cell_notes`).
        """
        from attnlab.checking.definitions import replaced
        from attnlab.notebook.cell_notes import notes

        names: dict[str, Any] = {}
        said: tuple[str, ...] = ()
        with suppress(Exception):  # no object of a student's may stop their check
            if self._running is not None:
                # IPython's own counter is already one ahead in some of its versions.
                count = len(self._shell.history_manager.input_hist_parsed) - 1
                self._note(Running.of(self._running, count))
            left = {name: where.values[name] for name, (_, where) in self.left_over().items()}
            with replaced(self.names, left):
                definitions = self._replayed(step)
                said = tuple(notes(self, definitions, step))
            names = {**left, **definitions.of(step)}
        with replaced(self.names, names):
            yield said

    def _before(self, info: Any) -> None:
        self._running = info

    def _after(self, result: Any) -> None:
        with suppress(Exception):
            errors = result.error_before_exec, result.error_in_exec
            self._note(Running.of(result.info, result.execution_count, *errors))
        self._running = None

    def _note(self, running: Running) -> None:
        """Remember what the running cell has changed so far."""
        for name, refused in list(self.not_read.items()):
            if name in running.defines or (running.cell and refused.cell == running.cell):
                del self.not_read[name]
        if running.not_read and running.count:
            self.not_read |= dict.fromkeys(running.defines, running)
        self.lab = self.lab or self._find_lab()
        if self.lab is None:
            return
        from attnlab.checking.definitions import Definitions

        keeps = Definitions(self.lab.graded).keeps
        values = {
            name: value if keeps(name, value) else _LARGE
            for name, value in list(self.names.items())
            if self._ids.get(name) != id(value)
        }
        values |= dict.fromkeys(self._ids.keys() - self.names.keys(), _GONE)
        self._ids = {name: id(value) for name, value in self.names.items()}
        self._changed_by |= dict.fromkeys(values, running.cell)
        if not running.cell or not running.count:
            return
        before = self.by_id.get(running.cell, Cell(0, {}))
        now = set(values) | (before.set_now if before.count == running.count else set())
        # `import torch` in a cell that runs again changes nothing, but it is still this cell's.
        kept = {
            name: value
            for name, value in before.values.items()
            if self._changed_by[name] == running.cell and name in running.words
        }
        missed = (before.values.keys() | before.missed) - now
        if not running.error:  # it may have set a name to the same value again
            missed -= running.sets
        self.by_id[running.cell] = Cell(
            running.count, kept | values, frozenset(now), frozenset(missed), running
        )

    def _replayed(self, step: str) -> Definitions:
        """What the names meant if each cell had run once; `step` is checked now.

        So other names that the step uses mean what they mean now, as after any check: a helper
        may just have been corrected in a cell further up. Only deleted ones are given back.
        """
        from attnlab.checking.definitions import Definitions

        definitions = Definitions(self.lab.graded if self.lab else {})
        names: dict[str, Any] = {}
        for place, cell in enumerate(self.by_id.values()):
            for name, value in cell.values.items():
                names[name] = value
                if value is _GONE:
                    del names[name]
            definitions.after_cell(place, names)
        definitions.after_cell(len(self.by_id), self.names, [step])
        return definitions

    def left_over(self) -> dict[str, tuple[Cell, Cell]]:
        """By name, the cell whose earlier run has set it last, and the last one that defines it.

        These are names that a cell has used for something else, until it was edited.
        """
        found: dict[str, tuple[Cell, Cell]] = {}
        for name in self.names:
            cell = self.last(name)
            if cell is None or name not in cell.missed:
                continue
            others = [other for other in self.by_id.values() if name in other.values]
            defines = [
                other
                for other in others
                if other is not cell
                and name not in other.missed
                and other.values[name] is not _GONE
                and other.values[name] is not _LARGE
            ]
            if defines:
                found[name] = cell, defines[-1]
        return found

    def last(self, name: str) -> Cell | None:
        """The cell that set a name last; None if no cell did."""
        return self.by_id.get(self._changed_by.get(name, ""))


def watch(find_lab: Callable[[], VisibleLab | None]) -> None:
    """Remember, from now on, what the cells of this kernel define; once per kernel.

    Does nothing outside a kernel.
    """
    shell = kernel_shell()
    if shell is not None and not hasattr(shell, _ATTRIBUTE):
        setattr(shell, _ATTRIBUTE, Cells(shell, find_lab))


def as_graded_in(shell: Any, names: Mapping[str, Any]) -> AsGraded:
    """:meth:`Cells.as_graded` of this shell; if nothing is remembered, `names` stay as they are."""
    cells: Cells | None = getattr(shell, _ATTRIBUTE, None)
    if cells is None or names is not shell.user_ns:
        return lambda step: nullcontext(())
    return cells.as_graded
