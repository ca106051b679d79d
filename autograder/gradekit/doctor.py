"""What this machine has, what is missing and how to install it: one sentence each.

Tested in tests/gradekit/test_doctor.py.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import find_root, load_course
from gradekit.errors import CourseError

NEEDED = {
    "torch": "the labs",
    "nbgrader": "the gradebook and formgrader",
    "jupyterlab": "opening the labs",
    "jupytext": "building the labs",
    "tiktoken": "the tokeniser labs",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FREE_GIB = 2


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``ok`` even if something optional is missing."""

    ok: bool
    sentence: str


def examine(folder: Path) -> list[Finding]:
    """Check Python, packages, the sandbox, the course's files and the disk."""
    return [*_python(), *_packages(), *_sandbox(), _course(folder), _disk(folder), _browser()]


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(sys.version_info >= (3, 11), f"Python {version} (3.11 or later is needed)")


def _packages() -> Iterator[Finding]:
    for name, purpose in NEEDED.items():
        if importlib.util.find_spec(name):
            yield Finding(True, f"{name} {importlib.metadata.version(name)}")
        else:
            how = "pip install -c constraints.txt -e '.[staff]'"
            yield Finding(False, f"{name}, needed for {purpose}: {how}")


def _sandbox() -> Iterator[Finding]:
    """The levels of confinement, the default first. The second one is optional."""
    from gradekit.sandbox import bubblewrap, landlock_policy
    from gradekit.untrusted import landlock

    try:
        program = bubblewrap.find()
        bubblewrap.try_out(program)
        named = f"{bubblewrap.version(program)}, with namespaces within namespaces"
        yield Finding(True, f"--sandbox bubblewrap, the default: {named}")
    except bubblewrap.SandboxUnavailableError as error:
        yield Finding(False, str(error))
    reason = landlock_policy.why_unavailable()
    abi = f"the kernel's Landlock (ABI {landlock.abi()}) and system call filters"
    yield Finding(
        True, f"--sandbox landlock: {abi if reason is None else f'unavailable, {reason}'}"
    )


def _course(folder: Path) -> Finding:
    try:
        course = load_course(find_root(folder.resolve()))
    except CourseError as error:
        return Finding(False, str(error))
    return Finding(True, f"{course.root}/course.toml: labs {', '.join(course.labs)}")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / 2**30
    return Finding(free >= FREE_GIB, f"{free:.0f} GiB of disk free ({FREE_GIB} are needed)")


def _browser() -> Finding:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return Finding(True, f"{found} for the browser tests")
    return Finding(True, "no Chromium: browser tests are skipped (Debian: apt install chromium)")
