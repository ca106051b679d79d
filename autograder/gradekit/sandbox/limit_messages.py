"""An exceeded limit in words: what happened, which limit, where, what to do.

Each message continues "No answer came from your code:" or the name of a cell. It repeats only one
thing from the untrusted side, the location, and only if the notebook contains it.

Tested in tests/gradekit/sandbox/test_limit_messages.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import assert_never

from gradekit.untrusted.limits import GIB, MIB, ExerciseLimits, LimitKind, Limits

ENDED_ITSELF = "ended its own process"
NOT_RUN = "not run, because the notebook was stopped before it"
_NOTEBOOK = "the notebook "
_MOST_NAME, _MOST_LINE = 60, 100
_DEFINITION = re.compile(r"\b(?:def|class)[ \t]+(\w+)")


def message_for(
    limit: LimitKind, limits: Limits, own: ExerciseLimits | None = None, location: str = ""
) -> str:
    """The message for an exceeded limit.

    Args:
        limit: the limit.
        limits: the submission's.
        own: the exercise's, for a probe of one.
        location: where it was exceeded, from :meth:`CodeLocations.of`.
    """
    mine = own or limits.of_an_exercise
    match limit:
        case LimitKind.TIME:
            seconds = own.seconds if own else limits.cell_seconds
            return f"stopped after {seconds:g} s{location}: is there an infinite loop?"
        case LimitKind.CPU:
            return (
                f"used more than {mine.cpu_seconds} s of CPU time{location}: "
                "can it use fewer steps, or smaller ones?"
            )
        case LimitKind.MEMORY:
            return (
                f"used more than {size(mine.memory_bytes)} of memory{location}: "
                "which tensor or list is larger than necessary?"
            )
        case LimitKind.FILE_SIZE:
            return (
                f"wrote a file of more than {size(limits.file_bytes)}{location}: "
                "which of its contents are needed?"
            )
        case LimitKind.TOTAL_FILE_SIZE:
            return (
                f"wrote more than {size(limits.scratch_bytes)} of files, or too many{location}: "
                "which of them are needed? Remove the others, or do not write them"
            )
        case LimitKind.FILE_OR_TOTAL_SIZE:
            return (
                f"wrote too large a file{location}: one may have {size(limits.file_bytes)}, "
                f"all together {size(limits.scratch_bytes)}. Which of their contents are needed?"
            )
        case LimitKind.PROCESSES:
            return (
                f"started more than {limits.processes} processes and threads at a time{location}: "
                "start fewer, or wait for some to end (`num_workers=0` needs none)"
            )
        case LimitKind.OPEN_FILES:
            return (
                f"had more than {limits.open_files} open files{location}: "
                "open each in a `with` block, which closes it again"
            )
        case LimitKind.OUTPUT:
            return (
                "printed and drew more than can be shown, so its output was cut: "
                f"{size(limits.cell_output_bytes)} for a cell, {size(limits.output_bytes)} for "
                "all. Print less often, or parts of a tensor"
            )
        case LimitKind.ANSWER:
            return (
                f"its return value{location} is too large to check: the answers of a step may "
                f"have {size(mine.answer_bytes)}, those of all steps {size(limits.answer_bytes)}, "
                "and one of them 20,000 values in lists. Does it return more than the task says?"
            )
        case unknown:
            assert_never(unknown)


def whole_time(limits: Limits) -> str:
    """The message for a submission that has used all its time."""
    seconds = f"{limits.submission_seconds:g} s"
    return f"{_NOTEBOOK}takes longer than {seconds} in all: which of its cells could do less?"


def too_large_to_send(why: object) -> str:
    """The message for a notebook that is too large to be sent."""
    return f"{_NOTEBOOK}with its files is too large: {why}"


class CodeLocations:
    """The functions and lines of a notebook, where a limit can be exceeded."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources

    def of(self, where: object) -> str:
        """Words for a function or a line, if the notebook contains it; else nothing.

        Args:
            where: from the untrusted side: ``name``, ``Class.name``, or a line of code.
        """
        if not isinstance(where, str) or "`" in where:
            return ""
        parts = where.split(".")
        if len(where) <= _MOST_NAME and len(parts) <= 2 and all(map(str.isidentifier, parts)):
            return f" in `{where}`" if self._defined.issuperset(parts) else ""
        return f" in the line `{where}`" if where in self._lines else ""

    # Each is computed once, and only for an exceeded limit: a hostile notebook may have millions.

    @cached_property
    def _defined(self) -> frozenset[str]:
        return frozenset(name for text in self._sources for name in _DEFINITION.findall(text))

    @cached_property
    def _lines(self) -> frozenset[str]:
        lines = (line.strip() for text in self._sources for line in text.splitlines())
        return frozenset(line for line in lines if 0 < len(line) <= _MOST_LINE)


def about_cell(source: str, reason: str) -> str:
    """A sentence for the student about one cell that exceeded a limit."""
    if reason.startswith(_NOTEBOOK):
        return _ended(reason[0].upper() + reason[1:])
    verb = "was " if reason.startswith("stopped") else ""
    return _ended(f"The cell that begins `{first_line(source, _MOST_NAME)}` {verb}{reason}")


def first_line(text: str, most: int) -> str:
    """The first line that is not empty, cut to `most` characters, safe between backticks."""
    lines = (line.strip() for line in text.splitlines())
    first = "".join(filter(str.isprintable, next(filter(None, lines), ""))).replace("`", "'")
    return first if len(first) <= most else f"{first[: most - 1]}…"


def size(amount: int) -> str:
    """A number of bytes, easy to read."""
    if amount >= GIB // 2 and amount % (GIB // 4) == 0:
        return f"{amount / GIB:g} GiB"
    return f"{amount / MIB:g} MiB" if amount >= MIB else f"{amount / 1024:g} KiB"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
