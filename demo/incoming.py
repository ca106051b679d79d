"""Hand-ins on disk as they reach a TA: folders, zips, and one big zip as Canvas makes it."""

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

from demo.hand_in import HandIn
from gradekit.submissions.lms_layouts import safe_student

TIMESTAMP = "timestamp.txt"
# A zip has the clock of the computer that packed it and says nothing of its zone.
CLOCK = ZoneInfo("Europe/Zurich")


@dataclass(frozen=True)
class Incoming:
    """What a TA is given.

    Attributes:
        sources: for `lab collect`: a folder with a folder for each student, a folder with a zip
            for each student, and Canvas's zip.
        hand_ins: under the names that students have once they are collected.
    """

    sources: tuple[Path, ...]
    hand_ins: tuple[HandIn, ...]


def write_incoming(hand_ins: Iterable[HandIn], folder: Path, lab: str) -> Incoming:
    """Write the hand-ins below `folder`: mistakes by Canvas, others in zips and in folders."""
    folders, zips, canvas = folder / "folders", folder / "zips", folder / "submissions.zip"
    folders.mkdir(parents=True)
    zips.mkdir()
    collected = []
    with zipfile.ZipFile(canvas, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, hand_in in enumerate(hand_ins):
            name = safe_student(hand_in.student)
            if re.fullmatch(r"m\d+", hand_in.student):
                name = f"{hand_in.student}_{41000 + number}"
                _add_to_canvas(archive, hand_in, f"{name}_{990000 + number}")
            elif number % 2 and hand_in.expected.state != "late":
                _write(zips / f"{name}.zip", _zipped(hand_in), hand_in)
            else:
                write_folder(hand_in, folders / hand_in.student / lab)
            collected.append(replace(hand_in, student=name))
    return Incoming((folders, zips, canvas), tuple(collected))


def write_submitted(hand_ins: Iterable[HandIn], course: Path, lab: str) -> None:
    """The hand-ins where grading finds them, as `lab collect` would put them there."""
    for hand_in in hand_ins:
        write_folder(hand_in, course / "submitted" / hand_in.student / lab)


def write_folder(hand_in: HandIn, folder: Path) -> None:
    """The hand-in's files, and nothing else, in `folder`."""
    folder.mkdir(parents=True)
    for name, data in hand_in.files.items():
        _write(folder / name, data, hand_in)


def _write(path: Path, data: bytes, hand_in: HandIn) -> None:
    path.write_bytes(data)
    seconds = _moment(hand_in).timestamp()
    os.utime(path, (seconds, seconds))


def _add_to_canvas(archive: zipfile.ZipFile, hand_in: HandIn, prefix: str) -> None:
    """Canvas puts student, two numbers and the file's name into one name, all in one folder."""
    for name, data in hand_in.files.items():
        if name != TIMESTAMP:
            archive.writestr(_entry(f"{prefix}_{name}", hand_in), data)


def _zipped(hand_in: HandIn) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in hand_in.files.items():
            if name != TIMESTAMP:
                archive.writestr(_entry(name, hand_in), data)
    return packed.getvalue()


def _entry(name: str, hand_in: HandIn) -> zipfile.ZipInfo:
    clock = _moment(hand_in).astimezone(CLOCK)
    return zipfile.ZipInfo(name, (*clock.date().timetuple()[:3], clock.hour, clock.minute, 0))


def _moment(hand_in: HandIn) -> datetime:
    text = hand_in.files[TIMESTAMP].decode().strip()
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z")
