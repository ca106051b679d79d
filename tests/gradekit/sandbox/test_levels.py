"""The levels of isolation: how one is chosen and described, checked and refused."""

from __future__ import annotations

import re

import pytest

from gradekit import doctor
from gradekit.errors import SandboxUnavailableError
from gradekit.sandbox import bubblewrap, landlock_policy, levels
from gradekit.sandbox.levels import check_level, choose
from gradekit.sandbox.sandbox import Sandbox, _Server
from gradekit.untrusted import landlock
from gradekit.untrusted.limits import Limits


@pytest.fixture
def machine(monkeypatch):
    """A machine that lacks levels for the reasons given; None for a level that it has."""

    def lacks(no_bubblewrap=None, no_landlock=None):
        monkeypatch.setattr(bubblewrap, "why_unavailable", lambda: no_bubblewrap)
        monkeypatch.setattr(bubblewrap, "find", lambda: "bwrap")
        monkeypatch.setattr(bubblewrap, "version", lambda program: "bubblewrap 0.8.0")
        monkeypatch.setattr(landlock_policy, "why_refused", lambda: no_landlock)
        monkeypatch.setattr(landlock, "abi", lambda: 7)

    return lacks


def test_the_default_is_the_strongest_level(machine):
    machine()
    assert choose().level == "bubblewrap"
    machine(no_bubblewrap="it is not installed")
    assert choose().level == "landlock"


def test_without_any_level_nothing_is_chosen(machine):
    machine("bubblewrap is not installed", "the kernel has no Landlock")
    with pytest.raises(SandboxUnavailableError) as caught:
        choose()
    for words in ("so none is run", "bubblewrap is not installed", "the kernel has no Landlock"):
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_says_what_is_not_covered(machine):
    machine()
    for level, words in {
        "bubblewrap": "Not covered: faults of the kernel, of bubblewrap and of the processor",
        "landlock": "Not covered: whether a file exists, its size and dates; faults of the kernel",
        "none": "can read and write what you can, and use the network",
    }.items():
        line = choose(level).line
        assert line.startswith("sandbox: ")
        assert words in line
        assert "\n" not in line


def test_the_line_says_how_to_get_the_stronger_level(machine):
    machine(no_bubblewrap="bubblewrap is not installed; get it with `sudo apt install bubblewrap`")
    assert choose().line.endswith(
        "bubblewrap is stronger, but bubblewrap is not installed; get it with "
        "`sudo apt install bubblewrap`."
    )
    machine()
    assert choose("landlock").line.endswith("bubblewrap is stronger, and this machine has it.")


@pytest.mark.needs("sandbox")
def test_this_machine_has_what_it_says():
    assert choose(choose().level) == choose()


@pytest.mark.parametrize(
    ("abi", "sentence"), [(0, "no Landlock"), (5, "has ABI 5, and 6 is needed .Linux 6.12")]
)
def test_a_weaker_kernel_is_refused(monkeypatch, tmp_path, abi, sentence):
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    for start in (Sandbox(tmp_path, level="landlock").start, lambda: choose("landlock")):
        with pytest.raises(SandboxUnavailableError, match=sentence):
            start()


def test_a_level_that_is_asked_for_is_not_replaced(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "/nowhere")
    for start in (Sandbox(tmp_path).start, lambda: choose("bubblewrap")):
        with pytest.raises(
            SandboxUnavailableError, match=r"--sandbox landlock.*its size and its dates"
        ):
            start()


def test_the_doctor_needs_one_of_both_levels(machine):
    for lacking, labels in (
        ((None, "no Landlock"), ["ok", "absent"]),
        (("no bubblewrap", None), ["absent", "ok"]),
        (("no bubblewrap", "no Landlock"), ["MISSING", "MISSING"]),
    ):
        machine(*lacking)
        found = list(doctor._sandbox())
        assert [finding.label for finding in found] == labels
        for reason, finding in zip(lacking, found, strict=True):
            assert reason is None or reason in finding.sentence


def test_only_the_levels_that_exist_are_checked(monkeypatch):
    checked = []
    monkeypatch.setattr(bubblewrap, "find", lambda: checked.append("bubblewrap"))
    monkeypatch.setattr(landlock_policy, "check", lambda: checked.append("landlock"))
    for level in levels.LEVELS:
        check_level(level)
    assert checked == ["bubblewrap", "landlock"]


@pytest.mark.parametrize("name", ["docker", "", "Landlock", "none ", "Auto"])
def test_an_unknown_level_is_an_error_and_never_none(name, tmp_path):
    for use in (check_level, choose, lambda name: Sandbox(tmp_path, level=name)):
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
