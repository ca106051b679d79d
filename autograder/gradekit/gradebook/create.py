"""Makes a new SQLite gradebook: it is either complete or missing.

nbgrader makes its tables one after the other, and writes their version last. If it is killed
before that, it leaves a file that looks like a gradebook and is not one.

Tested in tests/gradekit/gradebook/test_create.py.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from nbgrader import api
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect

from gradekit.gradebook.address import Address

_MAKING = ".making-gradebook"


def make_where_missing(address: Address) -> None:
    """Make the SQLite file of `address`, unless it exists or the gradebook is another database."""
    path = address.file
    if path is None or path.exists() or not path.parent.is_dir():
        return
    with _locked(path.parent):
        work = path.parent / _MAKING
        shutil.rmtree(work, ignore_errors=True)  # of a process that was killed
        work.mkdir()
        try:
            fresh = work / path.name
            open_gradebook(f"sqlite:///{fresh.resolve()}", address.course_id).close()
            with suppress(FileExistsError):  # formgrader made it first, and that one is as good
                os.link(fresh, path)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def open_gradebook(url: str, course_id: str) -> api.Gradebook:
    """nbgrader's gradebook at `url`; an empty database gets its tables.

    Their version is written first. Otherwise nbgrader starts the program ``alembic`` to find it,
    which takes a second and may not be on the PATH.
    """
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            if not inspect(connection).get_table_names():
                newest = ScriptDirectory(ALEMBIC_DIR)
                MigrationContext.configure(connection).stamp(newest, "head")
    finally:
        engine.dispose()
    return api.Gradebook(url, course_id)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """In this block, no other process makes a gradebook in `folder`."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
