"""The files in ``submitted/<student>/<lab>/``, as bytes and within limits.

A folder may contain anything. Links in it are not followed, and nothing in it is executed or
trusted. A run that finds nothing new only reads a class's folders, so this file does not import
nbformat.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gradekit.results.records import digest_of

SUBMITTED = "submitted"
TIMESTAMP = "timestamp.txt"
MOST_BYTES = 20 * 2**20
MOST_FILES = 100
MOST_NOTEBOOKS = 20  # each is opened, to find the one to grade
MOST_TOTAL_BYTES = 64 * 2**20
_DEPTH = 4
_MOST_NOTES = 20
_IGNORED = {"__MACOSX", "__pycache__", TIMESTAMP, "submission_secret.txt", "Thumbs.db"}
_YEARS = (1970, 2999)
_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")


@dataclass(frozen=True)
class SubmittedFiles:
    """The files in one student's folder, not parsed: enough to know whether they are new.

    Attributes:
        files: contents by relative path; no links, no hidden files.
        modified: the time of each file's last change, in seconds since 1970.
        notes: omitted files, one sentence each.
        digest: of names and contents.
        submitted_at: the time in timestamp.txt, or None.
        unread: why the grader itself could not read a notebook or a folder, one sentence each;
            they are among the notes, too.
    """

    student: str
    lab: str
    files: Mapping[str, bytes]
    modified: Mapping[str, float]
    notes: tuple[str, ...]
    digest: str
    submitted_at: datetime | None
    unread: tuple[str, ...] = ()


def find_submissions(
    root: Path, lab: str, students: Sequence[str] | None = None
) -> Iterator[SubmittedFiles]:
    """The submissions for `lab` in ``root/submitted``, by student, one at a time.

    Those of :func:`folders_not_utf8` are left out: gradebook and page cannot contain their names.
    """
    base = root / SUBMITTED
    for name in sorted(os.listdir(base)) if base.is_dir() else []:
        if name.startswith(".") or (students is not None and name not in students):
            continue
        if not _is_text(name):
            continue
        folder = base / name / lab
        if folder.is_dir():
            yield read_submitted(folder, name, lab)


def folders_not_utf8(root: Path) -> list[str]:
    """The folders in ``root/submitted`` whose names are not UTF-8, in readable form."""
    base = root / SUBMITTED
    names = sorted(os.listdir(base)) if base.is_dir() else []
    return [ascii(os.fsencode(name))[1:] for name in names if not _is_text(name)]


def read_submitted(folder: Path, student: str, lab: str) -> SubmittedFiles:
    """The files in one folder."""
    gathered = _Gathered()
    if folder.is_symlink() or folder.parent.is_symlink():
        gathered.notes.append(f"{folder.name} is a symbolic link and was not followed.")
    else:
        gathered.walk(folder, "", _DEPTH)
    stamp, note = _timestamp(folder)
    more = len(gathered.notes) - _MOST_NOTES
    cut = [f"There are {more} more files of that kind."] if more > 0 else []
    notes = [*gathered.notes[:_MOST_NOTES], *cut, *([note] if note else [])]
    files = gathered.files
    parts = [part for name in sorted(files) for part in (_bytes(name), files[name])]
    digest = digest_of(*parts, *map(_bytes, gathered.notes))
    unread = tuple(gathered.unread[:_MOST_NOTES])
    return SubmittedFiles(
        student, lab, files, gathered.modified, tuple(notes), digest, stamp, unread
    )


@dataclass
class _Count:
    """The files of one kind that were read."""

    files: int = 0
    size: int = 0


@dataclass
class _Gathered:
    """The files below a folder, within limits."""

    files: dict[str, bytes] = field(default_factory=dict)
    modified: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    # Counted apart, so that data files cannot crowd out notebooks.
    notebooks: _Count = field(default_factory=_Count)
    others: _Count = field(default_factory=_Count)

    def walk(self, folder: Path, prefix: str, depth: int) -> None:
        try:
            with os.scandir(folder) as entries:
                # Files first, so that a folder full of data does not come before the notebook.
                ordered = sorted(entries, key=lambda entry: (_is_folder(entry), entry.name))
        except OSError as error:
            shown = _bytes(prefix or folder.name).decode("utf-8", "replace")
            self._cannot_read(shown, error)
            return
        for entry in ordered:
            if entry.name.startswith((".", "~$")) or entry.name in _IGNORED:
                continue
            name = _bytes(prefix + entry.name).decode("utf-8", "replace")
            if entry.is_symlink():
                self.notes.append(f"{name} is a symbolic link and was not followed.")
            elif entry.is_dir():
                if entry.name.endswith(".ipynb"):
                    self.notes.append(f"{name} is a folder, not a notebook.")
                if depth:
                    self.walk(Path(entry.path), f"{prefix}{entry.name}/", depth - 1)
            elif not entry.is_file():
                self.notes.append(f"{name} is neither file nor folder and was left out.")
            else:
                self._add(name, entry.path)

    def _cannot_read(self, name: str, error: OSError) -> None:
        self.notes.append(f"{name} cannot be read ({error.strerror}).")
        self.unread.append(self.notes[-1])

    def _add(self, name: str, path: str) -> None:
        notebook = is_notebook(name)
        if not notebook and _came_with_the_lab(name):
            return
        count = self.notebooks if notebook else self.others
        most, kind = (MOST_NOTEBOOKS, "notebooks") if notebook else (MOST_FILES, "files")
        if count.files >= most:
            self.notes.append(f"{name} is one of more than {most} {kind} and was left out.")
            return
        left = MOST_TOTAL_BYTES - count.size
        try:
            data, when, size = _read(path, min(MOST_BYTES, left) if notebook else left)
        except OSError as error:
            if notebook:
                self._cannot_read(name, error)
            else:
                self.notes.append(f"{name} cannot be read ({error.strerror}).")
            return
        if data is None:
            advice = "; clear its outputs and hand in again" if notebook else ""
            self.notes.append(
                f"{name} is {size / 2**20:.0f} MiB, which is too large to be read{advice}."
            )
            return
        self.files[name] = data
        self.modified[name] = when
        count.files += 1
        count.size += len(data)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _read(path: str, most: int) -> tuple[bytes | None, float, int]:
    """A regular file's bytes (None if more than `most`), its time and its size."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(0, "it is not a regular file")
        data = None
        if about.st_size <= most:
            with open(handle, "rb", closefd=False) as file:
                data = file.read(most + 1)
        return (None if data is None or len(data) > most else data), about.st_mtime, about.st_size
    finally:
        os.close(handle)


def submission_time(folder: Path) -> datetime | None:
    """When the hand-in in `folder` was handed in; None if that is unknown or nothing is there."""
    return _timestamp(folder)[0]


def _came_with_the_lab(name: str) -> bool:
    """Whether a file is of the library that students get; the grader has its own in its place.

    nbgrader's exchange hands in all of a lab's folder, and so does many a student.
    """
    return "attnlab" in name.split("/")[:-1]


def _timestamp(folder: Path) -> tuple[datetime | None, str]:
    """The time in timestamp.txt, and a note if it cannot be read."""
    try:
        data, _, _ = _read(str(folder / TIMESTAMP), 200)
    except OSError:
        return None, ""
    moment = parse_timestamp((data or b"").decode("utf-8", "replace"))
    unread = f"{TIMESTAMP} does not hold a time, so the hand-in counts as on time."
    return moment, "" if moment else unread


def parse_timestamp(text: str, course_zone: tzinfo = UTC) -> datetime | None:
    """The time in a line like ``2026-09-20 21:59:00.123456 UTC``, as nbgrader writes; or None.

    Args:
        course_zone: its own abbreviations are known, too, such as CEST, because nbgrader writes
            them if it is set to the course's time zone.
    """
    parts = text.strip().split(" ")
    name = parts.pop() if len(parts) == 3 else "UTC"
    try:
        moment = datetime.fromisoformat(" ".join(parts))
        if moment.tzinfo is None:
            moment = _in_zone(moment, name, course_zone)
        moment = moment.astimezone(UTC)
    except (ValueError, ZoneInfoNotFoundError, OSError, OverflowError):
        return None
    # Close to the ends of the calendar, converting to another time zone would fail.
    return moment if _YEARS[0] <= moment.year <= _YEARS[1] else None


def _in_zone(moment: datetime, name: str, course_zone: tzinfo) -> datetime:
    """A local time in a zone: an offset, an abbreviation of the course's zone, or another name.

    Raises:
        ValueError, ZoneInfoNotFoundError, OSError: there is no such zone.
    """
    if offset := _OFFSET.fullmatch(name):
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return moment.replace(tzinfo=timezone(span if offset[1] == "+" else -span))
    if name in ("UTC", "GMT", "Z"):
        return moment.replace(tzinfo=UTC)
    # While clocks are put back, the same hour comes twice; only the abbreviation says which.
    for fold in (0, 1):
        local = moment.replace(tzinfo=course_zone, fold=fold)
        if local.tzname() == name:
            return local
    return moment.replace(tzinfo=ZoneInfo(name))


def format_timestamp(moment: datetime) -> str:
    """The line in nbgrader's timestamp.txt."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def is_notebook(name: str) -> bool:
    """Whether a file's name is that of a notebook."""
    return name.lower().endswith(".ipynb")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
