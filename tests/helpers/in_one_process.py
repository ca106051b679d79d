"""`lab grade` without worker processes: its runs share one grader and one sandbox.

A worker makes a grader and starts its sandbox, which is most of what a few hand-ins cost. In this
process the next run on the same course finds both. (Another folder is another course.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from gradekit.grading import pool
from gradekit.grading.grader_cache import process_cache

Task = TypeVar("Task")
Result = TypeVar("Result")


@contextmanager
def without_workers() -> Iterator[None]:
    """In this block, this process does what workers would do."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "call", lambda function, argument: function(argument))
        patched.setattr(pool, "run", _run)
        yield


def _run(
    function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int = 0
) -> Iterator[tuple[Task, Result | Exception]]:
    for task in tasks:
        try:
            result: Result | Exception = function(task)
        except Exception as error:  # as from a worker
            result = error
        yield task, result


@contextmanager
def one_sandbox() -> Iterator[None]:
    """After this block, no sandbox of :func:`without_workers` is running."""
    try:
        yield
    finally:
        process_cache().close()
