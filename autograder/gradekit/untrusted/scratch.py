"""A folder that hostile code has filled: how much there is, and how to empty it.

It may be any number of folders deep, deeper than a path can say; what follows never leaves it
through a link. Both are made for the same user as the one that filled it.
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

    Very deep folders count as more than any limit allows: nobody needs them, and looking takes
    long. A file that was removed while it is still open is not seen.
    """
    size = count = 0
    waiting = [(os.fspath(folder), 0)]
    while waiting and count <= MAX_INODES:
        path, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            return size, MAX_INODES + 1
        with suppress(OSError), os.scandir(path) as entries:  # it may have gone by now
            for entry in entries:
                count += 1
                with suppress(OSError):
                    size += max(_PAGE, entry.stat(follow_symlinks=False).st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
    return size, count


def empty(folder: Path) -> None:
    """Remove all that is in `folder`; nothing may write there any more.

    Folders within folders are moved up first, so that no path is ever long.

    Raises:
        OSError: something cannot be removed.
    """
    # A name that nobody could have taken, so that nothing is moved onto something else.
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
