"""Hand-ins on disk as they reach a TA: folders, zips, and one big zip as Canvas makes it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from demo.hand_in import HandIn

TIMESTAMP = "timestamp.txt"
# A zip has the clock of the computer that packed it and says nothing of its zone.
CLOCK = ZoneInfo("Europe/Zurich")


def write_incoming(hand_ins: Iterable[HandIn], folder: Path) -> list[Path]:
    """Write the hand-ins below `folder`: what `lab collect` is given.

    Returns:
        A folder with a folder for each student, a folder with a zip for each student, and
        Canvas's zip.
    """
    folders, zips, canvas = folder / "folders", folder / "zips", folder / "submissions.zip"
    folders.mkdir(parents=True)
    zips.mkdir()
    with zipfile.ZipFile(canvas, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, hand_in in enumerate(hand_ins):
            if not _is_plain(hand_in):
                write_folder(hand_in, folders / hand_in.student)
            elif re.fullmatch(r"m\d+", hand_in.student):
                _add_to_canvas(archive, hand_in, number)
            elif number % 2:
                (zips / f"{hand_in.student}.zip").write_bytes(_zipped(hand_in))
            else:
                write_folder(hand_in, folders / hand_in.student)
    return [folders, zips, canvas]


def write_folder(hand_in: HandIn, folder: Path) -> None:
    """The hand-in's files, and nothing else, in `folder`."""
    folder.mkdir(parents=True)
    for name, data in hand_in.files.items():
        (folder / name).write_bytes(data)


def write_submitted(hand_ins: Iterable[HandIn], course: Path, lab: str) -> None:
    """The hand-ins where grading finds them, as `lab collect` would put them there."""
    for hand_in in hand_ins:
        write_folder(hand_in, course / "submitted" / hand_in.student / lab)


def _is_plain(hand_in: HandIn) -> bool:
    """Whether a zip could carry it: an ordinary name, in time (only a folder has a timestamp)."""
    return hand_in.student.isalnum() and hand_in.expected.state != "late"


def _add_to_canvas(archive: zipfile.ZipFile, hand_in: HandIn, number: int) -> None:
    """Canvas puts student, two numbers and the file's name into one name, all in one folder."""
    for name, data in hand_in.files.items():
        if name != TIMESTAMP:
            entry = f"{hand_in.student}_{41000 + number}_{990000 + number}_{name}"
            archive.writestr(zipfile.ZipInfo(entry, _moment(hand_in)), data)


def _zipped(hand_in: HandIn) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in hand_in.files.items():
            if name != TIMESTAMP:
                archive.writestr(zipfile.ZipInfo(name, _moment(hand_in)), data)
    return packed.getvalue()


def _moment(hand_in: HandIn) -> tuple[int, int, int, int, int, int]:
    text = hand_in.files[TIMESTAMP].decode().strip()
    moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z").astimezone(CLOCK)
    return (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
