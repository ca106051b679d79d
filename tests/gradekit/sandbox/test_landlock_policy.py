"""Whether this machine has the level "landlock", and what the policy allows."""

from __future__ import annotations

import pytest

from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import landlock_policy, levels
from gradekit.untrusted import landlock


def test_an_unknown_processor_is_refused(monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 6)
    assert landlock_policy.why_unavailable() is None
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert "riscv64" in landlock_policy.why_unavailable()


@pytest.mark.needs("landlock")
def test_a_trial_leaves_nothing_behind(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    assert landlock_policy.why_refused() is None
    assert list(tmp_path.iterdir()) == []


def test_a_trial_that_fails_is_a_reason(monkeypatch, tmp_path):
    python = tmp_path / "python"
    error = "gradekit.untrusted.libc.IsolationError: only root can enter /root"
    python.write_text(f"#!/bin/sh\necho '{error}' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(landlock, "abi", lambda: 6)
    monkeypatch.setattr("sys.executable", str(python))
    assert landlock_policy.why_refused() == "this system refuses it (only root can enter /root)"
    with pytest.raises(SandboxUnavailableError, match="only root can enter /root"):
        levels.choose("landlock")


def opened(monkeypatch, tmp_path, shown, private=(), own=()):
    monkeypatch.setattr(landlock_policy, "shown_paths", lambda: shown)
    monkeypatch.setattr(landlock_policy, "own_packages", lambda: list(own))
    return landlock_policy.policy_for(tmp_path / "assembled", tmp_path / "scratch", private)


@pytest.fixture
def tree(tmp_path):
    for name in ("usr/bin/sh", "usr/course/gradebook", "usr/lib/gradekit/late.py", "usr/lib/re"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "usr" / "link").symlink_to(tmp_path / "usr" / "course")
    return tmp_path / "usr"


def test_a_private_folder_inside_is_left_out_and_not_listed(monkeypatch, tree):
    open_ = opened(monkeypatch, tree, [tree], private=[tree / "course"])
    assert set(open_.readable) == {str(tree / name) for name in ("assembled", "bin", "lib")}
    assert open_.listable == ()


def test_our_own_package_inside_is_left_out_but_listed(monkeypatch, tree):
    open_ = opened(monkeypatch, tree, [tree / "lib"], own=[tree / "lib" / "gradekit"])
    assert set(open_.readable) == {str(tree / "assembled"), str(tree / "lib" / "re")}
    assert open_.listable == (str(tree / "lib"),)


def test_an_environment_inside_a_private_folder_is_there(monkeypatch, tree):
    shown = [tree, tree / "course"]
    open_ = opened(monkeypatch, tree, shown, private=[tree / "course"])
    assert str(tree / "course") in open_.readable
