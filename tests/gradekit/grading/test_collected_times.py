"""From a download to the gradebook: late is who was late, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gradekit.course import load_course
from gradekit.errors import CollectError
from gradekit.feedback.page import pages
from gradekit.gradebook.withdraw import withdraw
from gradekit.grading.grade import Settings, _find, grade_lab
from gradekit.grading.view import progress_bar
from gradekit.results.records import State
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.collected import Summary
from tests.helpers.exports import packed
from tests.helpers.in_one_process import one_sandbox, without_workers
from tests.helpers.tiny_class import COURSE, LAB, NAME, notebook, write_course

ZONE = ZoneInfo("Europe/Zurich")
DUE = datetime(2026, 9, 20, 23, 59, tzinfo=ZONE)
DOWNLOADED = DUE + timedelta(days=2)
STUDENTS = "id,name,canvas_id\nada,Ada Lovelace,1001\nbob,Bob Li,1002\ncyd,Cyd O'Neil,1003\n"
WORKSHEET = """\
Identifier,Full name,Last modified (submission)
Participant 7101,Ada Lovelace,"Sunday, 20 September 2026, 10:15 PM"
Participant 7102,Bob Li,"Tuesday, 22 September 2026, 9:00 AM"
Participant 7103,Cyd O'Neil,"Friday, 18 September 2026, 10:15 AM"
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("class") / "course"
    root.mkdir()
    write_course(root)
    (root / "students.csv").write_text(STUDENTS)
    content = notebook(root)
    names = {7101: "Ada Lovelace", 7102: "Bob Li", 7103: "Cyd ONeil"}
    moodle = {
        f"{name}_{number}_assignsubmission_file/{NAME}.ipynb": content
        for number, name in names.items()
    }
    canvas = {
        f"{start}_{number}_{NAME}.ipynb": content
        for number, start in enumerate(
            ("lovelaceada_1001", "libob_LATE_1002", "oneilcyd_1003"), start=77000
        )
    }
    (root / "moodle.zip").write_bytes(packed(moodle, DOWNLOADED))
    (root / "canvas.zip").write_bytes(packed(canvas, DOWNLOADED))
    (root / "grading.csv").write_text(WORKSHEET)
    with one_sandbox():
        yield root


def collect(root: Path, name: str, *times: Path) -> Summary:
    return collect_submissions(load_course(root), LAB, [root / name], Options(times=times))


def late(root: Path) -> set[str]:
    """Who is late, according to `lab grade`; everyone has a state."""
    with without_workers(), progress_bar(quiet=True) as progress:
        rows = grade_lab(load_course(root), LAB, Settings(1), progress).rows
    assert {row.student for row in rows} == {"ada", "bob", "cyd"}
    assert {row.state for row in rows} <= {State.GRADED, State.LATE}
    return {row.student for row in rows if row.state is State.LATE}


@pytest.mark.needs("sandbox")
def test_only_those_who_were_late_are_late(root: Path) -> None:
    assert any("count as on time" in note for note in collect(root, "moodle.zip").notes)
    assert late(root) == set()
    collect(root, "moodle.zip", root / "grading.csv")
    assert late(root) == {"bob"}
    (page,) = pages(load_course(root), LAB, "bob")
    assert "2 days late" in page.late
    withdraw(load_course(root), LAB, "bob")
    assert not list(pages(load_course(root), LAB, "bob"))
    assert len(collect(root, "canvas.zip").collected) == 1
    assert late(root) == {"bob"}
    (page,) = pages(load_course(root), LAB, "bob")
    assert "1 day late" in page.late


def test_a_student_who_has_not_handed_in_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "submitted" / "ada" / LAB).mkdir(parents=True)
    course = load_course(tmp_path)
    with progress_bar(quiet=True) as progress:
        assert len(_find(course, LAB, ["ada"], progress)) == 1
        with pytest.raises(CollectError, match=r"no hand-in of adda for lab01 in submitted/"):
            _find(course, LAB, ["ada", "adda"], progress)
