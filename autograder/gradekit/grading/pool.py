"""Many tasks over a pool of worker processes: bounded, in any order, and none lost.

A task that kills its worker (a bug in the grader, or a failure of the machine) is returned with an
exception, and the others continue in a new pool.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import islice
from multiprocessing import forkserver
from multiprocessing.connection import wait as wait_for
from multiprocessing.util import Finalize
from typing import TypeVar

from gradekit.files import LockedTempFolder, temporary_files_in

Task = TypeVar("Task")
Result = TypeVar("Result")

# Imported once, by the process that workers are forked from.
_PRELOADED = ["gradekit.grading.preload"]
# A socket's path has at most 107 bytes; this is what is left for the folder of temporary files.
_LONGEST = 107 - len("/gradekit-temp-12345678/pymp-12345678/listener-12345678")
# Enough that no worker waits for its next task, and few enough that memory use stays constant.
WAITING_PER_WORKER = 2


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(jobs: int) -> Executor:
    """A pool of worker processes on this machine; 0 jobs means one per core."""
    # A fork of this process would copy its threads' locks. So workers are forked from a process
    # without threads, or started from nothing.
    context = multiprocessing.get_context("forkserver" if _prepare() else "spawn")
    return ProcessPoolExecutor(jobs or cores(), context, _end_with_parent)


@cache
def _prepare() -> bool:
    """Start the process that workers are forked from, without waiting for its imports.

    Returns:
        Whether there can be one: the path of its socket must not be too long.
    """
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST:
        return False
    multiprocessing.get_context("forkserver").set_forkserver_preload(_PRELOADED)
    folder = LockedTempFolder()  # for its socket: if we are killed, the next run removes it
    Finalize(None, folder.close, exitpriority=-200)  # after multiprocessing's own, at -100
    with temporary_files_in(folder.path):
        forkserver.ensure_running()
    return True


def call(function: Callable[[Task], Result], argument: Task) -> Result:
    """What `function` returns or raises in a worker process of its own."""
    with processes(1) as pool:
        return pool.submit(function, argument).result()


def _end_with_parent() -> None:
    """In a worker: make it end when the process that started it ends, even if that was killed.

    By itself it would wait for tasks for ever, and keep its sandbox.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_and_end() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait_and_end, name="parent", daemon=True).start()


def run(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int = 0,
    pool: Callable[[int], Executor] = processes,
) -> Iterator[tuple[Task, Result | Exception]]:
    """Yield each task with its result, or with the exception that ended it, as they finish.

    Args:
        function: importable by the workers.
        tasks: read as workers become free, never all at once.
        jobs: worker processes; 0 means one per core.
        pool: makes the executor; called again when one breaks.
    """
    source = iter(tasks)
    most = WAITING_PER_WORKER * (jobs or cores())
    executor = pool(jobs)
    running: dict[Future[Result], Task] = {}
    # Tasks that were running when a worker ended: one of them ended it. Each is tried again alone,
    # so that only the one at fault is blamed.
    suspects: deque[Task] = deque()
    try:
        while True:
            if suspects:
                alone = suspects.popleft()
                try:
                    yield alone, executor.submit(function, alone).result()
                except BrokenProcessPool as error:
                    executor = _replace(executor, pool, jobs)
                    yield alone, error
                except Exception as error:  # the task's own, for the caller to handle
                    yield alone, error
                continue
            for task in islice(source, most - len(running)):
                running[executor.submit(function, task)] = task
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                wait(running)
                suspects.extend(task for future, task in running.items() if _broke(future))
                executor = _replace(executor, pool, jobs)
                done = {future for future in running if not _broke(future)}
                running = {future: running[future] for future in done}
            for future in done:
                task, failure = running.pop(future), future.exception()
                yield task, failure if isinstance(failure, Exception) else future.result()
    finally:
        for future in running:
            future.cancel()
        executor.shutdown(wait=True)


def _broke(future: Future[Result]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _replace(executor: Executor, pool: Callable[[int], Executor], jobs: int) -> Executor:
    executor.shutdown(wait=False)
    return pool(jobs)
