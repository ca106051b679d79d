"""A pool of worker processes: all tasks come back, in a worker or as the reason why not."""

import os
import sys
from pathlib import Path

import pytest

from gradekit.grading import pool


def double(n):
    return 2 * n


def fragile(n):
    if n == 3:
        os._exit(1)
    if n == 4:
        raise ValueError("four")
    return n


def surroundings(_):
    """In a worker: its parent's number of threads, and whether torch is imported."""
    return len(os.listdir(Path("/proc", str(os.getppid()), "task"))), "torch" in sys.modules


def test_workers_are_forked_from_a_process_without_threads_that_has_imported_all():
    assert dict(pool.run(surroundings, [0], jobs=1)) == {0: (1, True)}


def test_every_task_comes_back_with_its_result():
    assert dict(pool.run(double, range(20), jobs=2)) == {n: 2 * n for n in range(20)}


def test_tasks_are_read_as_workers_become_free():
    read = []

    def source():
        for n in range(30):
            read.append(n)
            yield n

    results = pool.run(double, source(), jobs=1)
    next(results)
    assert len(read) < 10
    results.close()


def test_a_task_that_kills_its_worker_costs_only_itself():
    results = dict(pool.run(fragile, range(8), jobs=1))
    assert isinstance(results[3], Exception)
    with pytest.raises(ValueError, match="four"):
        raise results[4]
    assert [results[n] for n in (0, 1, 2, 5, 6, 7)] == [0, 1, 2, 5, 6, 7]
