"""The time of a clone's last commit, without running what the clone's settings name."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gradekit.submissions.git_commit import time_of_last_commit

WHEN = datetime(2026, 9, 18, 8, 15, 22, tzinfo=UTC)


def git(folder: Path, *arguments: str) -> str:
    settings = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": WHEN.isoformat(),
    }  # fmt: skip
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@uni.example"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=settings, check=True, capture_output=True
    )
    return done.stdout.decode()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "lab01-ada"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "x.ipynb").write_text("{}")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "committer Eve <e@x> 1 +0000")
    return folder


def test_the_committers_time_counts(clone: Path) -> None:
    assert time_of_last_commit(clone / ".git") == WHEN


def test_packed_and_detached_clones_have_times_too(clone: Path) -> None:
    git(clone, "gc", "-q")
    assert not list((clone / ".git" / "refs" / "heads").iterdir())
    assert time_of_last_commit(clone / ".git") == WHEN
    git(clone, "checkout", "-q", "--detach")
    assert time_of_last_commit(clone / ".git") == WHEN


def test_a_clones_settings_start_nothing(clone: Path, tmp_path: Path) -> None:
    """As any other git command in this folder would: the attack works with `git status`."""
    planted = tmp_path / "planted"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {planted}\n")
    program.chmod(0o755)
    settings = clone / ".git" / "config"
    settings.write_text(f"{settings.read_text()}[core]\n fsmonitor = {program}\n")
    git(clone, "status")
    assert planted.exists()
    planted.unlink()
    assert time_of_last_commit(clone / ".git") == WHEN
    assert not planted.exists()


@pytest.mark.parametrize(
    "head",
    ["", "ref: refs/heads/none", "ref: ../../secret", "--help", "ref: refs/heads/../../x", "\0"],
)
def test_a_head_that_leads_nowhere_is_no_time(head: str, clone: Path) -> None:
    (clone / ".git" / "HEAD").write_text(head)
    assert time_of_last_commit(clone / ".git") is None


def test_a_folder_without_git_has_no_time(tmp_path: Path) -> None:
    assert time_of_last_commit(tmp_path / ".git") is None


def test_a_commit_that_unpacks_to_gigabytes_is_not_read(clone: Path) -> None:
    """Some kilobytes on disk; git would have all of it in memory, and write it to us."""
    text = git(clone, "cat-file", "commit", "HEAD") + "x" * 64 * 2**20
    (clone / "text").write_text(text)
    big = git(clone, "hash-object", "-t", "commit", "-w", "--literally", "text").strip()
    git(clone, "update-ref", "HEAD", big)
    stored = clone / ".git" / "objects" / big[:2] / big[2:]
    assert stored.stat().st_size < 2**20
    assert len(git(clone, "cat-file", "commit", "HEAD")) > 64 * 2**20, "git itself reads it"
    assert time_of_last_commit(clone / ".git") is None
    git(clone, "gc", "-q")
    assert time_of_last_commit(clone / ".git") is None
