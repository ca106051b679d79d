"""How Moodle, Canvas and ILIAS read a zip of pages: their own rules, to see whom a page reaches."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath


def moodle_reads(data: bytes, numbers: Mapping[int, str]) -> dict[str, dict[str, bytes]]:
    """By student, the feedback files after "Upload multiple feedback files in a zip".

    github.com/moodle/moodle, mod/assign/feedback/file/importziplib.php:
    is_valid_filename_for_import and import_zip_files.

    Args:
        numbers: students by their number in the assignment.
    """
    read: dict[str, dict[str, bytes]] = {}
    for path, content in unpacked(data).items():
        if PurePosixPath(path).name.startswith((".", "~")):
            continue
        parts = path.split("/")
        while parts:
            info = parts.pop(0).split("_", 4)
            number = info[1] if len(info) >= 4 else ""
            if not number.isdecimal() or int(number) not in numbers:
                continue
            if info[2] not in ("assignsubmission", "assignfeedback") or info[3] != "file":
                continue
            rest = "/".join([info[4] if len(info) > 4 else "", *parts])
            read.setdefault(numbers[int(number)], {})[PurePosixPath(rest).name] = content
            break
    return read


def canvas_reads(
    data: bytes, attachments: Mapping[tuple[str, str], str], groups: Collection[str] = ()
) -> dict[str, list[bytes]]:
    """By student, the files that a comment has after "Upload Submissions".

    github.com/instructure/canvas-lms, app/models/abstract_assignment.rb:
    infer_comment_context_from_filename.

    Args:
        attachments: students by their number in Canvas and that of a file that they handed in.
        groups: names of groups as Canvas writes them into names of files.
    """
    read: dict[str, list[bytes]] = {}
    for path, content in unpacked(data).items():
        name = PurePosixPath(path).name
        for group in groups:
            name = name.removeprefix(f"{group}_")
        parts = [part for part in name.split("_") if part != "LATE"]
        numbers = tuple([part for part in parts if part.isdecimal()][:2])
        if numbers in attachments and not parts[-1].startswith("link"):
            read.setdefault(attachments[numbers], []).append(content)  # type: ignore[index]
    return read


def ilias_reads(data: bytes, members: Mapping[int, str]) -> dict[str, dict[str, bytes]]:
    """By student, the feedback files after "Multi-Feedback".

    github.com/ILIAS-eLearning/ILIAS, Modules/Exercise/classes/class.ilExAssignment.php:
    getMultiFeedbackFiles.
    """
    read: dict[str, dict[str, bytes]] = {}
    for path, content in unpacked(data).items():
        top, folder, name = path.split("/")
        number = folder.split("_")[-1]
        if top.startswith("multi_feedback") and number.isdecimal() and int(number) in members:
            read.setdefault(members[int(number)], {})[name] = content
    return read


def unpacked(data: bytes) -> dict[str, bytes]:
    """A zip's files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
