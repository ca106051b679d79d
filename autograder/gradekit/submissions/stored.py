"""A hand-in in ``submitted/``, and beside it where it came from.

``submitted/<student>/<lab>/`` has the files and nbgrader's timestamp.txt; without that file the
time is unknown. ``submitted/<student>/.<lab>.json`` says which system, source and files they came
from, for the way back; a student's file cannot get there.

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from gradekit.files import write_whole
from gradekit.submissions.folder import (
    SUBMITTED,
    TIMESTAMP,
    format_timestamp,
    parse_timestamp,
    submission_time,
)
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource

CollectState = Literal["new", "newer", "same", "dated", "older"]


@dataclass(frozen=True)
class Origin:
    """Where a hand-in came from.

    Attributes:
        system: such as Moodle.
        source: the name of the zip or folder that was collected.
        home: the student's folder in it, or the beginning of the names of files.
        key: the system's own number of the student, if the path has one.
        files: by name in the hand-in, the path in the source.
        told: the TimeSource of its time, as a number; the name is that of the stored file.
        order: the time that distinguishes newer from older, which may be a file's date.
        group: the name of the group that handed it in together; empty for one student.
    """

    system: str
    source: str
    home: str
    key: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    told: int = TimeSource.UNKNOWN
    order: str = ""
    group: str = ""


def origin_path(root: Path, student: str, lab: str) -> Path:
    """The file that says where a hand-in came from."""
    return root / SUBMITTED / student / f".{lab}.json"


def read_origin(root: Path, student: str, lab: str) -> Origin | None:
    """Where a hand-in came from; None if nothing says so."""
    try:
        return Origin(**json.loads(origin_path(root, student, lab).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@dataclass(frozen=True)
class SubmittedFolder:
    """The folder of one student's hand-in of one lab in ``submitted/``."""

    root: Path
    student: str
    lab: str

    @property
    def folder(self) -> Path:
        """``submitted/<student>/<lab>``."""
        return self.root / SUBMITTED / self.student / self.lab

    def state_for(self, found: IncomingSubmission, files: Mapping[str, bytes]) -> CollectState:
        """What :meth:`put` would do; "dated" means the same files with a better known time."""
        if not (self.folder.exists() or self.folder.is_symlink()):
            return "new"
        if _same(self.folder, files):
            known, there = found.time, self.time
            if known.when is None or known.source < there.source:
                return "same"
            # In UTC, because Python calls times of two zones unequal in the hour that comes twice.
            return "same" if known.when.astimezone(UTC) == there.when else "dated"
        last = self.order
        return "older" if last is not None and last > found.order else "newer"

    def put(self, found: IncomingSubmission, files: Mapping[str, bytes]) -> CollectState:
        """Write a hand-in, unless the one that is there is the same or newer."""
        state = self.state_for(found, files)
        match state:
            case "new" | "newer":
                when = found.time.when
                stamp = {TIMESTAMP: format_timestamp(when).encode()} if when else {}
                _replace(self.folder, {**files, **stamp})
                self._write_origin(found)
            case "dated":
                assert found.time.when is not None
                write_whole(self.folder / TIMESTAMP, format_timestamp(found.time.when))
                self._write_origin(found)
            case "same" | "older":
                pass
            case _:
                raise ValueError(f"{self.student} was put down as {state!r}")
        return state

    @property
    def time(self) -> HandInTime:
        """When it was handed in, as it was written down."""
        when = submission_time(self.folder)
        if when is None:
            return NO_TIME
        origin = read_origin(self.root, self.student, self.lab)
        return HandInTime(when, TimeSource(origin.told) if origin else TimeSource.TIMESTAMP)

    @property
    def order(self) -> datetime | None:
        """What tells whether another hand-in is newer; None if nothing does."""
        if (when := submission_time(self.folder)) is not None:
            return when
        origin = read_origin(self.root, self.student, self.lab)
        return parse_timestamp(origin.order) if origin else None

    def _write_origin(self, found: IncomingSubmission) -> None:
        origin = Origin(
            found.system,
            found.origin,
            found.home,
            found.key,
            found.paths,
            int(found.time.source),
            format_timestamp(found.order),
            found.group,
        )
        text = json.dumps(asdict(origin), ensure_ascii=False, indent=1)
        write_whole(origin_path(self.root, self.student, self.lab), text + "\n")


def _same(target: Path, files: Mapping[str, bytes]) -> bool:
    """Whether a folder contains exactly these files; its timestamp.txt does not matter."""
    there = {
        str(path.relative_to(target)): path
        for path in target.rglob("*")
        if path.is_file() and not path.is_symlink() and path != target / TIMESTAMP
    }
    return there.keys() == files.keys() and all(
        path.stat().st_size == len(files[name]) and path.read_bytes() == files[name]
        for name, path in there.items()
    )


def _replace(target: Path, files: Mapping[str, bytes]) -> None:
    """Replace `target` by a folder with `files`, in two renames."""
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".collecting-", dir=target.parent))
    try:
        fresh = work / "new"
        fresh.mkdir()
        for name, data in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if target.exists() or target.is_symlink():
            os.replace(target, work / "old")
        os.replace(fresh, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
