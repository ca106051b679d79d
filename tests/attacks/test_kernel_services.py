"""A notebook stores data in the kernel, or requests namespaces, mounts and other privileges."""

from __future__ import annotations

from tests.helpers.attack import run_cells, said


def test_keys_and_shared_memory_are_refused(sandbox):
    shared = "import ctypes\nprint(ctypes.CDLL(None).shmget(7, 4096, 0o1666))"
    file = "import os\nos.memfd_create('x')"
    key = "import ctypes\nprint(ctypes.CDLL(None).syscall(248, b'user', b'a', b'b', 1, -4))"
    first, second, third = run_cells(sandbox, shared, file, key).cells
    assert first.outputs[0]["text"] == "-1\n"
    assert second.outputs[0]["ename"] == "PermissionError"
    assert third.outputs[0]["text"] == "-1\n"


def test_no_way_to_new_namespaces_or_mounts(sandbox):
    ways = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "print(libc.unshare(0x10000000), libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))\n"
        "print(libc.mount(b'none', b'/scratch', b'tmpfs', 0, None), libc.umount2(b'/scratch', 2))\n"
    )
    assert "-1 -1\n-1 -1" in said(sandbox, ways)
