"""What tests need of a machine and not every machine has.

A test without it is skipped; the reason names the package to install. With SKIP_NOTHING=1 in the
environment, as .ci/run sets it after installing the packages, such a test fails instead. All skips
are reported at one place, so pytest's summary has one line for each thing that is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from gradekit.doctor import BROWSERS
from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import bubblewrap, landlock_policy
from gradekit.sandbox.levels import choose

SKIP_NOTHING = "SKIP_NOTHING"
# What .ci/run can install; Landlock is a part of the kernel.
INSTALLED = ("bubblewrap", "chromium", "postgresql", "sandbox")


class MachineLacksError(pytest.skip.Exception):
    """Skips a test, because this machine lacks what it needs."""


@cache
def missing(need: str) -> str | None:
    """Why this machine lacks something, and the package that has it; None if it is there."""
    match need:
        case "bubblewrap":
            return bubblewrap.why_unavailable()
        case "landlock":
            return landlock_policy.why_refused()
        case "sandbox":  # any that confines
            try:
                choose()
            except SandboxUnavailableError as error:
                return str(error)
            return None
        case "gpu":
            return None if torch.cuda.is_available() else "no GPU that torch can use"
        case "chromium":
            return None if browser() else "no Chromium (Debian: apt install chromium)"
        case "postgresql":
            found = postgresql_programs()
            return None if found else "no PostgreSQL server (Debian: apt install postgresql)"
        case "jupyterhub":
            return no_hub()
        case _:
            raise ValueError(f"tests cannot need {need!r}")


def require(need: str) -> None:
    """Go on if this machine has what a test needs; else skip the test, or fail in .ci/run."""
    reason = missing(need)
    if reason is None:
        return
    if os.environ.get(SKIP_NOTHING) and need in INSTALLED:
        pytest.fail(f"{SKIP_NOTHING} is set, and this machine has {reason}", pytrace=False)
    raise MachineLacksError(reason)


def at_one_place(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    """Give the skips of this file one location; a fixture's would be that of each of its tests."""
    if call.excinfo is not None and isinstance(call.excinfo.value, MachineLacksError):
        report.longrepr = (str(Path(__file__)), 1, f"Skipped: {call.excinfo.value}")


@contextmanager
def skipped_without_any_sandbox() -> Iterator[None]:
    """Skip what stops for want of a sandbox, if this machine has none."""
    try:
        yield
    except SandboxUnavailableError:
        require("sandbox")
        raise


def level_here(level: str) -> str:
    """A level of isolation, for a test that is skipped if this machine does not have it."""
    if level != "none":
        require(level)
    return level


def no_hub() -> str | None:
    """Why no JupyterHub can be started here; None if one can."""
    if os.geteuid() != 0:
        return "no root, who alone can start servers for the users of a JupyterHub"
    if find_spec("jupyterhub") is None:
        return "no JupyterHub (pip install jupyterhub)"
    proxy = shutil.which("configurable-http-proxy")
    return None if proxy else "no proxy for JupyterHub (npm install -g configurable-http-proxy)"


def browser() -> str | None:
    """The program of a browser that Playwright can drive."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def postgresql_programs() -> Path | None:
    """The folder of the server's programs, which Debian keeps away from PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return (found[-1] if found else Path(on_path)).parent if found or on_path else None
