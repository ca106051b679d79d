"""The levels of isolation: how they are described, checked and refused."""

from __future__ import annotations

import re

import pytest

from gradekit import doctor
from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import bubblewrap, landlock_policy, levels
from gradekit.sandbox.levels import check_level, describe
from gradekit.sandbox.sandbox import Sandbox, _Server
from gradekit.untrusted import landlock
from gradekit.untrusted.limits import Limits

landlock_here = pytest.mark.skipif(
    landlock_policy.why_unavailable() is not None, reason=f"{landlock_policy.why_unavailable()}"
)


def test_each_level_is_described_in_a_line():
    assert describe().startswith("sandbox: bubblewrap")
    assert "\n" not in describe()
    assert "can read and write what you can" in describe("none")


@landlock_here
def test_its_line_says_what_is_not_hidden():
    assert "not without their names, sizes and dates" in describe("landlock")


@pytest.mark.parametrize(
    ("abi", "sentence"), [(0, "no Landlock"), (5, "has ABI 5, and 6 is needed .Linux 6.12")]
)
def test_a_weaker_kernel_is_refused(monkeypatch, tmp_path, abi, sentence):
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    for start in (Sandbox(tmp_path, level="landlock").start, lambda: describe("landlock")):
        with pytest.raises(SandboxUnavailableError, match=sentence):
            start()


def test_without_bubblewrap_landlock_is_named_and_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        SandboxUnavailableError, match=r"--sandbox landlock.*its size and its dates"
    ):
        Sandbox(tmp_path).start()


def test_the_doctor_knows_both_levels(monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 3)
    monkeypatch.setattr("shutil.which", lambda _: None)
    first, second = doctor._sandbox()
    assert (first.ok, second.ok) == (False, True)
    assert "bubblewrap is not installed" in first.sentence
    assert "unavailable, the kernel's Landlock has ABI 3" in second.sentence


def test_only_the_levels_that_exist_are_checked(monkeypatch):
    checked = []
    monkeypatch.setattr(bubblewrap, "find", lambda: checked.append("bubblewrap"))
    monkeypatch.setattr(landlock_policy, "check", lambda: checked.append("landlock"))
    for level in levels.LEVELS:
        check_level(level)
    assert checked == ["bubblewrap", "landlock"]


@pytest.mark.parametrize("name", ["docker", "", "Landlock", "none "])
def test_an_unknown_level_is_an_error_and_never_none(name, tmp_path):
    for use in (check_level, describe, lambda name: Sandbox(tmp_path, level=name)):
        with pytest.raises(ValueError, match=re.escape(repr(name))):
            use(name)


def test_a_server_of_an_unknown_level_is_not_started(monkeypatch, tmp_path):
    """Even if every check before it lets the level pass."""
    monkeypatch.setattr("gradekit.sandbox.sandbox.check_level", lambda name: None)
    monkeypatch.setattr("gradekit.sandbox.bubblewrap.assemble", lambda *folders: None)
    started = []
    monkeypatch.setattr("subprocess.Popen", lambda *line, **rest: started.append(line))
    with pytest.raises(AssertionError, match="docker"):
        _Server(tmp_path, Limits(), "docker", (), trains=False)
    assert started == []
