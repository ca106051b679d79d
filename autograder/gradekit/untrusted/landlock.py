"""Landlock: the kernel's own way to give up rights for good, for any user and without namespaces.

A process that has entered a domain opens only the files that a rule names, and so do its children.
With `SCOPES` it also signals no process outside its domain and reaches no abstract socket out
there; what it starts can enter domains of its own within, which it can still signal.

Not covered by the kernel, so that others must see to it: other sockets than TCP (seccomp.py), a
file's rights, owner and dates (seccomp.py), and that a path exists (nobody).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

# Scopes for signals and abstract sockets, which came with Linux 6.12.
NEEDED_ABI = 6

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG, _MAKE_FIFO, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 10, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ALL_FILES = (1 << 16) - 1
_ALL_TCP = 0b11
_ALL_SCOPES = 0b11
_SIGNALS = 0b10
# What a rule on something that is no folder may speak of.
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

READ = _READ_FILE | _READ_DIR
LIST = _READ_DIR
RUN = READ | _EXECUTE
USE = _READ_FILE | _WRITE_FILE | _TRUNCATE
# No _EXECUTE: a program that its owner cannot read would hide its memory from who counts it.
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
    """The version of the kernel's Landlock; 0 where it has none, or does not use it."""
    return max(0, _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))


def enter_domain(rights: Mapping[Path, int]) -> None:
    """From now on, for this process and its children: these files, no TCP, no one outside.

    Needs no_new_privs. A path that does not exist is left out.

    Args:
        rights: what may be done with a path and, where it is a folder, all below it.

    Raises:
        OSError: the kernel refused.
    """
    ruleset = _create(_ALL_FILES, _ALL_TCP, _ALL_SCOPES)
    try:
        for path, allowed in rights.items():
            _allow(ruleset, path, allowed)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def leave_signals_behind() -> None:
    """Enter a domain that only keeps this process from signalling any outside of it.

    Raises:
        OSError: the kernel refused.
    """
    ruleset = _create(_REFER, 0, _SIGNALS)
    try:
        # Moving a file to another folder is refused by every domain that does not allow it.
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
    return _check(_libc().syscall(_CREATE_RULESET, attributes, size, 0), "a Landlock ruleset")


def _allow(ruleset: int, path: Path, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            allowed &= _OF_A_FILE
        rule = struct.pack("=Qi", allowed, place)
        result = _libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        _check(result, f"a Landlock rule for {path}")
    finally:
        os.close(place)


def _restrict(ruleset: int) -> None:
    # What student code is refused is no news for the machine's audit log.
    flags = _NO_LOG if abi() >= _LOG_ABI else 0
    _check(_libc().syscall(_RESTRICT_SELF, ruleset, flags), "entering a Landlock domain")


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
