"""Runs the attacks again with a grader that is not root, because other protections then apply."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.helpers import run_as_ordinary_user
from tests.helpers.run_as_ordinary_user import UNABLE, USER

HERE = Path(__file__).parent
SHORT = (
    "test_reading_the_gradebook", "test_reading_environment_secrets", "test_network",
    "test_writing_outside_scratch", "test_signals_to_others", "test_children_that_outlive",
)  # fmt: skip

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="all tests run as an ordinary user here")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the user can reach, unlike pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="ordinary-"))
    yield folder
    shutil.rmtree(folder)


def attacked(home: Path, *arguments: str) -> None:
    """Run pytest as the user; skip, and name the tests, if some of them were skipped."""
    line = [sys.executable, run_as_ordinary_user.__file__, str(home), *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode == UNABLE:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)
    skipped = re.findall(r"^SKIPPED .*", done.stdout, re.MULTILINE)
    if skipped:
        pytest.skip(f"passed as user {USER}, but for: {'; '.join(skipped)}")


def files(names: Sequence[str]) -> list[str]:
    return [str(HERE / f"{name}.py") for name in names]


def test_a_few_attacks(home):
    attacked(home, *files(SHORT))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_all_attacks(home):
    known = {path.stem for path in HERE.glob("test_*.py")}
    own = {"test_as_an_ordinary_user", *(name for name in known if "fuzz" in name)}
    attacked(home, *files(sorted(known - own)))
