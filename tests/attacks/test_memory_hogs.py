"""A notebook takes more memory, disk or output than the machine has."""

from __future__ import annotations

import contextlib
import io

from attack import run_cells, said, text_of

from gradekit.limits import GIB, MIB


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
    assert (first.state, first.reason) == ("stopped", "went past 0.75 GiB of memory")
    assert "the next cell" in text_of(second)


def test_a_file_of_ten_gigabytes_is_refused(sandbox, unconfined):
    write = (
        "import os, tempfile\n"
        "with tempfile.TemporaryFile() as file:\n"
        "    file.truncate(10 * 2**30)\n"
        "    print('size', os.fstat(file.fileno()).st_size)\n"
    )
    assert f"size {10 * GIB}" in said(unconfined, write)
    assert "File too large" in said(sandbox, write)


def test_many_files_fill_the_scratch_folder_and_no_more(namespaces):
    fill = (
        "import os\n"
        "data = bytes(2**20)\n"
        "for place in ('.', '/dev/shm'):\n"
        "    try:\n"
        "        for i in range(200):\n"
        "            with open(f'{place}/{i}', 'wb') as file: file.write(data)\n"
        "    except OSError as error: print(i, error.strerror)\n"
    )
    answer = said(namespaces, fill)
    assert answer.count("No space left on device") == 2
    assert all(int(line.split()[0]) <= 64 for line in answer.strip().splitlines())


def test_output_without_an_end_is_cut(sandbox):
    loud = "print('x' * {})"
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        exec(loud.format(20 * MIB))
    assert len(heard.getvalue()) > 20 * MIB

    raw = "import os\nblock = b'y' * 2**20\nfor _ in range(200): os.write(1, block)"
    shell = "!yes | head -c 20000000"
    error = "raise ValueError('z' * 200_000_000)"
    picture = (
        "from IPython.display import display\n"
        "for _ in range(50): display({'text/plain': 'w' * 10**5}, raw=True)"
    )
    cells = run_cells(sandbox, loud.format(200_000_000), raw, shell, error, picture, "1").cells
    sizes = [len(text_of(cell)) for cell in cells]
    assert max(sizes) <= sandbox.limits.cell_output_bytes + 200
    assert sum(sizes) <= sandbox.limits.output_bytes + 1000
    assert "more bytes of output were cut" in text_of(cells[0])
    assert [cell.state for cell in cells][4:] == ["ok", "ok"]
