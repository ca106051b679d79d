"""System calls that a submission cannot make: no lab needs them, and exploits use them.

This is a short list of refusals, not a list of permissions: torch, numpy and Python's own modules
must run unchanged. Memory that no limit counts is refused as well: memfd, System V, shared pages
without a file, pages in pipes, locks, rules of Landlock. So is whatever reaches the whole machine
even from within namespaces.

This file holds the list for every level that confines, and turns lists into filters;
seccomp_landlock.py holds what is refused in addition if there are no namespaces.

Tested in tests/gradekit/untrusted/test_seccomp.py and tests/attacks/test_kernel_services.py.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from gradekit.untrusted import libc

# name: (number on x86_64, number on aarch64)
REFUSED = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    # It shows which files are in memory, so who was here before can leave a message in them.
    "cachestat": (451, 451),
    "fanotify_init": (300, 262),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    # These two show which programs of the machine are started, and which files are read.
    "inotify_add_watch": (254, 27),
    "inotify_init1": (294, 26),
    # All processes of the machine together have 65,536 places.
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # Like cachestat, for files that belong to the grader's own user.
    "mincore": (27, 232),
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
    # A pipe would keep whole huge pages, of which it counts one small page.
    "vmsplice": (278, 75),
}
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_MODE_FILTER = 2


@dataclass(frozen=True)
class ArgumentRule:
    """Whether a call may be made with this argument.

    Attributes:
        argument: its number; only its lower 32 bits are checked.
        values: the values with which the call is allowed; with `refuse`, those with which it is
            refused.
        mask: the bits that are compared with `values`.
        refuse: whether `values` are refused.
    """

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    refuse: bool = False


@dataclass(frozen=True)
class Rule:
    """When one system call is allowed.

    Attributes:
        numbers: its number on x86_64 and on aarch64; None if there is no such call.
        checks: the call is allowed if all of these hold; without any, it is never allowed.
        error: the error of a refused call; 0 to report success.
    """

    numbers: tuple[int | None, int | None]
    checks: tuple[ArgumentRule, ...] = ()
    error: int = errno.EPERM


# Each session gets its own share of CPU time, so a submission cannot create a second session. The
# call reports success, which is all that subprocess needs to start a process in a new session.
ONE_SESSION = Rule((112, 157), error=0)

_MMAP, _FCNTL = (9, 222), (72, 25)
_SHARED_WITHOUT_A_FILE, _HUGE_PAGES = 0x21, 0x40000
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW = 6, 7, 37, 38
_F_SETLEASE, _F_NOTIFY = 1024, 1026
_RWF_NOWAIT = 8
CLONE, CLONE3, _CLOSE_RANGE = (56, 220), (435, 435), (436, 436)
_CLONE_FILES, _CLONE_THREAD, _CLOSE_RANGE_UNSHARE = 0x400, 0x10000, 2
# What a submission cannot do at any level that confines.
OF_A_SUBMISSION = (
    ONE_SESSION,
    # Such pages exist until the last process unmaps them. A process that says that it does not need
    # them now has none of them in its own count, and still keeps them all.
    Rule(
        _MMAP,
        (
            ArgumentRule(3, (_SHARED_WITHOUT_A_FILE,), _SHARED_WITHOUT_A_FILE, refuse=True),
            ArgumentRule(3, (_HUGE_PAGES,), _HUGE_PAGES, refuse=True),
        ),
    ),
    # The kernel keeps any number of locks for one open file, and counts none. They report success:
    # files of a submission are its own. The other two show who opens a file or folder, and when.
    Rule(
        _FCNTL,
        (
            ArgumentRule(
                1,
                (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETLEASE, _F_NOTIFY),
                refuse=True,
            ),
        ),
        error=0,
    ),
    # "Read only what is in memory" says which files are, like cachestat.
    Rule((327, 286), (ArgumentRule(5, (_RWF_NOWAIT,), _RWF_NOWAIT, refuse=True),)),  # preadv2
    # These would write the whole machine's files to its disks at once, and keep them busy.
    Rule((162, 81), error=0),  # sync
    Rule((306, 267), error=0),  # syncfs
    Rule((253, None)),  # inotify_init, of which a user has 128
    # As ONE_TABLE says.
    Rule(_CLOSE_RANGE, (ArgumentRule(2, (_CLOSE_RANGE_UNSHARE,), _CLOSE_RANGE_UNSHARE, True),)),
    # A ruleset holds any number of rules, and no limit counts them.
    *(Rule((number, number)) for number in (444, 445, 446)),  # landlock_…
)
# A thread with a table of open files of its own: /proc shows one table of a process, so the sockets
# in another would not be counted.
ONE_TABLE = ArgumentRule(0, (_CLONE_THREAD,), _CLONE_THREAD | _CLONE_FILES, refuse=True)
# Its flags are in memory, where a filter cannot see them; callers fall back to clone.
NO_CLONE3 = Rule(CLONE3, error=errno.ENOSYS)
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
# Other kinds are not all separated by a network namespace: AF_VSOCK reaches services of the machine
# and, on a virtual machine, of its host.
SEPARATED_SOCKETS = Rule(
    (41, 198),
    (ArgumentRule(0, (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)),),
    errno.EAFNOSUPPORT,
)


def available() -> bool:
    """Whether the list is known for this machine's processor."""
    return platform.machine() in _ARCHITECTURES


def install(more: Iterable[Rule] = ()) -> None:
    """Refuse the listed calls, and those of the rules `more`, here and in all children.

    Does nothing on a processor that the list does not know. Needs no_new_privs.

    Raises:
        IsolationError: the kernel refused the filter.
    """
    if not available():
        return
    program = _program(*_ARCHITECTURES[platform.machine()], tuple(more))
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc.prctl(libc.PR_SET_SECCOMP, _MODE_FILTER, header)


def _program(column: int, architecture: int, more: tuple[Rule, ...]) -> bytes:
    lines = [
        _line(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _line(_EQUAL, 1, 0, architecture),
        _line(_RETURN, 0, 0, _KILL),
        _line(_LOAD, 0, 0, _NUMBER_AT),
        # The same calls by their other numbers (x32); aarch64 has no numbers that high.
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
    """The lines for one call; each path through them ends in a return."""
    refuse = _line(_RETURN, 0, 0, _ERRNO | rule.error)
    lines = []
    for check in rule.checks:
        # On these processors the lower half of an argument comes first.
        lines.append(_line(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * check.argument))
        lines.append(_line(_AND, 0, 0, check.mask))
        for index, value in enumerate(check.values):
            left = len(check.values) - index
            lines.append(_line(_EQUAL, left, 0, value))
        lines += [_line(_JUMP, 0, 0, 1), refuse] if check.refuse else [refuse]
    return [*lines, _line(_RETURN, 0, 0, _ALLOW if rule.checks else _ERRNO | rule.error)]


def _line(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
