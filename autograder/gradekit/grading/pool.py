"""Many tasks over a pool of worker processes: bounded, in any order, and none lost.

A task that kills its worker (a bug of ours, or the machine's) comes back as an exception, and the
others go on in a new pool.
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
# A socket's path has at most 107 bytes; so many are left for where temporary files go.
_LONGEST = 107 - len("/gradekit-held-12345678/pymp-12345678/listener-12345678")
# Enough that no worker waits for the next task, few enough that memory stays flat.
WAITING_PER_WORKER = 2


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(jobs: int) -> Executor:
    """A pool of worker processes on this machine; 0 jobs means one a core."""
    # A fork of this process would copy its threads' locks. Workers are forked from one that has
    # no threads, or start from nothing.
    context = multiprocessing.get_context("forkserver" if _prepare() else "spawn")
    return ProcessPoolExecutor(jobs or cores(), context, _end_with_parent)


@cache
def _prepare() -> bool:
    """Start the process that workers are forked from; its imports take seconds, unwaited for.

    Returns:
        Whether there can be one: the path of its socket must not be too long.
    """
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST:
        return False
    multiprocessing.get_context("forkserver").set_forkserver_preload(_PRELOADED)
    folder = LockedTempFolder()  # for its socket: killed, we leave nothing that stays
    Finalize(None, folder.close, exitpriority=-200)  # after multiprocessing's own, at -100
    with temporary_files_in(folder.path):
        forkserver.ensure_running()
    return True


def call(function: Callable[[Task], Result], argument: Task) -> Result:
    """What `function` returns or raises in a worker process of its own."""
    with processes(1) as pool:
        return pool.submit(function, argument).result()


def _end_with_parent() -> None:
    """In a worker: see to it that it ends when the process that started it does, even killed.

    By itself it would wait for tasks for ever, and keep its sandbox.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def run(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int = 0,
    pool: Callable[[int], Executor] = processes,
) -> Iterator[tuple[Task, Result | Exception]]:
    """Yield each task with its result, or with the exception that it ended in, as they finish.

    Args:
        function: importable by the workers.
        tasks: read as workers become free, never all at once.
        jobs: worker processes; 0 means one a core.
        pool: makes the executor; called again when one breaks.
    """
    source = iter(tasks)
    room = WAITING_PER_WORKER * (jobs or cores())
    executor = pool(jobs)
    running: dict[Future[Result], Task] = {}
    # Under way when a worker ended: one of them did it. Each is tried again with no other beside
    # it, so that only the culprit is blamed.
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
                except Exception as error:  # the task's own, to be told apart by the caller
                    yield alone, error
                continue
            for task in islice(source, room - len(running)):
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
