"""What lies in a hand-in's folder: which files count, what they come to, when they were sent."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradekit.grading.worker import grade_submission
from gradekit.results.records import State
from gradekit.submissions import folder
from gradekit.submissions.folder import (
    MOST_FILES,
    find_submissions,
    folders_not_utf8,
    format_timestamp,
    parse_timestamp,
    read_submitted,
)
from gradekit.submissions.submission import read_submission
from tests.helpers import submissions
from tests.helpers.submissions import LAB, NAME, hand_in


def test_the_digest_follows_names_and_contents_and_not_the_time(tmp_path: Path) -> None:
    one = hand_in(tmp_path, "ada", {"a.ipynb": b"12", "b": b"3"}, "2026-09-20 21:59:00 UTC")
    hand_in(tmp_path, "bob", {"a.ipynb": b"12", "b": b"3"})
    hand_in(tmp_path, "cyd", {"a.ipynb": b"1", "b": b"23"})
    hand_in(tmp_path, "dan", {"a.ipynb": b"12", "c": b"3"})
    ada, bob, cyd, dan = (submitted.digest for submitted in find_submissions(tmp_path, LAB))
    assert ada == bob
    assert len({ada, cyd, dan}) == 3
    os.utime(one / "a.ipynb", (1, 1))
    assert next(find_submissions(tmp_path, LAB, ["ada"])).digest == ada


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-09-20 21:59:00.123456 UTC", "2026-09-20T21:59:00.123456+00:00"),
        ("2026-09-20 23:59:00 Europe/Zurich", "2026-09-20T21:59:00+00:00"),
        ("2026-09-20 23:59:00 +0200", "2026-09-20T21:59:00+00:00"),
        ("2026-09-20T23:59:00+02:00", "2026-09-20T21:59:00+00:00"),
        ("2026-09-20 21:59:00\n", "2026-09-20T21:59:00+00:00"),
        ("yesterday", None),
        ("2026-09-20 21:59:00 ../../etc/passwd", None),
        ("0001-01-01 00:00:00 +2300", None),
        ("0001-01-01 00:00:00 UTC", None),
        ("9999-12-31 23:59:59 UTC", None),  # midnight in Zürich is in a year that there is not
        ("", None),
    ],
)
def test_timestamps_in_all_of_nbgraders_forms(text: str, utc: str | None) -> None:
    moment = parse_timestamp(text)
    assert (moment.isoformat() if moment else None) == utc


def test_a_timestamp_that_is_written_can_be_read_by_nbgrader() -> None:
    from nbgrader.utils import parse_utc

    moment = datetime(2026, 9, 20, 21, 59, 0, 5, tzinfo=UTC)
    text = format_timestamp(moment)
    assert parse_utc(text) == moment.replace(tzinfo=None)
    assert parse_timestamp(text) == moment


def test_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": b"{}", "locked/a.csv": b"1"})
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (found,) = find_submissions(tmp_path, LAB)
    assert list(found.files) == [f"{NAME}.ipynb"]
    assert found.notes == ("locked/ cannot be read (Permission denied).",)
    assert found.unread == found.notes


def test_a_notebook_that_cannot_be_read_is_not_the_students_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": b"{}", "a.csv": b"1"})

    def fail(path: str, most: int) -> Any:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(folder, "_read", fail)
    (found,) = find_submissions(tmp_path, LAB)
    assert found.unread == (f"{NAME}.ipynb cannot be read (Input/output error).",)
    submission = read_submission(found, submissions.released(tmp_path / "released"))
    assert submission.is_ours
    assert submission.broken is not None
    assert submission.broken.startswith(found.unread[0])
    grader = SimpleNamespace(released=submissions.released(tmp_path / "released"))
    done = grade_submission(grader, found, [], {})  # type: ignore[arg-type]
    assert done.record.state is State.OURS
    assert "Not graded yet." in done.notebook
    assert found.unread[0] in done.notebook


def test_a_folder_whose_name_is_not_utf8_is_left_out_and_named(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", {f"{NAME}.ipynb": b"{}"})
    os.makedirs(os.fsencode(tmp_path) + b"/submitted/bad\xff/" + LAB.encode())
    assert [found.student for found in find_submissions(tmp_path, LAB)] == ["ada"]
    assert folders_not_utf8(tmp_path) == ["'bad\\xff'"]


def test_files_beyond_the_limits_are_not_opened(tmp_path: Path) -> None:
    given = {f"{number:04}.txt": b"x" for number in range(MOST_FILES + 50)}
    folder = hand_in(tmp_path, "ada", given)
    submitted = read_submitted(folder, "ada", LAB)
    assert len(submitted.files) == MOST_FILES
    assert len(submitted.notes) < 30
    assert submitted.notes[-1] == "There are 30 more files of that kind."


def test_the_library_that_came_with_the_lab_is_no_part_of_a_hand_in(tmp_path: Path) -> None:
    library = {f"attnlab/plots/{number}.py": b"x" for number in range(MOST_FILES + 50)}
    given = {**library, f"{NAME}.ipynb": b"{}", "attnlab/mine.ipynb": b"{}", "own.py": b"y"}
    submitted = read_submitted(hand_in(tmp_path, "ada", given), "ada", LAB)
    assert set(submitted.files) == {f"{NAME}.ipynb", "attnlab/mine.ipynb", "own.py"}
    assert submitted.notes == ()


def test_a_folder_instead_of_the_timestamp_leaves_no_file_open(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", {"timestamp.txt/x.txt": b""})
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        read_submitted(folder, "ada", LAB)
    assert len(os.listdir("/proc/self/fd")) == before
