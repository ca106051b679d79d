"""A notebook watches or disturbs the machine from within: files read, programs started, disks.

Namespaces do not separate these: a file that is shown inside is the same file, and a socket of some
kinds belongs to no network.
"""

from __future__ import annotations

import socket

import pytest

from tests.helpers.attack import said

WATCH = """
import ctypes, fcntl, os
libc = ctypes.CDLL(None)
ways = {
    "new": lambda: libc.inotify_add_watch(libc.inotify_init1(0), b"/usr/bin", 0xFFF),
    "old": lambda: libc.inotify_add_watch(libc.inotify_init(), b"/usr/bin", 0xFFF),
}
print({name: way() > 0 for name, way in ways.items()})
"""


def test_no_program_of_the_machine_can_be_watched(sandbox, unconfined):
    """Who watches this folder learns which programs other people start, and when."""
    assert "{'new': True, 'old': True}" in said(unconfined, WATCH)
    assert "{'new': False, 'old': False}" in said(sandbox, WATCH)


NOTIFY = """
import fcntl, os, signal, subprocess, time
heard = []
signal.signal(signal.SIGIO, lambda *_: heard.append(1))
folder = os.open("watched", os.O_RDONLY)
fcntl.fcntl(folder, 1026, 1 | 4)  # F_NOTIFY: who reads or makes a file
open("watched/new", "w").close()
time.sleep(0.1)
print("heard", len(heard))
"""


def test_no_folder_gives_a_signal(sandbox, unconfined):
    attack = f"import os\nos.mkdir('watched')\n{NOTIFY}"
    assert "heard 1" in said(unconfined, attack)
    assert "heard 0" in said(sandbox, attack)


def test_no_socket_leaves_the_network_of_its_own(namespaces, unconfined):
    """The second level has no sockets."""
    call = "import socket\nprint('made', socket.socket({}, {}).family)"
    known = said(unconfined, call.format("socket.AF_VSOCK", "socket.SOCK_STREAM"))
    if "made" not in known:
        pytest.skip("this machine has no AF_VSOCK")
    assert "made" not in said(namespaces, call.format("socket.AF_VSOCK", "socket.SOCK_STREAM"))
    for family in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"):
        kind = socket.SOCK_DGRAM.value
        assert "made" in said(namespaces, call.format(f"socket.{family}", kind))


def test_the_disks_of_the_machine_are_left_alone(sandbox, unconfined):
    """Writing all that waits keeps the disks busy; a wrong file shows whether the call is made."""
    ask = "import ctypes, os\nos.sync()\nprint('syncfs', ctypes.CDLL(None).syncfs(-1))"
    assert "syncfs -1" in said(unconfined, ask)
    assert "syncfs 0" in said(sandbox, ask)


IN_MEMORY = """
import os, torch
file = os.open(torch.__file__, os.O_RDONLY)
os.read(file, 1)
print("read at once", os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT))
"""


def test_no_call_says_which_files_are_in_memory(sandbox, unconfined):
    """One hand-in reads some files and not others; a later one would see which, bit by bit."""
    assert "read at once 1" in said(unconfined, IN_MEMORY)
    assert "PermissionError" in said(sandbox, IN_MEMORY)
    plain = IN_MEMORY.replace("os.RWF_NOWAIT", "0")
    assert "read at once 1" in said(sandbox, plain)
