"""Submissions on disk as a TA gets them: folders, zips, and one large zip from Canvas."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from demo.submission import DemoSubmission
from gradekit.roster.students import safe_id

TIMESTAMP = "timestamp.txt"
# A zip has the time of the computer that packed it, but not its time zone.
CLOCK = ZoneInfo("Europe/Zurich")


@dataclass(frozen=True)
class Incoming:
    """The files that a TA gets.

    Attributes:
        sources: for `lab collect`: a folder with a folder for each student, a folder with a zip
            for each student, and Canvas's zip.
        submissions: under the names that students have after `lab collect`.
    """

    sources: tuple[Path, ...]
    submissions: tuple[DemoSubmission, ...]


def write_incoming(submissions: Iterable[DemoSubmission], folder: Path, lab: str) -> Incoming:
    """Write the submissions into `folder`: mistakes from Canvas, others in zips and folders."""
    folders, zips, canvas = folder / "folders", folder / "zips", folder / "submissions.zip"
    folders.mkdir(parents=True)
    zips.mkdir()
    collected = []
    with zipfile.ZipFile(canvas, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, submission in enumerate(submissions):
            name = safe_id(submission.student)
            if re.fullmatch(r"m\d+", submission.student):
                name = f"{submission.student}_{41000 + number}"
                _add_to_canvas(archive, submission, f"{name}_{990000 + number}")
            elif number % 2 and submission.expected.state != "late" and _notebooks(submission) < 2:
                _write(zips / f"{name}.zip", _zipped(submission), submission)
            else:
                write_folder(submission, folders / submission.student / lab)
            collected.append(replace(submission, student=name))
    return Incoming((folders, zips, canvas), tuple(collected))


def write_submitted(submissions: Iterable[DemoSubmission], course: Path, lab: str) -> None:
    """Write the submissions where `lab collect` would put them."""
    for submission in submissions:
        write_folder(submission, course / "submitted" / submission.student / lab)


def write_folder(submission: DemoSubmission, folder: Path) -> None:
    """Write the submission's files, and nothing else, into `folder`."""
    folder.mkdir(parents=True)
    for name, data in submission.files.items():
        _write(folder / name, data, submission)


def _notebooks(submission: DemoSubmission) -> int:
    """The number of notebooks; a zip with several may be a class's, so `lab collect` refuses it."""
    return sum(name.endswith(".ipynb") for name in submission.files)


def _write(path: Path, data: bytes, submission: DemoSubmission) -> None:
    path.write_bytes(data)
    seconds = _moment(submission).timestamp()
    os.utime(path, (seconds, seconds))


def _add_to_canvas(archive: zipfile.ZipFile, submission: DemoSubmission, prefix: str) -> None:
    """Canvas joins student, two numbers and the file's name; all files are in one folder."""
    for name, data in submission.files.items():
        if name != TIMESTAMP:
            archive.writestr(_entry(f"{prefix}_{name}", submission), data)


def _zipped(submission: DemoSubmission) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in submission.files.items():
            if name != TIMESTAMP:
                archive.writestr(_entry(name, submission), data)
    return packed.getvalue()


def _entry(name: str, submission: DemoSubmission) -> zipfile.ZipInfo:
    clock = _moment(submission).astimezone(CLOCK)
    return zipfile.ZipInfo(name, (*clock.date().timetuple()[:3], clock.hour, clock.minute, 0))


def _moment(submission: DemoSubmission) -> datetime:
    text = submission.files[TIMESTAMP].decode().strip()
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z")
