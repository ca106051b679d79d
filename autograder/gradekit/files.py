"""Files that are written whole or not at all, and temporary folders with a lock.

A process that is killed removes nothing. But its lock disappears too, so the next run can
distinguish abandoned folders from those in use, and removes them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradekit.untrusted import scratch

PREFIX = "gradekit-temp-"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LockedTempFolder:
    """A new temporary folder that belongs to this process until it is closed.

    Attributes:
        path: the folder.
    """

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            with suppress(FileNotFoundError):
                self._handle = os.open(self.path, _OPEN)
                # Another run that cleans up may have been faster and removed it.
                fcntl.flock(self._handle, fcntl.LOCK_EX)
                if _is_at(self._handle, self.path):
                    return
                os.close(self._handle)

    def close(self) -> None:
        """Remove it with everything in it."""
        if self._handle >= 0:
            _remove(self.path)
            os.close(self._handle)
            self._handle = -1


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """In this block, other packages of this process put their temporary files into `folder`."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def remove_stale() -> tuple[Path, ...]:
    """Remove this user's folders that no running process has locked; returns the removed ones."""
    removed = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        with suppress(OSError):
            handle = os.open(folder, _OPEN)
            try:
                if os.fstat(handle).st_uid == os.geteuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(folder)
                    removed.append(folder)
            finally:
                os.close(handle)
    return tuple(removed)


def _remove(folder: Path) -> None:
    # Student code may have written folders too deep to remove at once, or as another user.
    with suppress(OSError):
        scratch.empty(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _is_at(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    return False


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that other processes see the old content or the new one, never a part.

    A text is written as UTF-8.
    """
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
