"""System calls that a submission cannot make: those no lab needs and holes are made of.

A short list of refusals, not a list of permissions: torch, numpy and Python's own modules must run
as they are. Memory that no limit counts (memfd, System V) is refused as well.

This file holds what is refused behind bubblewrap, and turns lists into filters; what is refused
besides where namespaces are not there to help is in strict.py.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

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

_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


@dataclass(frozen=True)
class Check:
    """Whether a call may be made with this argument.

    Attributes:
        argument: which one; 32 bits of it are looked at.
        values: those with which the call is made; with `refuse`, those with which it is not.
        mask: the bits that are compared with `values`.
    """

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    refuse: bool = False


@dataclass(frozen=True)
class Rule:
    """What becomes of one system call.

    Attributes:
        numbers: its number on x86_64 and on aarch64; None where there is no such call.
        checks: what must all hold for it to be made; without any it is never made.
        error: what it fails with; 0 to pretend that it was done.
    """

    numbers: tuple[int | None, int | None]
    checks: tuple[Check, ...] = ()
    error: int = errno.EPERM


# Sessions get a share of the processors each; a submission makes no second one, though it is told
# so: what starts a process in a new session (subprocess, say) needs no more than that.
ONE_SESSION = Rule((112, 157), error=0)


def available() -> bool:
    """Whether the list is known for this machine's processor."""
    return platform.machine() in _ARCHITECTURES


def install(more: Iterable[Rule] = ()) -> None:
    """Refuse the calls of the list, and by the rules, from now on, here and in all children.

    Does nothing on a processor that the list does not know. Needs no_new_privs.

    Raises:
        OSError: the kernel refused the filter.
    """
    if not available():
        return
    program = _program(*_ARCHITECTURES[platform.machine()], tuple(more))
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system call filter was refused")


def _program(column: int, architecture: int, more: tuple[Rule, ...]) -> bytes:
    lines = [
        _line(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _line(_EQUAL, 1, 0, architecture),
        _line(_RETURN, 0, 0, _KILL),
        _line(_LOAD, 0, 0, _NUMBER_AT),
        # The same calls by their other numbers (x32); aarch64 has none so high.
        _line(_AT_LEAST, 0, 1, _X32_BIT),
        _line(_RETURN, 0, 0, _ERRNO | errno.EPERM),
    ]
    for rule in more:
        number = rule.numbers[column]
        if number is not None:
            block = _block(rule)
            lines += [_line(_EQUAL, 0, len(block), number), *block]
    numbers = sorted(pair[column] for pair in REFUSED.values())
    for index, number in enumerate(numbers):
        lines.append(_line(_EQUAL, len(numbers) - index, 0, number))
    lines += [_line(_RETURN, 0, 0, _ALLOW), _line(_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    return b"".join(lines)


def _block(rule: Rule) -> list[bytes]:
    """The lines for one call; they always end in an answer."""
    refuse = _line(_RETURN, 0, 0, _ERRNO | rule.error)
    lines = []
    for check in rule.checks:
        # The lower half of an argument comes first on these processors.
        lines.append(_line(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * check.argument))
        lines.append(_line(_AND, 0, 0, check.mask))
        for index, value in enumerate(check.values):
            left = len(check.values) - index
            lines.append(_line(_EQUAL, left, 0, value))
        lines += [_line(_JUMP, 0, 0, 1), refuse] if check.refuse else [refuse]
    return [*lines, _line(_RETURN, 0, 0, _ALLOW if rule.checks else _ERRNO | rule.error)]


def _line(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
