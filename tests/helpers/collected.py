"""A course of two labs without hand-ins, zips to collect, and what `submitted/` holds then."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.submissions.collect import Summary, collect_submissions
from tests.helpers.submissions import LAB, NAME

COURSE = """
[course]
name = "A course"
timezone = "Europe/Zurich"
""" + "".join(
    f"""
[[lab]]
id = "{lab}"
title = "{lab}"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00
"""
    for lab in ("lab01", "lab02")
)
EARLY, LATE = (2026, 9, 19, 12, 0, 0), (2026, 9, 20, 12, 0, 0)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_in(tmp_path / "course")


def course_in(root: Path, students: str | None = None) -> Course:
    """The course in a new folder; with a list of students if `students` is its text."""
    (root / "solutions").mkdir(parents=True)
    (root / "solutions" / f"{NAME}.py").touch()
    (root / "course.toml").write_text(COURSE)
    if students is not None:
        (root / "students.csv").write_text(students, "utf-8")
    return load_course(root)


def zipped(files: dict[str, bytes], when: tuple[int, ...] = LATE) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, when), data)  # type: ignore[arg-type]
    return whole.getvalue()


def bring(course: Course, data: bytes | dict[str, bytes], name: str = "class.zip") -> Summary:
    """Collect one zip, from its bytes or the files in it."""
    path = course.root.parent / name
    path.write_bytes(data if isinstance(data, bytes) else zipped(data))
    return collect_submissions(course, LAB, [path])


def submitted_files(course: Course) -> dict[str, dict[str, bytes]]:
    """What ``submitted/`` holds, by student, without timestamps."""
    base = course.root / "submitted"
    return {
        student.name: {
            str(path.relative_to(student / LAB)): path.read_bytes()
            for path in sorted((student / LAB).rglob("*"))
            if path.is_file() and path.name != "timestamp.txt"
        }
        for student in sorted(base.iterdir() if base.exists() else [])
    }
