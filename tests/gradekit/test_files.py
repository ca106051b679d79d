"""Temporary folders: those of the dead go, those of the living and of others stay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gradekit.files import PREFIX, LockedTempFolder, remove_stale

HOLDER = """
import sys, time
from gradekit.files import LockedTempFolder
print(LockedTempFolder().path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_closed_folder_is_removed(tmp_path):
    held = LockedTempFolder()
    (held.path / "deep" / "er").mkdir(parents=True)
    held.close()
    held.close()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    mine = LockedTempFolder()
    assert folder.parent == tmp_path
    assert remove_stale() == ()
    process.kill()
    process.wait()
    process.stdout.close()
    assert folder.is_dir()
    assert remove_stale() == (folder,)
    assert list(tmp_path.iterdir()) == [mine.path]
    mine.close()


def test_files_left_by_student_code_are_removed(tmp_path):
    folder = tmp_path / f"{PREFIX}dead"
    folder.mkdir()
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").touch()
    (folder / "link").symlink_to(outside)
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(1500):  # deeper than a path can say
            os.mkdir("deeper")
            os.chdir("deeper")
    finally:
        os.chdir(here)
    assert remove_stale() == (folder,)
    assert [path.name for path in tmp_path.rglob("*")] == ["precious", "file"]


def test_what_only_looks_like_one_stays(tmp_path):
    target = tmp_path / "elsewhere"
    target.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(target)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / "gradekit-other").mkdir()
    assert remove_stale() == ()
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's folder")
def test_another_users_folder_stays(tmp_path):
    folder = tmp_path / f"{PREFIX}theirs"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    assert remove_stale() == ()
    assert folder.is_dir()
