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
from textwrap import fill
from typing import Literal

from gradekit.course import find_root, load_course
from gradekit.errors import LabError

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
    """One line of the report.

    Attributes:
        needed: whether the machine is of no use to staff without it.
        fault: what it is called if it is needed and not ok.
    """

    ok: bool
    sentence: str
    needed: bool = True
    fault: Literal["MISSING", "WRONG"] = "MISSING"

    @property
    def label(self) -> str:
        """The first word of the line."""
        if self.ok:
            return "ok"
        return self.fault if self.needed else "absent"

    def lines(self, width: int) -> str:
        """The label and the sentence, in lines of this width or a little more."""
        return fill(
            self.sentence,
            max(40, width),
            initial_indent=f"{self.label:7}  ",
            subsequent_indent=" " * 9,
            break_long_words=False,
            break_on_hyphens=False,
        )


def examine(folder: Path) -> list[Finding]:
    """Check Python, packages, the sandbox, the course's files and the disk."""
    machine = [*_python(), *_packages(), *_sandbox()]
    return [*machine, *_course(folder), _disk(folder), *_for_tests()]


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
    """The levels of confinement, the strongest first; one of them is enough."""
    from gradekit.sandbox import bubblewrap, landlock_policy
    from gradekit.untrusted import landlock

    no_bubblewrap, no_landlock = bubblewrap.why_unavailable(), landlock_policy.why_refused()
    needed = bool(no_bubblewrap and no_landlock)
    named = no_bubblewrap or f"{bubblewrap.version(bubblewrap.find())}, the strongest"
    yield Finding(not no_bubblewrap, f"--sandbox bubblewrap: {named}", needed)
    named = no_landlock or f"the kernel's Landlock (ABI {landlock.abi()}) and system call filters"
    yield Finding(not no_landlock, f"--sandbox landlock: {named}", needed)


def _course(folder: Path) -> Iterator[Finding]:
    """course.toml, and whether each lab can be released on its date."""
    try:
        course = load_course(find_root(folder.resolve()))
        for lab in course.labs:
            course.last_due(lab)
    except LabError as error:
        yield _wrong(str(error))
        return
    yield Finding(True, f"{course.root}/course.toml: labs {', '.join(course.labs)}")
    if not importlib.util.find_spec("torch"):
        return  # said above; without it no exercise can be read
    from gradekit.build.calendar import conflicts
    from gradekit.build.unfinished import disagreements
    from gradekit.exercise.loader import CourseLabs

    labs, wrong = CourseLabs(course), list[Finding]()
    for lab in course.labs:
        try:
            found = conflicts(labs, lab)
            wrong += [_wrong(f"{lab}: {conflict.sentence}") for conflict in found]
            wrong += [_wrong(sentence) for sentence in disagreements(course, labs[lab])]
        except LabError as error:
            wrong.append(_wrong(str(error)))
    yield from wrong
    if not wrong:
        yield Finding(True, "every lab has its points; no bundle holds answers of an open lab")


def _wrong(sentence: str) -> Finding:
    return Finding(False, sentence, fault="WRONG")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / 2**30
    return Finding(free >= FREE_GIB, f"{free:.0f} GiB of disk free ({FREE_GIB} are needed)")


def _for_tests() -> Iterator[Finding]:
    """What only tests need; `make test` skips those that need a missing one."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    missing = "no Chromium: browser tests are skipped (Debian: apt install chromium)"
    yield Finding(bool(browser), f"{browser} for the browser tests" if browser else missing, False)
    server = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    found = str(server) if server else shutil.which("initdb")
    missing = "no PostgreSQL server: its tests are skipped (Debian: apt install postgresql)"
    yield Finding(bool(found), f"{found} for the tests of PostgreSQL" if found else missing, False)
