"""`lab collect --times FILE`: worksheets, Gradescope's lists, and a table of one's own."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gradekit.errors import LabError
from gradekit.roster.people import Directory
from gradekit.roster.students import Roster, Student
from gradekit.submissions.times_file import TimesFile, read_times

ZURICH = ZoneInfo("Europe/Zurich")
MORNING = datetime(2026, 9, 18, 10, 15, tzinfo=ZURICH)
ADA = Student("ada", "Ada Lovelace", "ada@uni.example", "1001", "15-001")
YAML = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '15-001'
    :email: a.l@elsewhere.example
  :created_at: 2026-09-18 08:15:00.000000000 Z
"""


def read(folder: Path, text: str, name: str = "times.csv") -> TimesFile:
    path = folder / name
    path.write_text(text)
    return read_times([path], Directory(Roster((ADA,))), ZURICH)


@pytest.mark.parametrize(
    "text",
    [
        "id,when\nada,2026-09-18 10:15\n",
        "Student;Time\nAda Lovelace;18.09.2026 10:15\n",
        "First Name,Last Name,SID,Email,Total Score,Submission Time\n"
        "Ada,Lovelace,15-001,x@y.example,3,2026-09-18 10:15:00 +0200\n",
        "canvas_id,when\n1001,2026-09-18T10:15:00+02:00\n",
    ],
    ids=["our own", "with semicolons", "Gradescope's scores", "Canvas's numbers"],
)
def test_a_table_says_who_and_when(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, text).time("ada", "folders", "")
    assert found is not None
    assert (found.when, found.words) == (MORNING, "times file")


def test_gradescopes_metadata_is_a_file_of_times_too(tmp_path: Path) -> None:
    found = read(tmp_path, YAML, "submission_metadata.yml").time("ada", "folders", "")
    assert found is not None
    assert found.when == MORNING


def test_moodles_numbers_count_only_for_moodle(tmp_path: Path) -> None:
    text = "Identifier,Last modified (submission)\nParticipant 7101,18 September 2026 10:15\n"
    times = read(tmp_path, text)
    found = times.time("whoever", "Moodle", "7101")
    assert found is not None
    assert found.when == MORNING
    assert times.time("whoever", "ILIAS", "7101") is None


def test_no_submission_is_no_time(tmp_path: Path) -> None:
    assert read(tmp_path, "id,when\nada,-\n").time("ada", "folders", "") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,when\nada,soon\n", "times.csv, line 2: 'soon' is not a time that can be read"),
        ("id,points\nada,3\n", "the columns id, points do not say who and when"),
        ("when\n2026-09-18 10:15\n", "do not say who and when"),
        ("", "times.csv is empty"),
    ],
)
def test_a_mistake_is_one_sentence(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=told):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no such file"):
        read_times([tmp_path / "none.csv"], Directory(Roster()), ZURICH)
    with pytest.raises(LabError, match="not valid YAML"):
        read(tmp_path, "a: [", "x.yml")


def test_several_files_are_read_and_the_later_one_counts(tmp_path: Path) -> None:
    bob = Student("bob", "Bob Li")
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    paths[0].write_text("id,when\nada,2026-09-18 10:15\nbob,2026-09-18 11:15\n")
    paths[1].write_text("id,when\nbob,2026-09-19 11:15\n")
    times = read_times(paths, Directory(Roster((ADA, bob))), ZURICH)
    found = {who: times.time(who, "Canvas", "") for who in ("ada", "bob")}
    assert {who: one and one.when for who, one in found.items()} == {
        "ada": datetime(2026, 9, 18, 10, 15, tzinfo=ZURICH),
        "bob": datetime(2026, 9, 19, 11, 15, tzinfo=ZURICH),
    }
