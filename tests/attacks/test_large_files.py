"""A notebook writes files of 10 GB, or too many files."""

from __future__ import annotations

from gradekit.untrusted.limits import GIB
from tests.helpers.attack import said


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
        "for folder in ('.', '/dev/shm'):\n"
        "    try:\n"
        "        for i in range(200):\n"
        "            with open(f'{folder}/{i}', 'wb') as file: file.write(data)\n"
        "    except OSError as error: print(i, error.strerror)\n"
    )
    answer = said(namespaces, fill)
    assert answer.count("No space left on device") == 2
    assert all(int(line.split()[0]) <= 64 for line in answer.strip().splitlines())
