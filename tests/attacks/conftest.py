"""Sandboxes for all attacks: one per level that confines, and one without any protection."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnlab import checking
from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.limits import MIB, Limits
from tests.helpers.attack import TOKEN
from tests.helpers.needs import require

LIMITS = Limits(
    cell_seconds=3,
    submission_seconds=30,
    exercise_seconds=2,
    memory_bytes=768 * MIB,
    file_bytes=32 * MIB,
    scratch_bytes=64 * MIB,
)


@pytest.fixture(scope="session")
def student_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library without answers: only the code of its checks."""
    os.environ[TOKEN] = "full-marks"  # before any sandbox starts, none of which may have it
    folder = tmp_path_factory.mktemp("edition")
    source = Path(checking.__file__).parent
    shutil.copytree(source, folder / "attnlab" / "checking")
    (folder / "attnlab" / "__init__.py").write_text('"""No answers."""\n')
    return folder


@pytest.fixture(scope="session")
def namespaces(student_library: Path) -> Iterator[Sandbox]:
    """Only the level "bubblewrap", for promises that only namespaces can keep."""
    require("bubblewrap")
    with Sandbox(student_library, LIMITS) as started:
        yield started


@pytest.fixture(scope="session")
def domains(student_library: Path) -> Iterator[Sandbox]:
    """Only the level "landlock", for what it does in its own way."""
    require("landlock")
    with Sandbox(student_library, LIMITS, level="landlock") as started:
        yield started


@pytest.fixture(scope="session", params=["namespaces", "domains"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each level in turn, for promises of both."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen]:
    """Another program's process."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture(scope="session")
def unconfined(student_library: Path) -> Iterator[Sandbox]:
    with Sandbox(student_library, LIMITS, level="none") as started:
        yield started
