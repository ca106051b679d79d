"""A limit that was met, in words: what happened, which limit, where, what to do.

Each sentence goes on from "No answer came from your code:" or from the name of a cell. Of what the
untrusted side says, only the place is repeated, and only where it stands in the notebook.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from gradekit.untrusted.limits import GIB, MIB, ExerciseLimits, LimitKind, Limits

ENDED_ITSELF = "ended its own process"
NOT_RUN = "not run, because of what came before it"
_NOTEBOOK = "the notebook "
_MOST_NAME, _MOST_LINE = 60, 100
_DEFINITION = re.compile(r"\b(?:def|class)[ \t]+(\w+)")


def reached(
    met: LimitKind, limits: Limits, own: ExerciseLimits | None = None, place: str = ""
) -> str:
    """What happened at a limit.

    Args:
        met: the limit.
        limits: the submission's.
        own: the exercise's, where it was a question about one.
        place: where, as :func:`place_of` says it.
    """
    mine = own or limits.of_an_exercise
    match met:
        case LimitKind.TIME:
            seconds = own.seconds if own else limits.cell_seconds
            return f"stopped after {seconds:g} s{place}: is there a loop without an end?"
        case LimitKind.CPU:
            return (
                f"used more than {mine.cpu_seconds} s of processor time{place}: "
                "can it do with fewer steps, or smaller ones?"
            )
        case LimitKind.MEMORY:
            return (
                f"went past {size(mine.memory_bytes)} of memory{place}: "
                "which tensor or list is larger than it has to be?"
            )
        case LimitKind.FILE:
            return (
                f"wrote a file of more than {size(limits.file_bytes)}{place}: "
                "what in it has to be kept?"
            )
        case LimitKind.FOLDER:
            return (
                f"wrote more than {size(limits.scratch_bytes)} of files, or too many{place}: "
                "which of them are needed? Remove the others, or do not write them"
            )
        case LimitKind.FILES:
            return (
                f"wrote too large a file{place}: one may have {size(limits.file_bytes)}, "
                f"all together {size(limits.scratch_bytes)}. What in them has to be kept?"
            )
        case LimitKind.PROCESSES:
            return (
                f"went past {limits.processes} processes and threads at a time{place}: "
                "start fewer, or wait for some to end (`num_workers=0` needs none)"
            )
        case LimitKind.OPEN_FILES:
            return (
                f"went past {limits.open_files} open files{place}: "
                "open each in a `with` block, which closes it again"
            )
        case LimitKind.OUTPUT:
            return (
                "printed and drew more than may be shown, so that its output was cut: "
                f"{size(limits.cell_output_bytes)} for a cell, {size(limits.output_bytes)} for "
                "all. Print less often, or parts of a tensor"
            )
        case LimitKind.ANSWER:
            return (
                f"what it returned{place} is too large to be looked at: the answers of a step may "
                f"have {size(mine.answer_bytes)}, those of all steps {size(limits.answer_bytes)}, "
                "and one of them 20,000 values in lists. Does it return more than was asked for?"
            )


def whole_time(limits: Limits) -> str:
    """What happened when a submission's whole time was over."""
    seconds = f"{limits.submission_seconds:g} s"
    return f"{_NOTEBOOK}takes longer than {seconds} in all: which of its cells could do less?"


def too_large_to_send(why: object) -> str:
    """What happened to a notebook that is beyond what can be sent."""
    return f"{_NOTEBOOK}with its files is too large: {why}"


class CodeLocations:
    """The functions and lines of a notebook, in which a limit can be met."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources

    def of(self, where: object) -> str:
        """Where a limit was met: a function, or a line, that stands in the notebook; or nothing.

        Args:
            where: what the untrusted side says: ``name``, ``Class.name``, or a line of code.
        """
        if not isinstance(where, str) or "`" in where:
            return ""
        parts = where.split(".")
        if len(where) <= _MOST_NAME and len(parts) <= 2 and all(map(str.isidentifier, parts)):
            return f" in `{where}`" if self._defined.issuperset(parts) else ""
        return f" in the line `{where}`" if where in self._lines else ""

    # Each is made once, and only where a limit was met: a hostile notebook may have millions.

    @cached_property
    def _defined(self) -> frozenset[str]:
        return frozenset(name for text in self._sources for name in _DEFINITION.findall(text))

    @cached_property
    def _lines(self) -> frozenset[str]:
        lines = (line.strip() for text in self._sources for line in text.splitlines())
        return frozenset(line for line in lines if 0 < len(line) <= _MOST_LINE)


def about_cell(source: str, reason: str) -> str:
    """A sentence for the student about one cell that met a limit."""
    if reason.startswith(_NOTEBOOK):
        return _ended(reason[0].upper() + reason[1:])
    verb = "was " if reason.startswith("stopped") else ""
    return _ended(f"The cell that begins `{first_line(source, _MOST_NAME)}` {verb}{reason}")


def first_line(text: str, most: int) -> str:
    """The first line that says anything, cut to `most` characters, fit to stand in backticks."""
    lines = (line.strip() for line in text.splitlines())
    first = "".join(filter(str.isprintable, next(filter(None, lines), ""))).replace("`", "'")
    return first if len(first) <= most else f"{first[: most - 1]}…"


def size(amount: int) -> str:
    """A number of bytes for people."""
    if amount >= GIB // 2 and amount % (GIB // 4) == 0:
        return f"{amount / GIB:g} GiB"
    return f"{amount / MIB:g} MiB" if amount >= MIB else f"{amount / 1024:g} KiB"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
