"""A folder that hostile code has filled: its size, and how to empty it.

It may be any number of folders deep, deeper than a path can be long. Both functions never leave it
through a link, and run as the same user as the code that filled it.

Tested in tests/gradekit/untrusted/test_scratch.py.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

MAX_INODES = 20_000
_MAX_DEPTH = 40
_PAGE = 4096


def used(folder: Path) -> tuple[int, int]:
    """Bytes on disk and the number of files and folders.

    Very deep folders count as more than any limit allows: no lab needs them, and reading them takes
    long. A file that was removed but is still open is not counted.
    """
    size = count = 0
    waiting = [(os.fspath(folder), 0)]
    while waiting and count <= MAX_INODES:
        path, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            return size, MAX_INODES + 1
        with suppress(OSError), os.scandir(path) as entries:  # it may be removed by now
            for entry in entries:
                count += 1
                with suppress(OSError):
                    size += max(_PAGE, entry.stat(follow_symlinks=False).st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
    return size, count


def empty(folder: Path) -> None:
    """Remove everything in `folder`; no process may write there any more.

    Folders inside folders are moved up first, so no path becomes long.

    Raises:
        OSError: something cannot be removed.
    """
    # A name that is not taken and cannot be guessed, so nothing is moved onto something else.
    moved, prefix = 0, secrets.token_hex(8)
    while names := os.listdir(folder):
        for name in names:
            path = folder / name
            if path.is_symlink() or not path.is_dir():
                path.unlink()
                continue
            for inner in os.listdir(path):
                child = path / inner
                if child.is_symlink() or not child.is_dir():
                    child.unlink()
                else:
                    moved += 1
                    child.rename(folder / f".{prefix}-{moved}")
            path.rmdir()
