"""System calls that are refused if no namespace separates a submission from the machine.

Landlock protects the contents of files. This list covers the rest: sockets of every kind; the
rights, owners and dates of files; access to other processes of the same user other than by
signals; and the way to namespaces, in which a process would have capabilities.

Tested in tests/gradekit/untrusted/test_seccomp.py and tests/attacks/test_second_level.py.
"""

from __future__ import annotations

import errno

from gradekit.untrusted import libc, seccomp
from gradekit.untrusted.seccomp import ArgumentRule, Rule

# name: (number on x86_64, number on aarch64)
_REFUSED = {
    # A socket reaches services of this machine by their paths, and other machines. `socketpair`
    # stays, for streams: both of its ends are here.
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "socket": (41, 198),
    # These show what the machine mounts and stores.
    "listmount": (458, 458),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "statmount": (457, 457),
    "syslog": (103, 116),
    # These reach what other processes of the same user share.
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setpriority": (141, 140),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    # These change files of the same user, even those whose contents Landlock protects.
    "chroot": (161, 51),
    "file_setattr": (469, 469),
    "fremovexattr": (199, 16),
    "fsetxattr": (190, 7),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "open_tree_attr": (467, 467),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
}
# These read attributes of a file, even if Landlock protects its contents. They fail as if the file
# system supported no attributes.
_UNSUPPORTED = {
    "fgetxattr": (193, 10),
    "file_getattr": (468, 468),
    "flistxattr": (196, 13),
    "getxattr": (191, 8),
    "getxattrat": (464, 464),
    "lgetxattr": (192, 9),
    "listxattr": (194, 11),
    "listxattrat": (465, 465),
    "llistxattr": (195, 12),
}
# Programs that copy and unpack files make these calls, and none of them needs an effect.
_PRETENDED = {
    "chmod": (90, None),
    "chown": (92, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "futimesat": (261, None),
    "lchown": (94, None),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
}
_IOCTL, _PRCTL = (16, 29), (157, 167)
_MKDIR, _MKDIRAT, _UMASK = (83, None), (258, 34), (95, 166)
_PRLIMIT, _SCHED_SETAFFINITY = (302, 261), (203, 122)
_SOCKETPAIR = (53, 199)

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_NAMESPACES = 0x7E020000
_OWNER = 0o700
# Whether it is a terminal, its width, the bytes that wait to be read, close on exec, do not block.
# The others can set flags even on files that are open only for reading.
_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452)


def rules() -> tuple[Rule, ...]:
    """What is refused in addition to the list of every level."""
    by_argument = (
        Rule(
            _SOCKETPAIR,
            (ArgumentRule(0, (_AF_UNIX,)), ArgumentRule(1, (_SOCK_STREAM,), _SOCK_TYPE)),
        ),
        Rule(_PRLIMIT, (ArgumentRule(0, (0,)),)),
        Rule(_SCHED_SETAFFINITY, (ArgumentRule(0, (0,)),)),
        Rule(_IOCTL, (ArgumentRule(1, _IOCTLS),), errno.ENOTTY),
        Rule(_PRCTL, (ArgumentRule(0, (libc.PR_SET_DUMPABLE,), refuse=True),)),
        # The server could neither measure nor remove folders that their owner cannot enter.
        Rule(_MKDIR, (ArgumentRule(1, (_OWNER,), _OWNER),)),
        Rule(_MKDIRAT, (ArgumentRule(2, (_OWNER,), _OWNER),)),
        Rule(_UMASK, (ArgumentRule(0, (0,), _OWNER),)),
        Rule(seccomp.CLONE, (ArgumentRule(0, (0,), _NAMESPACES), seccomp.ONE_TABLE)),
        seccomp.NO_CLONE3,
    )
    return (
        *(Rule(numbers) for numbers in _REFUSED.values()),
        *(Rule(numbers, error=errno.ENOTSUP) for numbers in _UNSUPPORTED.values()),
        *(Rule(numbers, error=0) for numbers in _PRETENDED.values()),
        *seccomp.OF_A_SUBMISSION,
        *by_argument,
    )
