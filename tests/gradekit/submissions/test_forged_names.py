"""Whatever a student writes into names of files and inner folders, it is the student's hand-in.

Mallory's part of every system's path gets the forms of all systems, with Ada's name and a time that
is not late. Nothing of it may become Ada's, and Mallory's own time must stay.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path, PurePosixPath

import pytest

from gradekit.course import Course
from gradekit.roster.people import Directory
from gradekit.roster.students import load_roster
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.layouts import reader_of
from gradekit.submissions.layouts.listing import Listing
from gradekit.submissions.sources import SourceReader
from gradekit.submissions.student_of import StudentFinder
from gradekit.submissions.times_file import TimesFile
from tests.helpers.collected import course_in
from tests.helpers.exports import DOWNLOADED, packed
from tests.helpers.fuzz import cost
from tests.helpers.submissions import LAB, NAME

BOOK = f"{NAME}.ipynb"
ROSTER = """\
id,name,email,canvas_id,github
ada,Ada Lovelace,ada@uni.example,9001,adal
bob,Bob Byte,bob@uni.example,555,bobb
mal,Mallory Mayhem,mal@uni.example,777,malm
12,Ann Lee,,,
"""
STAMP = b"2026-09-15 10:00:00 UTC"
MINE, ADAS = b'{"cells": [], "by": "Mallory"}', b'{"cells": [], "by": "Ada"}'
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Layout:
    """Where a system puts the files of two students.

    Attributes:
        kind: whether a start is that of a folder, of a file's name, or the name of a zip.
        beside: the files of the system itself.
        in_home: those in the folder of a hand-in, which replace files that a student gave.
    """

    mallory: str
    ada: str
    kind: str = "folder"
    beside: Files = field(default_factory=dict)
    in_home: Files = field(default_factory=dict)

    def of(self, start: str, own: Files) -> Files:
        """The files of one student in the source; names in one folder have no slash."""
        match self.kind:
            case "flat":
                return {start + path.replace("/", "_"): data for path, data in own.items()}
            case "zip":
                return {start: packed(own, DOWNLOADED)}
            case _:
                there = {**own, **self.in_home}
                return {f"{start}/{path}": data for path, data in there.items()}


GRADESCOPE = "".join(
    f"submission_{n}:\n  :submitters:\n  - :name: {name}\n    :sid: ''\n    :email: {email}\n"
    f"  :created_at: 2026-09-2{n} 10:00:00\n"
    for n, name, email in (
        (1, "Mallory Mayhem", "mal@uni.example"),
        (2, "Ada Lovelace", "ada@uni.example"),
    )
).encode()
LIST = "submission_metadata.yml"
CLONE = {".git/HEAD": b"ref: refs/heads/main\n"}
TIME, ADAS_TIME = "2026-09-25 10:00:00 UTC", "2026-09-18 10:00:00 UTC"
LAYOUTS = {
    "Canvas": Layout("mayhemmallory_777_101_", "lovelaceada_9001_100_", "flat"),
    "Canvas, late": Layout("mayhemmallory_LATE_777_101_", "lovelaceada_9001_100_", "flat"),
    "Canvas, a quiz": Layout(
        "mayhemmallory777_question_71_8801_", "lovelaceada9001_question_71_8800_", "flat"
    ),
    "Moodle": Layout(
        "Mallory Mayhem_12_assignsubmission_file_", "Ada Lovelace_11_assignsubmission_file_"
    ),
    "Moodle, flat": Layout(
        "Mallory Mayhem_12_assignsubmission_file_",
        "Ada Lovelace_11_assignsubmission_file_",
        "flat",
    ),
    "Gradescope": Layout("e/submission_1", "e/submission_2", beside={f"e/{LIST}": GRADESCOPE}),
    "Blackboard": Layout(
        "lab01_mal_attempt_2026-09-25-10-00-00_", "lab01_ada_attempt_2026-09-18-10-00-00_", "flat"
    ),
    "Brightspace": Layout(
        "11-2 - Mallory Mayhem - Sep 25, 2026 1015 AM", "11-2 - Ada Lovelace - Sep 18, 2026 915 AM"
    ),
    "Brightspace, flat": Layout(
        "11-2 - Mallory Mayhem - Sep 25, 2026 1015 AM - ",
        "11-2 - Ada Lovelace - Sep 18, 2026 915 AM - ",
        "flat",
    ),
    "ILIAS": Layout("Lab_1/Abgaben/Mayhem_Mallory_mal_12", "Lab_1/Abgaben/Lovelace_Ada_ada_11"),
    "ILIAS, a title of this form": Layout(
        "Lab_1_of_2026/Abgaben/Mayhem_Mallory_mal_12", "Lab_1_of_2026/Abgaben/Lovelace_Ada_ada_11"
    ),
    "exchange": Layout(
        f"inbound/mal+lab01+{TIME}", f"inbound/ada+lab01+{ADAS_TIME}",
        in_home={"timestamp.txt": TIME.encode()},
    ),
    "exchange, one folder": Layout(f"mal+lab01+{TIME}", f"ada+lab01+{ADAS_TIME}"),
    "nbgrader's submitted": Layout(
        "c/submitted/mal/lab01", "c/submitted/ada/lab01", in_home={"timestamp.txt": TIME.encode()}
    ),
    "GitHub Classroom": Layout("lab01-malm", "lab01-adal", in_home=CLONE),
    "GitHub's zips": Layout("lab01-malm-main", "lab01-adal-main"),
    "folders": Layout("mal", "ada"),
    "folders of names": Layout("Mallory Mayhem", "Ada Lovelace"),
    "folders in a folder": Layout("week 1/mal", "week 1/ada"),
    "zips": Layout("mal-lab01-handin.zip", "ada-lab01-handin.zip", "zip"),
}  # fmt: skip

FORGED: dict[str, Files] = {
    "nothing": {BOOK: MINE},
    "Canvas": {f"lovelaceada_9001_5_{BOOK}": MINE},
    "Canvas, on time": {f"9001_5_{BOOK}": MINE},
    "Canvas, a newer one": {f"lovelaceada_9001_5_{NAME}-9.ipynb": MINE},
    "Canvas, a quiz": {f"9001_question_1_5_{NAME}-9.ipynb": MINE},
    "Canvas, a quiz with a name": {f"lovelaceada9001_question_1_5_{BOOK}": MINE},
    "Moodle": {f"Ada Lovelace_11_assignsubmission_file_/{BOOK}": MINE},
    "Moodle, flat": {f"Ada Lovelace_11_assignsubmission_file_{BOOK}": MINE},
    "Moodle, a group": {
        f"x-{name}_11_assignsubmission_file_{BOOK}": MINE
        for name in ("Ada Lovelace", "Bob Byte", "Ann Lee")
    },
    "Gradescope": {f"submission_2/{BOOK}": MINE, LIST: GRADESCOPE},
    "Gradescope, a list inside": {
        f"submission_2/{BOOK}": MINE, f"submission_2/{LIST}": GRADESCOPE
    },
    "Blackboard": {f"q_ada_attempt_2026-09-15-10-00-00_{BOOK}": MINE},
    "Blackboard, one's own": {f"lab01_mal_attempt_2026-09-15-10-00-00_{BOOK}": MINE},
    "Brightspace": {f"11-2 - Ada Lovelace - Sep 15, 2026 1015 AM/{BOOK}": MINE},
    "Brightspace, flat": {f"11-2 - Ada Lovelace - Sep 15, 2026 1015 AM - {BOOK}": MINE},
    "ILIAS": {f"Lovelace_Ada_ada_11/{BOOK}": MINE},
    "ILIAS, whole": {f"Lab_1/Abgaben/Lovelace_Ada_ada_11/{BOOK}": MINE},
    "ILIAS, two people": {
        f"Lovelace_Ada_ada_11/{BOOK}": MINE, "Byte_Bob_bob_13/x.ipynb": MINE
    },
    "exchange": {f"ada+lab01+2026-09-15 10:00:00 UTC/{BOOK}": MINE},
    "exchange, one's own": {f"mal+lab01+2026-09-15 10:00:00 UTC/{BOOK}": MINE},
    "exchange, whole": {f"inbound/ada+lab01+2026-09-15 10:00:00 UTC/{BOOK}": MINE},
    "submitted": {f"submitted/ada/lab01/{BOOK}": MINE},
    "a lab's folder": {f"lab01/{BOOK}": MINE, "lab01/timestamp.txt": STAMP},
    "a student's and a lab's": {f"ada/lab01/{BOOK}": MINE, "ada/lab01/timestamp.txt": STAMP},
    "a time stamp": {BOOK: MINE, "timestamp.txt": STAMP},
    "GitHub Classroom": {f"lab01-adal/{BOOK}": MINE, "lab01-adal/.git/HEAD": b"ref: x"},
    "GitHub's zips": {f"lab01-adal-main/{BOOK}": MINE},
    "folders": {f"ada/{BOOK}": MINE},
    "folders of names": {f"Ada Lovelace/{BOOK}": MINE},
    "folders of two": {f"ada/{BOOK}": MINE, "bob/x.ipynb": MINE},
    "zips": {"ada-lab01-handin.zip": packed({BOOK: MINE}, DOWNLOADED)},
    "GitHub's zip in it": {"lab01-adal-main.zip": packed({BOOK: MINE}, DOWNLOADED)},
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Nothing is written into it here."""
    return course_in(tmp_path_factory.mktemp("course") / "course", ROSTER)


def read(course: Course, source: Path) -> list[IncomingSubmission]:
    """The hand-ins in a source, before anything is written."""
    directory = Directory(load_roster(course.root))
    reader = SourceReader(course, LAB, StudentFinder(directory), TimesFile())
    return reader.read(source)


def zipped(path: Path, files: Files) -> Path:
    """A download. `lab collect` knows a clone by its folder alone, so this one is without git."""
    path.write_bytes(packed(files, DOWNLOADED))
    return path


def unpacked(path: Path, files: Files) -> Path:
    """The same, unpacked by the staff."""
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def told(found: Iterable[IncomingSubmission]) -> set[tuple[str, object]]:
    """Who handed in, and when."""
    return {(one.student, one.time) for one in found}


def contents(found: Iterable[IncomingSubmission], student: str) -> list[bytes]:
    """What is in the files of one student."""
    return [data for one in found if one.student == student for data in one.files.values()]


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("system", LAYOUTS)
def test_a_name_that_a_student_chose_never_decides(
    system: str, forged: str, course: Course, tmp_path: Path
) -> None:
    """In a class, and in a download with this one hand-in, where all folders are shared."""
    layout = LAYOUTS[system]
    adas = layout.of(layout.ada, {BOOK: ADAS})
    is_clone = layout.in_home == CLONE  # there, nobody can hand in a folder of git's
    own = {path: data for path, data in FORGED[forged].items() if not (is_clone and ".git" in path)}
    for others in (adas, {}):
        for make in (zipped, unpacked):
            where = tmp_path / make.__name__
            where.mkdir(exist_ok=True)
            results = []
            # A backslash is a letter of a name, except where a student's own zip is from Windows.
            backslashes = {path.replace("/", "\\"): data for path, data in own.items()}
            for given in ({BOOK: MINE}, own, backslashes):
                files = {**others, **layout.of(layout.mallory, given), **layout.beside}
                results.append(read(course, make(where / "class.zip", files)))
                if make is unpacked:
                    shutil.rmtree(where / "class.zip")
            honest = results[0]
            assert {student for student, _ in told(honest)} == {"mal", *["ada"] * bool(others)}
            for found in results:
                assert contents(found, "ada") == [ADAS] * bool(others)
                if not found and not others and system.startswith("GitHub"):
                    continue  # the only folder of a repository may be that of a class
                if layout.kind == "zip" and len(FORGED[forged]) > 1:
                    continue  # a zip may be that of a class if it holds several notebooks
                assert told(found) == told(honest)


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize(
    "name",
    [
        "mal.zip", "mal-lab01-handin.zip", "Mallory Mayhem.zip", "lab01-malm-main.zip",
        "mayhemmallory_777_101_work.zip", "Mallory Mayhem_12_assignsubmission_file_work.zip",
    ],
)  # fmt: skip
def test_a_zip_with_a_students_name_is_that_students(
    name: str, forged: str, course: Course, tmp_path: Path
) -> None:
    """A zip that is collected by itself; several notebooks in one are refused."""
    found = read(course, zipped(tmp_path / name, FORGED[forged]))
    assert {one.student for one in found} <= {"mal"}
    assert all(one.time.when is None for one in found)
    notebooks = sum(path.endswith(".ipynb") for path in FORGED[forged])
    assert found or notebooks > 1


def test_a_group_that_is_called_like_a_quiz_is_not_one(course: Course, tmp_path: Path) -> None:
    files = {f"x9001_question_777_101_{BOOK}": MINE, f"lovelaceada_9001_100_{BOOK}": ADAS}
    found = read(course, zipped(tmp_path / "class.zip", files))
    assert (contents(found, "mal"), contents(found, "ada")) == ([MINE], [ADAS])


@pytest.mark.parametrize("forged", FORGED)
def test_a_stranger_in_ilias_hands_in_for_nobody(
    forged: str, course: Course, tmp_path: Path
) -> None:
    """In a download with this one hand-in, as ILIAS packs it."""
    stranger = Layout("Lab_1/Abgaben/Eve_Evil_eve_14", "")
    files = stranger.of(stranger.mallory, FORGED[forged])
    assert not read(course, zipped(tmp_path / "class.zip", files))


def test_a_folder_with_a_date_is_not_canvass(course: Course, tmp_path: Path) -> None:
    top = "lab01_2026_09_22_download"
    files = {f"{top}/ada/{BOOK}": ADAS, f"{top}/bob/{BOOK}": MINE}
    found = read(course, zipped(tmp_path / "class.zip", files))
    assert {one.student for one in found} == {"ada", "bob"}


def test_a_file_of_canvas_that_was_unpacked_is_nobody_elses(course: Course, tmp_path: Path) -> None:
    files = {f"mayhemmallory_777_101_work/ada/{BOOK}": MINE}
    assert not read(course, unpacked(tmp_path / "class", files))


def test_a_folder_called_submitted_is_not_nbgraders_by_its_name_alone(
    course: Course, tmp_path: Path
) -> None:
    """The second student's folder shows that a lab's folder in the first one's is her own."""
    files = {
        f"submitted/mal/lab01/{BOOK}": MINE,
        "submitted/mal/lab01/timestamp.txt": STAMP,
        f"submitted/ada/{BOOK}": ADAS,
    }
    found = read(course, zipped(tmp_path / "class.zip", files))
    assert {one.student: one.time.when for one in found} == {"mal": None, "ada": None}


def test_a_folder_of_a_class_that_may_be_a_repository_is_refused(
    course: Course, tmp_path: Path
) -> None:
    """Not everything in it is one student's, even if a login is the end of its name."""
    files = {f"class-malm/ada/{BOOK}": ADAS, f"class-malm/bob/{BOOK}": MINE}
    assert not read(course, zipped(tmp_path / "class.zip", files))
    numbers = {path.replace("malm", "12"): data for path, data in files.items()}
    found = read(course, zipped(tmp_path / "class.zip", numbers))
    assert {one.student for one in found} == {"ada", "bob"}


@pytest.mark.parametrize("part", ["a_", "1_", "_LATE_1", " - 2020", "_attempt_2026-09-15-10-00-0"])
def test_long_names_take_little_time(part: str) -> None:
    """Of a thousand notebooks, each with names that almost have the form of a system."""
    almost = (part * 99)[:180]
    paths = tuple(
        PurePosixPath(f"Mallory Mayhem_12_assignsubmission_file_/1-1 - {almost}/{almost}{n}.ipynb")
        for n in range(1000)
    )

    def read_all() -> None:
        read_path = reader_of(Listing(paths, LAB, (LAB,), UTC))
        assert all(map(read_path, paths))

    assert cost(read_all)[0] < 3
