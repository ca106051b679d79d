"""Starts pytest as an ordinary user, where root's own Python may lie in root's own home.

As ``python run_as_ordinary_user.py FOLDER ARGUMENTS``. In mounts of its own, folders that others
cannot enter show what a Python needs and nothing else. Ends with UNABLE and a reason if that is not
possible.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[0:0] = [str(REPOSITORY / "lib"), str(REPOSITORY / "autograder")]

from gradekit.untrusted import drop_root, namespaces  # noqa: E402

USER = 54321
UNABLE = 77


def main(folder: Path, arguments: list[str]) -> None:
    """Become the user and run pytest; `folder` is its home."""
    needed = [REPOSITORY, folder, Path(sys.prefix), Path(sys.executable), Path(sys.base_prefix)]
    closed = next(drop_root.closed_folders(needed), None)
    if closed is not None:
        if not namespaces.own_mounts():
            print(f"only root can enter {closed}, and nothing can be mounted here")
            raise SystemExit(UNABLE)
        drop_root.cover_closed_folders(needed)
    os.chown(folder, USER, USER)
    try:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    except OSError as error:
        print(f"root cannot become another user here ({error.strerror})")
        raise SystemExit(UNABLE) from error
    variables = {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
        "LOGNAME": "ordinary",
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
        "SKIP_NOTHING": os.environ.get("SKIP_NOTHING", ""),
    }
    os.chdir(REPOSITORY)
    line = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *arguments]
    os.execve(sys.executable, line, variables)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
