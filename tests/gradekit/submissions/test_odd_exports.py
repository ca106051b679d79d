"""True but unusual shapes of exports: the right students, the right times, the newest files."""

from __future__ import annotations

import io
import os
import re
import struct
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.collected import Summary
from gradekit.submissions.folder import find_submissions
from tests.helpers.collected import bring, course_in, submitted_files
from tests.helpers.exports import (
    CLASS,
    DOWNLOADED,
    DUE,
    STUDENTS,
    WINDOWS,
    ZONE,
    Someone,
    blackboard,
    brightspace,
    gradescope,
    ilias,
    in_ascii,
    moodle,
    packed,
)
from tests.helpers.submissions import LAB, NAME

BOOK = f"{NAME}.ipynb"
EVERYONE = {one.id for one in CLASS}
# The hour from 2 to 3 comes twice.
BACK = datetime(2026, 10, 25, 2, 30, tzinfo=ZONE)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_in(tmp_path / "course", STUDENTS)


def collect(course: Course, export: bytes | dict[str, bytes], name: str = "class.zip") -> Summary:
    """Collect a zip, from its bytes or from the files in it."""
    return bring(course, export if isinstance(export, bytes) else packed(export, DOWNLOADED), name)


def add_student(course: Course, line: str) -> None:
    """Write one more line into students.csv."""
    (course.root / "students.csv").write_text(STUDENTS + line + "\n")


def unpacked(export: bytes) -> dict[str, bytes]:
    """The files in a zip."""
    with zipfile.ZipFile(io.BytesIO(export)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def times(course: Course) -> dict[str, datetime | None]:
    """When each student handed in, as it was written down."""
    return {one.student: one.submitted_at for one in find_submissions(course.root, LAB)}


def test_ilias_without_a_first_name_or_a_letter(course: Course) -> None:
    """Łukasz Żółć is "__ukasz __o______", and one without a first name has two underscores."""
    people = (("", "Madonna", "madonna", 71), ("Łukasz", "Żółć", "zolc", 72))
    lines = [f"{login},{first} {last},,,,,,".replace(", ", ",") for first, last, login, _ in people]
    add_student(course, "\n".join(lines))
    files = unpacked(ilias())
    for first, last, login, number in people:
        home = in_ascii(f"{last}_{first}_{login}_{number}")
        files[f"Lab_1/Submissions/{home}/{BOOK}"] = b"{}"
    summary = collect(course, files)
    assert {taken.student for taken in summary.taken} == {*EVERYONE, "madonna", "zolc"}
    assert summary.refused == ()


def test_a_guessed_login_needs_the_letters_of_the_name(course: Course) -> None:
    """Żeni_x_k, who is not in the list, is not k: Kim's name has no e, n and i in this order."""
    add_student(course, "k,Kim Kay,,,,,,")
    files = unpacked(ilias()) | {f"Lab_1/Submissions/{in_ascii('Ż_Żeni_x_k_73')}/{BOOK}": b"{}"}
    summary = collect(course, files)
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert [refused.reason for refused in summary.refused] == ["not in students.csv"]


@pytest.mark.parametrize("late", [False, True])
def test_ilias_numbers_what_was_handed_in_again(late: bool, course: Course) -> None:
    home = f"Lab_1/Submissions/{in_ascii('Lovelace_Ada_ada_1001')}"
    other = f"Lab_1/Submissions/{in_ascii('van der Berg_Jan_jan_1004')}"
    again = f"{'Late Submission - ' * late}{NAME} (2).ipynb"
    files = {f"{home}/{again}": b"{2}", f"{home}/{BOOK}": b"{1}", f"{other}/x (2).ipynb": b"{}"}
    collect(course, files)
    assert submitted_files(course)["ada"] == {BOOK: b"{2}"}
    assert set(submitted_files(course)) == {"ada", "vdberg"}


def test_a_folder_that_is_called_like_iliass_is_not_a_student(course: Course) -> None:
    top = "gradebook_CS101_Lab1_2026"
    summary = collect(
        course, {f"{top}/{path}": data for path, data in unpacked(blackboard()).items()}
    )
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert summary.refused == ()


@pytest.mark.parametrize(
    "written", ["Sep 18, 2026 1015 AM", "18 sept. 2026 10 h 15", "2026-09-18 1015"]
)
@pytest.mark.parametrize("number", ["", "N0123456 - "])
def test_brightspace_in_other_forms(written: str, number: str, course: Course) -> None:
    """Nottingham's has the student's number: 12345-67890 - N0123456 - Name- Sep 18, 2026 …"""
    add_student(course, "jo,Mary - Lou Quick,,,N0123456,,,")
    home = f"397063-2557369 - {number}Mary - Lou Quick{'' if number else ' '}- {written}"
    for export in ({f"{home}/{BOOK}": b"{}"}, {f"{home} - lab 1 - Sep 2027 - v2.ipynb": b"{}"}):
        summary = collect(course, {**export, "index.html": b""})
        when = datetime(2026, 9, 18, 10, 15, tzinfo=ZONE)
        assert [(taken.student, taken.when) for taken in summary.taken] == [("jo", when)]


def test_an_exchange_in_the_courses_own_time_zone(course: Course) -> None:
    """nbgrader's setting Exchange.timezone writes CEST and CET, which tell the two hours apart."""
    moments = {"ada": BACK, "vdberg": BACK.replace(fold=1), "g_k": BACK - timedelta(days=2)}
    files = {
        f"inbound/{student}+{LAB}+{when:%Y-%m-%d %H:%M:%S.%f %Z}+aB3/{BOOK}": b"{}"
        for student, when in moments.items()
    }
    collect(course, files)
    assert times(course) == {student: when.astimezone(UTC) for student, when in moments.items()}


def test_a_time_in_the_hour_that_comes_twice_is_not_new_each_time(course: Course) -> None:
    files = {f"Lab_ada_attempt_{BACK:%Y-%m-%d-%H-%M-%S}_{BOOK}": b"{}"}
    collect(course, files)
    assert [taken.state for taken in collect(course, files).taken] == ["same"]


def test_names_as_macos_packs_them(course: Course) -> None:
    """UTF-8 without the mark for it, and a second file beside each."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for path, data in unpacked(moodle()).items():
            for name in (path, f"__MACOSX/{path}"):
                archive.writestr(name, data)
    marked = whole.getvalue()
    data = bytearray(marked)
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(start)
        while place >= 0:
            (flags,) = struct.unpack_from("<H", data, place + offset)
            struct.pack_into("<H", data, place + offset, flags & ~0x800)
            place = data.find(start, place + 4)
    assert bytes(data) != marked
    summary = collect(course, bytes(data))
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert summary.refused == ()


def test_names_as_windows_packs_them(course: Course) -> None:
    files = unpacked(gradescope())
    files |= {f"assignment_91_export/submission_3300/__MACOSX/._{BOOK}": b""}
    names = {path.replace("/", "\\"): data for path, data in files.items()}
    summary = collect(course, packed(names, DOWNLOADED, made_on=WINDOWS))
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert summary.refused == ()


def test_the_exact_time_in_a_zip_counts_more_than_the_clock_of_its_machine(course: Course) -> None:
    """Info-ZIP adds seconds since 1970; the other date is by a clock that may be hours ahead."""
    whole = io.BytesIO()
    handed_in = {one.id: one.handed_in for one in CLASS[:3]}
    with zipfile.ZipFile(whole, "w") as archive:
        for student, when in handed_in.items():
            entry = zipfile.ZipInfo(f"{student}/{BOOK}", (2026, 9, 22, 6, when.minute, 0))
            entry.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(when.timestamp()))
            archive.writestr(entry, b"{}")
    collect(course, whole.getvalue())
    assert times(course) == {student: when.astimezone(UTC) for student, when in handed_in.items()}


@pytest.mark.parametrize("extra", [b"UT\x01\x00\x01", b"UT\x05\x00\x00\x01\x00\x00\x00", b"UT"])
def test_an_exact_time_that_is_not_whole_is_left_out(extra: bytes, course: Course) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        entry = zipfile.ZipInfo(f"ada/{BOOK}", (2026, 9, 19, 6, 0, 0))
        entry.extra = extra
        archive.writestr(entry, b"{}")
    assert [taken.student for taken in collect(course, whole.getvalue()).taken] == ["ada"]


def test_a_zip_in_a_zip_is_unpacked_once(course: Course) -> None:
    inner = packed({f"work/{BOOK}": b"{}", "work/w.csv": b"1"}, DOWNLOADED)
    home = "Ada Lovelace_7001_assignsubmission_file"
    collect(course, {f"{home}/a.zip": packed({"work.zip": inner}, DOWNLOADED)})
    assert submitted_files(course)["ada"] == {BOOK: b"{}", "w.csv": b"1"}
    whole = packed({BOOK: b"{}", "data.zip": inner}, DOWNLOADED + timedelta(days=1))
    collect(course, {f"{home}/b.zip": whole})
    assert set(submitted_files(course)["ada"]) == {BOOK, "data.zip"}


def test_a_zip_in_a_students_zip_is_not_a_class(course: Course, tmp_path: Path) -> None:
    class_of_two = packed({"a.ipynb": b"{}", "b.ipynb": b"{}"}, DOWNLOADED)
    path = tmp_path / "ada.zip"
    path.write_bytes(packed({"inner.zip": class_of_two}, DOWNLOADED))
    summary = collect_submissions(course, LAB, [path], Options())
    assert not summary.taken
    assert "2 notebooks" in summary.refused[0].reason


def _many(number: int) -> list[Someone]:
    made = [CLASS[0]] * number
    return [
        Someone(f"s{n}", "Ann", f"Lee{n}", f"s{n}@uni.example", 2000 + n, "", "", DUE)
        for n, _ in enumerate(made)
    ]


def test_many_alike_are_one_line(course: Course) -> None:
    """Renamed notebooks, earlier hand-ins, and texts of Moodle's editor, of seven students."""
    people = _many(7)
    add_student(course, "\n".join(f"{one.id},{one.full},,,,,," for one in people))
    attempts = {
        f"Lab_{one.id}_attempt_2026-09-1{day}-10-00-00_{BOOK}": b"{%d}" % day
        for one in people
        for day in (5, 6)
    }
    (line,) = [line for line in collect(course, attempts).lines() if "more than once" in line]
    assert line.startswith("class.zip: 7 students handed in more than once, and of each the newest")
    assert submitted_files(course)["s3"][BOOK] == b"{6}"
    newer = {f"Lab_{one.id}_attempt_2026-09-17-10-00-00_{BOOK}": b"{7}" for one in people}
    told = collect(course, newer).lines()
    assert told[1] == "Newer hand-ins replaced those of s0, s1, s2, s3, s4 and 2 more."
    files = {}
    for n, one in enumerate(people):
        files[f"{one.full}_{n}_assignsubmission_file/my.ipynb"] = b"{}"
        files[f"{one.full}_{n}_assignsubmission_onlinetext/onlinetext.html"] = b"<p>"
    lines = collect(course, files).lines()
    assert f"7 notebooks had other names and were stored as {BOOK}: s0, s1" in "\n".join(lines)
    texts = [line for line in lines if "text from Moodle's editor" in line]
    assert len(texts) == 1
    assert "and 6 more: " in texts[0]


def test_many_strangers_have_a_line_each(course: Course) -> None:
    files = {f"Ann Lee{n}_{n}_assignsubmission_file/{BOOK}": b"{}" for n in range(7)}
    lines = collect(course, files).lines()
    assert sum("not in students.csv" in line for line in lines) == 7


def test_brightspaces_class_is_whole_in_a_folder_of_the_download(course: Course) -> None:
    top = "Lab 1 Download Oct 28, 2026 915 AM"
    files = {f"{top}/{path}": data for path, data in unpacked(brightspace()).items()}
    assert {taken.student for taken in collect(course, files).taken} == EVERYONE


def test_a_zip_whose_end_is_missing_is_told(course: Course) -> None:
    summary = collect(course, moodle()[:-300])
    assert [one.reason for one in summary.refused] == ["it is not a zip, or its end is missing"]
    assert not os.path.exists(course.root / "submitted")


def test_files_of_a_quiz_in_canvas(course: Course) -> None:
    """Canvas's quiz_submission_zipper.rb: question_attachment_filename."""
    files = {}
    for place, one in enumerate(CLASS):
        name = f"{one.sortable}{one.number}".replace(" ", "_")
        start = re.sub(r"[^-\w]", "", name, flags=re.ASCII).lower()  # as Ruby, ASCII alone
        files[f"{start}_question_71_{8800 + place}_{BOOK}"] = one.files[BOOK]
    summary = collect(course, files)
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert (summary.refused, set(times(course).values())) == ((), {None})


@pytest.mark.parametrize("flat", [False, True])
def test_files_that_a_plugin_of_moodle_keeps(flat: bool, course: Course) -> None:
    files = unpacked(moodle(flat=flat))
    summary = collect(
        course, {k.replace("submission_file", "submission_s3"): files[k] for k in files}
    )
    assert {taken.student for taken in summary.taken} == EVERYONE
    assert summary.refused == ()


def test_ilias_unpacked_into_a_folder_of_its_own(course: Course) -> None:
    files = unpacked(ilias())
    summary = collect(course, {f"Lab 1 (1)/{name}": data for name, data in files.items()})
    assert {taken.student for taken in summary.taken} == EVERYONE
