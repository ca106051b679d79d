"""For root: become a user that owns nothing, and still reach Python where root keeps it.

If root may mount (on a machine of its own; not in Docker's default container), folders that others
cannot enter are covered by empty ones that hold only the shown paths, and the scratch folder
becomes a file system of limited size. All of this is in a mount namespace and ends with it.

Tested in tests/gradekit/untrusted/test_drop_root.py and, as root, in tests/attacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gradekit.untrusted import namespaces, scratch
from gradekit.untrusted.libc import IsolationError

# The range from which systemd, too, takes users for single services; it is in every container.
_FIRST_USER, _USERS = 61184, 4336
_ENTER = 0o001


def drop_root(shown: Sequence[str], folder: Path, size: int) -> None:
    """Give up root for good, and with it every capability.

    Args:
        shown: paths that must be reachable afterwards.
        folder: the scratch folder; it becomes the new user's.
        size: its size in bytes, if it can be limited.

    Raises:
        IsolationError: the user cannot be changed, or cannot reach the shown paths.
    """
    user = _FIRST_USER + os.getpid() % _USERS
    paths = [Path(path) for path in (*shown, str(folder)) if os.path.exists(path)]
    if namespaces.own_mounts():
        cover_closed_folders(paths)
        namespaces.mount_folder(folder, f"size={size},nr_inodes={scratch.MAX_INODES},mode=0700")
    elif closed := next(closed_folders(paths), None):
        raise IsolationError(
            f"student code runs as a user other than root, and only root can enter {closed}; run "
            "lab as an ordinary user, or keep Python and TMPDIR elsewhere"
        )
    os.chown(folder, user, user)
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as error:
        raise IsolationError(
            f"root cannot become another user here ({error.strerror}), which student code needs; "
            "run lab as an ordinary user"
        ) from error


def closed_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """The outermost folders above `paths` that others cannot enter."""
    for path in paths:
        for step in dict.fromkeys((path, path.resolve())):
            for folder in reversed(step.parents):
                if not folder.stat().st_mode & _ENTER:
                    yield folder
                    break


def cover_closed_folders(paths: Sequence[Path]) -> None:
    """Cover each closed folder by one that all users can enter and that holds only `paths`.

    Raises:
        IsolationError: the kernel refused a mount.
    """
    for closed in dict.fromkeys(closed_folders(paths)):
        descendants = [
            path
            for path in {*paths, *(path.resolve() for path in paths)}
            if path != closed and path.is_relative_to(closed) and not path.is_symlink()
        ]
        handles = {path: os.open(path, os.O_PATH) for path in sorted(descendants)}
        folders = {path: path.is_dir() for path in handles}
        namespaces.mount_folder(closed, "size=1m,mode=0755")
        for path, handle in handles.items():
            with suppress(FileExistsError):  # it is inside one that is shown already
                _make_mount_point(path, folders[path])
                namespaces.bind(f"/proc/self/fd/{handle}", path)
            os.close(handle)


def _make_mount_point(path: Path, folder: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if folder:
        path.mkdir(mode=0o755)
    else:
        path.touch(exist_ok=False)
