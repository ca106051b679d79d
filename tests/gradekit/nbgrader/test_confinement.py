"""Without bubblewrap, nothing is graded unless you choose another level."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gradekit.course import load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.sandbox import landlock_policy
from tests.helpers import tiny_class
from tests.helpers.nbgrader_commands import nbgrader
from tests.helpers.tiny_class import LAB, NAME

LANDLOCK = 'c.SandboxExecute.confinement = "landlock"'


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("confined") / "course"
    root.mkdir()
    tiny_class.write_course(root)
    tiny_class.hand_in(root, "ada", tiny_class.notebook(root))
    return root


@pytest.fixture(scope="module")
def no_bubblewrap(tmp_path_factory):
    """A PATH without bubblewrap, and with the programs that nbgrader calls."""
    folder = tmp_path_factory.mktemp("bin")
    for program in ("alembic",):
        (folder / program).symlink_to(Path(sys.executable).parent / program)
    assert shutil.which("bwrap", path=str(folder)) is None
    return str(folder)


def scores(root):
    with Book(address_of(load_course(root))) as book:
        return {name: given.points for name, given in book.marks(LAB).items()}


def test_without_bubblewrap_nothing_is_changed(course, no_bubblewrap):
    done = nbgrader(course, "autograde", LAB, fails=True, PATH=no_bubblewrap)
    assert "bubblewrap is not installed" in done.stderr
    assert scores(course) == {}, "no row, so nobody gets 0 points"
    notebook = f"submitted/ada/{LAB}/{NAME}.ipynb"
    done = nbgrader(course, "validate", notebook, fails=True, PATH=no_bubblewrap)
    assert "bubblewrap is not installed" in done.stderr
    assert "Success" not in done.stdout


@pytest.mark.skipif(
    landlock_policy.why_unavailable() is not None, reason=f"{landlock_policy.why_unavailable()}"
)
@pytest.mark.slow
def test_one_line_sets_landlock_for_all_of_nbgraders_commands(course, no_bubblewrap):
    config = course / "nbgrader_config.py"
    text = config.read_text()
    assert f"# {LANDLOCK}\n" in text, "the line to uncomment"
    config.write_text(text.replace(f"# {LANDLOCK}\n", f"{LANDLOCK}\n"))
    nbgrader(course, "autograde", LAB, PATH=no_bubblewrap)
    assert scores(course) == {"ada": 6.0}
    notebook = f"submitted/ada/{LAB}/{NAME}.ipynb"
    done = nbgrader(course, "validate", notebook, PATH=no_bubblewrap)
    assert done.stdout.startswith("Success!")


@pytest.mark.slow
def test_a_level_that_does_not_exist_is_refused(course):
    done = nbgrader(course, "autograde", LAB, "--SandboxExecute.confinement=docker", fails=True)
    assert "expected any of ['bubblewrap', 'landlock', 'none']" in done.stderr
