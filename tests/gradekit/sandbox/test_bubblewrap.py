"""Bubblewrap's command line: what is visible inside, and what a missing bubblewrap means."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from attnlab import checking
from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import bubblewrap
from gradekit.sandbox.levels import choose
from gradekit.sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def student_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edition")
    shutil.copytree(Path(checking.__file__).parent, folder / "attnlab" / "checking")
    (folder / "attnlab" / "__init__.py").write_text("")
    return folder


def test_without_bubblewrap_it_says_how_to_get_it(student_library, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for start in (lambda: choose("bubblewrap"), Sandbox(student_library).start):
        with pytest.raises(SandboxUnavailableError, match="apt install bubblewrap"):
            start()


def test_where_bubblewrap_is_refused_it_says_so(student_library, tmp_path, monkeypatch):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create it' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for start in (lambda: choose("bubblewrap"), Sandbox(student_library).start):
        with pytest.raises(SandboxUnavailableError, match="No permissions to create it"):
            start()


def test_a_program_that_cannot_be_started_is_a_reason(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("neither a script nor a program")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "cannot be started (Exec format error)" in bubblewrap.why_unavailable()


@pytest.mark.needs("bubblewrap")
def test_private_folders_are_not_there_even_within_shown_ones(tmp_path):
    (tmp_path / "gradekit").mkdir()
    for name in ("passwd", "group"):
        (tmp_path / name).write_text("")
    private = Path("/usr/share/zoneinfo")
    line = bubblewrap.command(bubblewrap.find(), tmp_path, [private])
    done = subprocess.run(
        [*line, "--", "/bin/sh", "-c", "ls -A /usr/share/zoneinfo; ls /usr/share | head -1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.split()) == 1


@pytest.mark.needs("bubblewrap")
def test_an_environment_within_a_private_folder_is_there(tmp_path, monkeypatch):
    lab, shown = tmp_path / "lab", tmp_path / "shown"
    packages = shown / "course" / ".venv" / "lib"
    for folder in (lab / "gradekit", packages):
        folder.mkdir(parents=True)
    for path in (lab / "passwd", lab / "group", packages / "torch", packages.parents[1] / "db"):
        path.write_text("")
    system = (*bubblewrap._SYSTEM, str(shown))
    monkeypatch.setattr(bubblewrap, "_SYSTEM", system)
    monkeypatch.setattr(bubblewrap, "python_paths", lambda: [packages])
    line = bubblewrap.command(bubblewrap.find(), lab, [shown / "course"])
    find = ["/usr/bin/find", str(shown / "course"), "-type", "f"]
    done = subprocess.run([*line, "--", *find], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(packages / "torch")]


def test_only_the_untrusted_side_is_assembled(student_library, tmp_path):
    folder = tmp_path / "lab"
    bubblewrap.assemble(student_library, folder)
    assert {path.name for path in folder.iterdir()} == {"attnlab", "gradekit", "group", "passwd"}
    assert {path.name for path in (folder / "gradekit").iterdir()} == {"__init__.py", "untrusted"}
    left_out = {"__pycache__", "lookup.py", "run_visible.py", "visible.py"}
    assert not left_out.intersection(path.name for path in folder.rglob("*"))
