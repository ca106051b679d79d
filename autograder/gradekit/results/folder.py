"""The folder of a course's results: where it is, and the secret in it."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

RESULTS = "results"
_SECRET_BYTES = 32


def course_secret(folder: Path) -> bytes:
    """The course's own random bytes, made on the first run; they make hidden inputs unguessable."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "secret"
    if path.is_file() and path.stat().st_size < _SECRET_BYTES:
        path.unlink()  # a run was killed as it made it: nothing was graded with it
    if not path.exists():
        handle, whole = tempfile.mkstemp(prefix=".secret.", dir=folder)
        try:
            with open(handle, "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
                file.flush()
                os.fsync(handle)
            with suppress(FileExistsError):  # another run was quicker
                os.link(whole, path)
        finally:
            os.unlink(whole)
    return path.read_bytes()
