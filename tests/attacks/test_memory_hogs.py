"""A notebook takes 40 GiB of memory: at once, in many processes, in page tables and sockets."""

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


def test_page_tables_are_counted_too(sandbox, unconfined):
    """A table for every 2 MiB that are read; what is read is one page of zeros, and counts not."""
    tables = (
        "import mmap, os, time\n"
        "def tables(gib):\n"
        "    space = mmap.mmap(-1, gib * 2**30, mmap.MAP_PRIVATE, mmap.PROT_READ)\n"
        "    for at in range(0, gib * 2**30, 2**21): space[at]\n"
        "    return space\n"
    )
    # Landlock hides /proc, so only the unconfined attack looks at what it took.
    status = "[line for line in open('/proc/self/status') if 'VmPTE' in line][0]"
    taken = said(unconfined, f"{tables}space = tables(40)\nprint('tables', {status})")
    assert int(taken.split()[2]) * 1024 >= 40 * 2**20 * 2 * 0.9, "the attack does not even work"
    several = (
        "for _ in range(4):\n"
        "    if os.fork() == 0: space = tables(120); time.sleep(60); os._exit(0)\n"
        "ended = 0"
    )
    look = (
        "for _ in range(24):\n    time.sleep(0.1)\n    ended = ended or os.waitpid(-1, 1)[1]\n"
        "    if ended: break\nprint('killed by', ended)"
    )
    run = run_cells(sandbox, tables + several, *[look] * 5, "print('the next cell')")
    assert "killed by 9" in text_of(run.cells[-2])
    assert "the next cell" in text_of(run.cells[-1])


def test_what_waits_in_sockets_is_counted_too(namespaces, unconfined):
    """At the level "landlock" there are no sockets."""
    fill = (
        "import os, socket, time\n"
        "def fill(processes, pairs):\n"
        "    for _ in range(processes):\n"
        "        if os.fork() == 0:\n"
        "            kept, waiting = [], 0\n"
        "            for _ in range(pairs):\n"
        "                kept += socket.socketpair()\n"
        "                for end in kept[-2:]:\n"
        "                    end.setblocking(False)\n"
        "                    try:\n"
        "                        while True: waiting += end.send(bytes(2**14))\n"
        "                    except OSError: pass\n"
        "            os.write(1, b'%d waiting\\n' % waiting)\n"
        "            time.sleep(2); os._exit(0)\n"
        "    time.sleep(1)\n"
        "    print('ended with', sorted({os.wait()[1] for _ in range(processes)})[-1])\n"
    )
    (cell,) = run_cells(unconfined, f"{fill}fill(1, 50)").cells
    words = text_of(cell).split()
    assert int(words[words.index("waiting") - 1]) > 10 * 2**20, "the attack does not even work"
    run = run_cells(namespaces, f"{fill}fill(9, 110)", "print('the next cell')")
    assert "ended with 9" in text_of(run.cells[0]) or run.cells[0].state == "stopped"
    assert "the next cell" in text_of(run.cells[1])
