"""The lists of refused system calls, and the filter made of them."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from gradekit.untrusted import seccomp, seccomp_landlock


def test_no_number_is_listed_twice():
    for column in (0, 1):
        numbers = [rule.numbers[column] for rule in seccomp_landlock.rules()]
        numbers += [pair[column] for pair in seccomp.REFUSED.values()]
        known = [number for number in numbers if number is not None]
        assert len(known) == len(set(known))


@pytest.mark.skipif(not seccomp.available(), reason="no list for this processor")
def test_a_filter_refuses_its_calls_and_no_others():
    script = (
        "import ctypes, errno, os\n"
        "from gradekit.untrusted import libc, seccomp\n"
        "libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)\n"
        "seccomp.install([seccomp.ONE_SESSION])\n"
        "result = libc.c_library().unshare(0)\n"
        "print(result, ctypes.get_errno() == errno.EPERM, os.getpid() > 0)\n"
        "session = os.getsid(0)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os._exit(os.getsid(0) != session)\n"
        "print('sessions', os.wait()[1])\n"
    )
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == "-1 True True\nsessions 0\n"


def test_an_unknown_processor_has_no_list(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not seccomp.available()
