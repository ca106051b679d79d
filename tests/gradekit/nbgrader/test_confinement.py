"""Without bubblewrap, nbgrader's commands use Landlock, say so, or stop if you ask for that."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gradekit.course import load_course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from tests.helpers import tiny_class
from tests.helpers.nbgrader_commands import nbgrader
from tests.helpers.tiny_class import LAB, NAME

ONLY_BUBBLEWRAP = 'c.SandboxExecute.confinement = "bubblewrap"'


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


def test_one_line_makes_bubblewrap_a_must_for_all_of_nbgraders_commands(course, no_bubblewrap):
    config = course / "nbgrader_config.py"
    text = config.read_text()
    assert f"# {ONLY_BUBBLEWRAP}\n" in text, "the line to uncomment"
    config.write_text(text.replace(f"# {ONLY_BUBBLEWRAP}\n", f"{ONLY_BUBBLEWRAP}\n"))
    done = nbgrader(course, "autograde", LAB, fails=True, PATH=no_bubblewrap)
    assert "bubblewrap is not installed" in done.stderr
    assert scores(course) == {}, "no row, so nobody gets 0 points"
    notebook = f"submitted/ada/{LAB}/{NAME}.ipynb"
    done = nbgrader(course, "validate", notebook, fails=True, PATH=no_bubblewrap)
    assert "bubblewrap is not installed" in done.stderr
    assert "Success" not in done.stdout
    config.write_text(text)


@pytest.mark.needs("landlock")
@pytest.mark.slow
def test_without_bubblewrap_landlock_is_used(course, no_bubblewrap):
    done = nbgrader(course, "autograde", LAB, PATH=no_bubblewrap)
    assert "sandbox: Landlock" in done.stderr
    assert scores(course) == {"ada": 6.0}
    notebook = f"submitted/ada/{LAB}/{NAME}.ipynb"
    done = nbgrader(course, "validate", notebook, PATH=no_bubblewrap)
    assert done.stdout.startswith("Success!")


@pytest.mark.slow
def test_a_level_that_does_not_exist_is_refused(course):
    done = nbgrader(course, "autograde", LAB, "--SandboxExecute.confinement=docker", fails=True)
    assert "expected any of ['auto', 'bubblewrap', 'landlock', 'none']" in done.stderr
