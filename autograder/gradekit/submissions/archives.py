"""Files in a folder or a zip, one by one, even if the archive is hostile.

Nothing is unpacked to disk here. Names are checked, links are left out, and sizes are counted while
reading, because the archive may state wrong ones.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from gradekit.errors import RefusedError

MOST_FILE_BYTES = 64 * 2**20
MOST_NAMES = 50_000
MOST_LIST_BYTES = 8 * 2**20
_MOST_PARTS = 12
_MOST_PART_BYTES = 200
_CHUNK = 2**16
_LEAST_NAME_BYTES = 46  # that one name takes in a zip's list
_EXTENDED_TIMESTAMP = 0x5455
_IS_UTF8 = 0x800
_MADE_ON_WINDOWS = 0  # or on MS-DOS; Unix is 3
# Unpacking these never returns more bytes than requested. Four kilobytes of bzip2 can become four
# gigabytes at once.
_READ = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_IGNORED = {
    "__MACOSX", "__pycache__", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini",
    ".git", ".github", ".gitignore", ".gitattributes",
}  # fmt: skip


# Python's zipfile raises these for a file that is not a zip, or is damaged.
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,
    IndexError,
    MemoryError,
)


@dataclass(frozen=True)
class FoundFile:
    """One file that was found.

    Attributes:
        path: in its folder or zip, with forward slashes, never absolute or upwards.
        when: the time of its last change, according to the folder or zip.
        read: returns its bytes; raises RefusedError.
    """

    path: PurePosixPath
    when: datetime | None
    read: Callable[[], bytes]


@dataclass(frozen=True)
class UnsafeName:
    """A name that was found and is refused, and why."""

    name: str
    why: str


def folder_items(folder: Path) -> Iterator[FoundFile | UnsafeName]:
    """The files below `folder`, in order; links are named and not followed.

    A folder that cannot be read is named, too.
    """
    unread: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=unread.append):
        folders[:] = sorted(name for name in folders if name not in _IGNORED)
        for name in [*folders, *sorted(set(files) - _IGNORED)]:
            path, is_folder = Path(parent, name), name in folders
            shown = _clean(path.relative_to(folder).as_posix())
            if why := _why_not_taken(path, shown, is_folder):
                yield UnsafeName(shown, why)
            elif not is_folder:
                yield FoundFile(PurePosixPath(shown), changed_at(path), partial(read_file, path))
    for error in unread:
        yield UnsafeName(_clean(os.path.relpath(error.filename, folder)), _cannot_be_read(error))


def _why_not_taken(path: Path, shown: str, is_folder: bool) -> str:
    """Why a file is not taken, or a folder not gone into; empty if it is."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:  # for example of a path that is too long
        return _cannot_be_read(error)
    if stat.S_ISLNK(mode):
        return "it is a symbolic link"
    if is_folder:
        return ""
    return _why_no_path(shown) if stat.S_ISREG(mode) else "it is not a regular file"


def _cannot_be_read(error: OSError) -> str:
    return f"it cannot be read ({error.strerror})"


def zip_items(
    archive: Path | bytes,
    zone: tzinfo,
    most: int = MOST_FILE_BYTES,
    count: Callable[[int], None] = lambda names: None,
    of_one_student: bool = False,
) -> Iterator[FoundFile | UnsafeName]:
    """The files in a zip, in order.

    Args:
        archive: the file, or its bytes.
        zone: the time zone of the times in it, which a zip does not contain.
        most: bytes that one file in it may have.
        count: is called with the number of names that were read, even if the zip is refused; may
            raise RefusedError.
        of_one_student: whether a student packed it, so that its folders name nobody else.

    Raises:
        RefusedError: it is not a zip, or contains no files or too many names.
    """
    with _file(archive) as file, _listed(file, count) as source:
        entries = source.infolist()
        count(len(entries))
        if len(entries) > MOST_NAMES:
            raise RefusedError(f"it contains {len(entries)} names, more than {MOST_NAMES}")
        if all(entry.filename.endswith("/") for entry in entries):
            raise RefusedError("it contains no files")
        from_windows = of_one_student or all(map(_is_from_windows, entries))
        for entry in entries:
            name = _name_in(entry)
            shown = _clean(name.replace("\\", "/") if from_windows else name)
            is_folder = shown.endswith("/") and not entry.file_size
            if is_folder or any(part in _IGNORED for part in PurePosixPath(shown).parts):
                continue
            why = _why_unsafe(entry, name) or _why_no_path(shown)
            if why:
                yield UnsafeName(shown, why)
                continue
            read = _entry_reader(source, entry, most)
            yield FoundFile(PurePosixPath(shown), _moment(entry, zone), read)


def _file(archive: Path | bytes) -> BinaryIO:
    if isinstance(archive, bytes):
        return io.BytesIO(archive)
    try:
        # A pipe would wait for somebody who writes into it.
        handle = os.open(archive, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise RefusedError("it is not a file")
        return open(handle, "rb")
    except OSError as error:
        raise RefusedError(_cannot_be_read(error)) from None


def _listed(file: BinaryIO, count: Callable[[int], None]) -> zipfile.ZipFile:
    """The zip in `file`, with its list of names read. Raises RefusedError."""
    portions = _InPortions(file)
    try:
        return zipfile.ZipFile(portions)
    except RefusedError:
        raise
    except _DAMAGES as error:
        count(portions.total // _LEAST_NAME_BYTES)  # so many may have been read before the damage
        if not isinstance(error, zipfile.BadZipFile) or "not a zip" not in str(error):
            raise RefusedError(f"it is a damaged zip ({error})") from None
        raise RefusedError("it is not a zip, or its end is missing") from None


class _InPortions:
    """A file that is read in small parts, because a zip's list of names has no other limit."""

    def __init__(self, file: BinaryIO) -> None:
        self.seek, self.tell, self.close = file.seek, file.tell, file.close
        self._read = file.read
        self.total = 0

    def seekable(self) -> bool:
        """Always true, as for the file in it."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes. Raises RefusedError."""
        data = self._read(MOST_LIST_BYTES + 1 if size < 0 else min(size, MOST_LIST_BYTES + 1))
        if len(data) > MOST_LIST_BYTES:
            raise RefusedError("its list of names is too long")
        self.total += len(data)
        return data


def is_zip(path: PurePosixPath | Path) -> bool:
    """Whether a name is that of a zip."""
    return path.suffix.lower() == ".zip"


def _name_in(entry: zipfile.ZipInfo) -> str:
    """An entry's name; macOS writes UTF-8 without saying so, and zipfile then reads code page 437.

    Text in code page 437 that is not ASCII is hardly ever valid UTF-8, too.
    """
    if entry.flag_bits & _IS_UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _is_from_windows(entry: zipfile.ZipInfo) -> bool:
    """Whether a backslash in this name stands between folders, as some Windows programs write it.

    Elsewhere it is a letter of a file's name, which a student may choose: the system that exports
    the hand-ins writes slashes, and a folder of that name would be somebody else's hand-in.
    """
    name = entry.filename
    return entry.create_system == _MADE_ON_WINDOWS and "\\" in name and "/" not in name


def _why_unsafe(entry: zipfile.ZipInfo, name: str) -> str:
    name = name.replace("\\", "/")
    parts = name.split("/")
    if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        return "its path is absolute"
    if ".." in parts:
        return "its path leads out of the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "it is a symbolic link"
    if entry.flag_bits & 1:
        return "it is encrypted; hand it in without a password"
    if entry.compress_type not in _READ:
        return "it is packed in a way that `lab collect` cannot read; pack it as an ordinary zip"
    return ""


def _why_no_path(shown: str) -> str:
    """Why a cleaned name cannot be a file's path in a folder; empty if it can."""
    parts = PurePosixPath(shown).parts
    if not parts:
        return "it has no name"
    if len(parts) > _MOST_PARTS or any(len(part.encode()) > _MOST_PART_BYTES for part in parts):
        return "its path is too long"
    return ""


def changed_at(path: Path) -> datetime | None:
    """The time of a file's last change; None if it is not a date of the calendar."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    except (OSError, ValueError, OverflowError):  # for example a date that no calendar has
        return None


def _entry_reader(
    source: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int
) -> Callable[[], bytes]:
    def read() -> bytes:
        parts, total = [], 0
        try:
            with source.open(entry) as file:
                while chunk := file.read(_CHUNK):
                    total += len(chunk)
                    if total > most:
                        raise RefusedError(f"it has more than {most // 2**20} MiB", total)
                    parts.append(chunk)
        except RefusedError:
            raise
        except _DAMAGES as error:
            raise RefusedError(f"it is damaged in the archive ({error})", total) from None
        return b"".join(parts)

    return read


def read_file(path: Path) -> bytes:
    """A regular file's bytes; links are not followed. Raises RefusedError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            data = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise RefusedError(_cannot_be_read(error)) from None
    if len(data) > MOST_FILE_BYTES:
        raise RefusedError(f"it has more than {MOST_FILE_BYTES // 2**20} MiB", len(data))
    return data


def _moment(entry: zipfile.ZipInfo, zone: tzinfo) -> datetime | None:
    if (exact := _seconds(entry.extra)) is not None:
        return datetime.fromtimestamp(exact, UTC)
    try:
        moment = datetime(*entry.date_time, tzinfo=zone)
    except ValueError:
        return None
    return moment if moment.year > 1980 else None  # 1980 in a zip means that the time is unknown


def _seconds(extra: bytes) -> int | None:
    """The time in a name's "extended timestamp", in seconds since 1970; most zips have none.

    The usual date in a zip is by the clock of the machine that packed it, in whatever zone.
    """
    position = 0
    while position + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, position)
        position += 4
        if kind == _EXTENDED_TIMESTAMP and size >= 5 and position + 5 <= len(extra):
            has, seconds = struct.unpack_from("<Bi", extra, position)
            return int(seconds) if has & 1 and seconds > 0 else None
        position += size
    return None


def _clean(name: str) -> str:
    """A path that can be shown and written: letters in one form, no control marks or backslash."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = unicodedata.normalize("NFC", text).replace("\\", "_")
    return "".join("_" if unicodedata.category(mark)[0] == "C" else mark for mark in text)
