"""The time of the last commit in a clone, read without its settings.

A clone's own settings may name programs that git would start. So git runs on an empty repository of
ours that only borrows the clone's objects. Tested in tests/gradekit/submissions/test_git_commit.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"refs/(?:heads|remotes)/[\w./-]+")
_COMMITTER = re.compile(rb"^committer .* (\d{1,11}) [+-]\d{4}$", re.MULTILINE)
_MOST_SECONDS = 20
# A commit has a few hundred bytes. A hostile one is small on disk and unpacks to gigabytes; git
# then gives up at this size, in bytes, of any single piece of memory.
_MOST_BYTES = 16 * 2**20


def time_of_last_commit(git_folder: Path) -> datetime | None:
    """When HEAD was committed, by the committer's clock; None if git or the commit is missing."""
    commit = _head(git_folder)
    if not commit:
        return None
    with tempfile.TemporaryDirectory(prefix="gradekit-git-") as empty:
        for name in ("objects", "refs"):
            Path(empty, name).mkdir()
        Path(empty, "HEAD").write_text("ref: refs/heads/none\n")
        settings = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": empty,
            "GIT_DIR": empty,
            "GIT_OBJECT_DIRECTORY": str(git_folder.resolve() / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ALLOC_LIMIT": str(_MOST_BYTES),
        }
        try:
            done = subprocess.run(  # noqa: S603 - a hash
                ["git", "cat-file", "commit", commit],  # noqa: S607 - the staff's own PATH
                env=settings,
                capture_output=True,
                timeout=_MOST_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
    headers = done.stdout.partition(b"\n\n")[0]
    match = _COMMITTER.search(headers)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None


def _head(git_folder: Path) -> str:
    """The hash that HEAD leads to; empty if it leads nowhere."""
    text = _text(git_folder / "HEAD")
    name = text.removeprefix("ref: ")
    if name != text:
        if not _REFERENCE.fullmatch(name) or ".." in name:
            return ""
        text = _text(git_folder / name) or _packed(git_folder, name)
    return text if _HASH.fullmatch(text) else ""


def _packed(git_folder: Path, name: str) -> str:
    for line in _text(git_folder / "packed-refs", 2**22).splitlines():
        commit, _, reference = line.partition(" ")
        if reference == name:
            return commit
    return ""


def _text(path: Path, most: int = 4096) -> str:
    try:
        if path.is_symlink() or not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(most).decode("utf-8", "replace").strip()
    except OSError:
        return ""
