"""Landlock: the kernel's way to give up rights for good, for any user and without namespaces.

A process that has entered a domain can open only the files that a rule names, and so can its
children. It also cannot signal a process outside its domain, nor reach an abstract socket there. A
process that it starts can enter a narrower domain, and can still be signalled from this one.

Landlock does not cover sockets other than TCP, nor a file's rights, owner and dates:
seccomp_landlock.py refuses those calls. Nothing hides that a path exists.

Tested in tests/gradekit/untrusted/test_landlock.py and tests/attacks/test_second_level.py.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradekit.untrusted.libc import c_library, checked

# The first with scopes for signals and abstract sockets (Linux 6.12).
NEEDED_ABI = 6

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG, _MAKE_FIFO, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 10, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ALL_FILES = (1 << 16) - 1
_ALL_TCP = 0b11
_ALL_SCOPES = 0b11
_SIGNALS = 0b10
# The rights that a rule on a path that is not a folder may name.
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

READ = _READ_FILE | _READ_DIR
LIST = _READ_DIR
RUN = READ | _EXECUTE
USE = _READ_FILE | _WRITE_FILE | _TRUNCATE
# No _EXECUTE: a program that its owner cannot read would hide its memory from the fork server.
WRITE = (
    READ | _WRITE_FILE | _TRUNCATE | _REFER | _REMOVE_DIR | _REMOVE_FILE
    | _MAKE_DIR | _MAKE_REG | _MAKE_FIFO | _MAKE_SYM
)  # fmt: skip

# The same numbers on every processor.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_LOG, _LOG_ABI = 1, 7


def abi() -> int:
    """The version of the kernel's Landlock; 0 if it has none, or does not use it."""
    return max(0, c_library().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))


def enter_domain(rights: Mapping[Path, int]) -> None:
    """Allow only these files, no TCP and no signals outside, to this process and its children.

    Needs no_new_privs. A path that does not exist is left out.

    Args:
        rights: for each path, the rights to it and, if it is a folder, to everything below it.

    Raises:
        IsolationError: the kernel refused.
    """
    ruleset = _create(_ALL_FILES, _ALL_TCP, _ALL_SCOPES)
    try:
        for path, allowed in rights.items():
            _allow(ruleset, path, allowed)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def forbid_signals_outside() -> None:
    """Enter a domain whose only effect is that this process cannot signal any outside of it.

    Raises:
        IsolationError: the kernel refused.
    """
    ruleset = _create(_REFER, 0, _SIGNALS)
    try:
        # Every domain refuses to move a file to another folder, unless a rule allows it.
        _allow(ruleset, Path("/"), _REFER)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def each(paths: Iterable[Path | str], allowed: int) -> dict[Path, int]:
    """The same rights for each of `paths`."""
    return dict.fromkeys(map(Path, paths), allowed)


def _create(files: int, network: int, scopes: int) -> int:
    attributes = struct.pack("QQQ", files, network, scopes)
    size = ctypes.c_size_t(len(attributes))
    return checked(c_library().syscall(_CREATE_RULESET, attributes, size, 0), "a Landlock ruleset")


def _allow(ruleset: int, path: Path, allowed: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            allowed &= _OF_A_FILE
        rule = struct.pack("=Qi", allowed, handle)
        result = c_library().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        checked(result, f"a Landlock rule for {path}")
    finally:
        os.close(handle)


def _restrict(ruleset: int) -> None:
    # The machine's audit log need not record what student code is refused.
    flags = _NO_LOG if abi() >= _LOG_ABI else 0
    checked(c_library().syscall(_RESTRICT_SELF, ruleset, flags), "entering a Landlock domain")
