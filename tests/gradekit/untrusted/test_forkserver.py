"""The fork server's choice of isolation; its work is in tests/gradekit/sandbox/test_sandbox.py."""

from __future__ import annotations

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from gradekit.untrusted.forkserver import assert_single_thread, isolation_of
from gradekit.untrusted.isolation import NamespaceIsolation, NoIsolation
from gradekit.untrusted.landlock_isolation import LandlockIsolation, LandlockPolicy
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.settings import ServerSettings


@pytest.mark.parametrize(
    ("level", "policy", "kind"),
    [
        ("bubblewrap", None, NamespaceIsolation),
        ("landlock", LandlockPolicy((), (), "/scratch"), LandlockIsolation),
        ("none", None, NoIsolation),
    ],
)
def test_each_level_has_its_own_isolation(level, policy, kind):
    assert type(isolation_of(ServerSettings(level, Limits(), False, policy))) is kind


def test_an_unknown_level_is_never_without_isolation():
    unknown = SimpleNamespace(level="docker", limits=Limits(), policy=None)
    with pytest.raises(AssertionError, match="docker"):
        isolation_of(unknown)


def test_a_server_with_an_unknown_level_ends_before_it_imports_anything():
    settings = ServerSettings("none", Limits(), trains=False).to_json().replace("none", "docker")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        line = [sys.executable, "-m", "gradekit.untrusted.forkserver", str(theirs.fileno())]
        done = subprocess.run(
            [*line, settings], pass_fds=[theirs.fileno()], capture_output=True, text=True
        )
        theirs.close()
        assert ours.recv(4096) == b"", "it never reports that it is ready"
    assert done.returncode == 1
    assert "there is no sandbox level 'docker'" in done.stderr


def test_a_process_of_several_threads_must_not_fork(monkeypatch):
    monkeypatch.setattr("os.listdir", lambda folder: ["1", "2"])
    with pytest.raises(RuntimeError, match="more than one thread"):
        assert_single_thread(seconds=0.05)
