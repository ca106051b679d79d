"""System calls refused where no namespace stands between a submission and the machine.

Landlock guards what is in files. What it leaves to others is here: sockets of every kind; the
rights, owners and dates of files; other processes of the same user by ways that are no signals;
and the way to namespaces, in which a process would have capabilities.
"""

from __future__ import annotations

import errno

from gradekit.untrusted import seccomp
from gradekit.untrusted.seccomp import Check, Rule

# name: (number on x86_64, number on aarch64)
_REFUSED = {
    # A socket reaches services of this machine by their paths, and other machines. `socketpair`
    # stays, for streams: it reaches nobody.
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "socket": (41, 198),
    # Who looks at which file, and when.
    "fanotify_init": (300, 262),
    "inotify_add_watch": (254, 27),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "listmount": (458, 458),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "statmount": (457, 457),
    "syslog": (103, 116),
    # What other processes of the same user share.
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
    # Files of the same user, whatever Landlock says of their contents.
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
# Attributes of a file, whatever Landlock says of its contents; as if none were supported.
_UNSUPPORTED = {
    "fgetxattr": (193, 10),
    "flistxattr": (196, 13),
    "getxattr": (191, 8),
    "getxattrat": (464, 464),
    "lgetxattr": (192, 9),
    "listxattr": (194, 11),
    "listxattrat": (465, 465),
    "llistxattr": (195, 12),
}
# Programs that copy and unpack files make these calls; none of them needs them to have an effect.
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
_CLONE, _CLONE3 = (56, 220), (435, 435)
_FCNTL, _IOCTL, _PRCTL = (72, 25), (16, 29), (157, 167)
_MKDIR, _MKDIRAT, _UMASK = (83, None), (258, 34), (95, 166)
_PRLIMIT, _SCHED_SETAFFINITY = (302, 261), (203, 122)
_SOCKETPAIR = (53, 199)

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_F_SETLEASE, _F_NOTIFY = 1024, 1026
_NAMESPACES = 0x7E020000
_OWNER = 0o700
_PR_SET_DUMPABLE = 4
# Is it a terminal, how wide is it, what waits to be read, close it on exec, do not block. The
# others set flags on files that can only be read.
_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452)


def rules() -> tuple[Rule, ...]:
    """What is refused besides the list that holds behind every wall."""
    by_argument = (
        Rule(_SOCKETPAIR, (Check(0, (_AF_UNIX,)), Check(1, (_SOCK_STREAM,), _SOCK_TYPE))),
        Rule(_PRLIMIT, (Check(0, (0,)),)),
        Rule(_SCHED_SETAFFINITY, (Check(0, (0,)),)),
        Rule(_FCNTL, (Check(1, (_F_SETLEASE, _F_NOTIFY), refuse=True),)),
        Rule(_IOCTL, (Check(1, _IOCTLS),), errno.ENOTTY),
        Rule(_PRCTL, (Check(0, (_PR_SET_DUMPABLE,), refuse=True),)),
        # Folders that their owner cannot enter could neither be measured nor removed.
        Rule(_MKDIR, (Check(1, (_OWNER,), _OWNER),)),
        Rule(_MKDIRAT, (Check(2, (_OWNER,), _OWNER),)),
        Rule(_UMASK, (Check(0, (0,), _OWNER),)),
        Rule(_CLONE, (Check(0, (0,), _NAMESPACES),)),
        Rule(_CLONE3, error=errno.ENOSYS),  # its flags lie in memory; everybody falls back to clone
    )
    return (
        *(Rule(numbers) for numbers in _REFUSED.values()),
        *(Rule(numbers, error=errno.ENOTSUP) for numbers in _UNSUPPORTED.values()),
        *(Rule(numbers, error=0) for numbers in _PRETENDED.values()),
        seccomp.ONE_SESSION,
        *by_argument,
    )
