"""A notebook takes 40 GiB of memory: at once, in many processes, in shared pages."""

from __future__ import annotations

from tests.helpers.attack import run_cells, said, text_of


def test_forty_gigabytes_are_refused(sandbox, unconfined):
    take = "import mmap\nhoard = mmap.mmap(-1, {} * 2**30, mmap.MAP_PRIVATE)\nprint('got it')"
    assert "got it" in said(unconfined, take.format(5))
    assert "OSError" in said(sandbox, take.format(40))
    touched = "hoard = [bytearray(b'x') * 2**28 for _ in range(160)]"
    first, second = run_cells(sandbox, touched, "print('the next cell')").cells
    assert "MemoryError" in text_of(first)
    assert "the next cell" in text_of(second)


def test_memory_spread_over_processes_is_counted_together(sandbox):
    spread = (
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        hoard = bytearray(b'x') * (200 * 2**20)\n"
        "        time.sleep(60); os._exit(0)\n"
        "print('killed by', os.wait()[1])\n"
    )
    run = run_cells(sandbox, spread, "print('the next cell')")
    assert "killed by 9" in text_of(run.cells[0])
    assert "the next cell" in text_of(run.cells[1])
    assert run.peak_bytes < 2 * sandbox.limits.memory_bytes


def test_shared_memory_is_counted_too(sandbox):
    shared = (
        "import mmap\n"
        "hoard = mmap.mmap(-1, 2 * 2**30)\n"
        "for at in range(0, 2 * 2**30, 4096): hoard[at] = 1\n"
    )
    first, second = run_cells(sandbox, shared, "print('the next cell')").cells
    assert first.state == "stopped"
    assert first.reason.startswith("used more than 0.75 GiB of memory: ")
    assert "the next cell" in text_of(second)
