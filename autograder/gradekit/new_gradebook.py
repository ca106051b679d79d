"""A new SQLite gradebook: there as a whole, or not at all.

nbgrader makes its tables one after the other, and says which version they are in the end. Killed in
between, it would leave a file that looks like a gradebook and is none.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nbgrader import api

from gradekit.entries import Address
from gradekit.held import temporary_files_in

_MAKING = ".making-gradebook"


def make_where_missing(address: Address) -> None:
    """Make the SQLite file of `address`, unless it is there, or belongs to another database."""
    path = address.file
    if path is None or path.exists() or not path.parent.is_dir():
        return
    with _alone(path.parent):
        work = path.parent / _MAKING
        shutil.rmtree(work, ignore_errors=True)  # of somebody who was killed
        work.mkdir()
        try:
            fresh = work / path.name
            with temporary_files_in(work):  # alembic's settings: killed, they go with the rest
                api.Gradebook(f"sqlite:///{fresh.resolve()}", address.course_id).close()
            with suppress(FileExistsError):  # formgrader was quicker, and that one is as good
                os.link(fresh, path)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def alembic_on_path() -> Iterator[None]:
    """nbgrader asks the program `alembic` for a version; it lies beside this Python."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else makes a gradebook in `folder` meanwhile."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
