"""System calls that a submission cannot make: those no lab needs and holes are made of.

A short list of refusals, not a list of permissions: torch, numpy and Python's own modules must run
as they are. Memory that no limit counts (memfd, System V) is refused as well.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

# name: (number on x86_64, number on aarch64)
REFUSED = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmat": (30, 196),
    "shmget": (29, 194),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32_BIT = 0x40000000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


def available() -> bool:
    """Whether the list is known for this machine's processor."""
    return platform.machine() in _ARCHITECTURES


def install() -> None:
    """Refuse the calls of the list from now on, in this process and its children.

    Does nothing on a processor that the list does not know. Needs no_new_privs.

    Raises:
        OSError: the kernel refused the filter.
    """
    if not available():
        return
    program = _program(*_ARCHITECTURES[platform.machine()])
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system call filter was refused")


def _program(column: int, architecture: int) -> bytes:
    numbers = sorted(pair[column] for pair in REFUSED.values())
    refuse = _ERRNO | errno.EPERM
    lines = [
        _line(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _line(_EQUAL, 1, 0, architecture),
        _line(_RETURN, 0, 0, _KILL),
        _line(_LOAD, 0, 0, _NUMBER_AT),
        # The same calls by their other numbers (x32); aarch64 has none so high.
        _line(_AT_LEAST, len(numbers) + 1, 0, _X32_BIT),
    ]
    for index, number in enumerate(numbers):
        lines.append(_line(_EQUAL, len(numbers) - index, 0, number))
    lines += [_line(_RETURN, 0, 0, _ALLOW), _line(_RETURN, 0, 0, refuse)]
    return b"".join(lines)


def _line(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
