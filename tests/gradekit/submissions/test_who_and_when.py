"""Golden exports of each system: the right students, the right times, nobody lost or doubled."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from gradekit.late import lateness_of
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.collected import Summary
from gradekit.submissions.folder import find_submissions
from gradekit.submissions.stored import read_origin
from tests.helpers.collected import COURSE, submitted_files
from tests.helpers.exports import (
    CLASS,
    DOWNLOADED,
    EXPORTS,
    STUDENTS,
    blackboard,
    canvas,
    classroom,
    exchange,
    gradescope,
    handed_zips,
    ilias,
    moodle,
    moodle_worksheet,
    packed,
)
from tests.helpers.submissions import LAB, NAME

LATE_RULE = "[late]\ngrace_minutes = 30\n"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "course"
    (root / "solutions").mkdir(parents=True)
    for name in (NAME, "lab02_seq2seq"):
        (root / "solutions" / f"{name}.py").touch()
    (root / "course.toml").write_text(COURSE + LATE_RULE)
    (root / "students.csv").write_text(STUDENTS)
    return load_course(root)


def collect(course: Course, export: bytes | Path, lab: str = LAB, **options: object) -> Summary:
    source = export if isinstance(export, Path) else course.root.parent / "class.zip"
    if isinstance(export, bytes):
        source.write_bytes(export)
    return collect_submissions(course, lab, [source], Options(**options))  # type: ignore[arg-type]


def files_of(course: Course, lab: str = LAB) -> dict[str, dict[str, bytes]]:
    return {s.student: dict(s.files) for s in find_submissions(course.root, lab)}


def times_of(course: Course, lab: str = LAB) -> dict[str, datetime | None]:
    return {s.student: s.submitted_at for s in find_submissions(course.root, lab)}


EVERYONE = {one.id: one.files for one in CLASS}


@pytest.mark.parametrize("system", EXPORTS)
def test_everyone_is_there_once_with_the_right_time(
    system: str, course: Course, tmp_path: Path
) -> None:
    build, known = EXPORTS[system]
    summary = collect(course, build(tmp_path))
    assert files_of(course) == EVERYONE
    assert [taken.student for taken in summary.taken] == sorted(EVERYONE)
    assert summary.refused == ()
    assert times_of(course) == {one.id: known(one) for one in CLASS}
    assert {taken.student: taken.when for taken in summary.taken} == times_of(course)
    late = {
        student
        for student, when in times_of(course).items()
        if lateness_of(course, LAB, student, when).is_late
    }
    tells = any(known(one) for one in CLASS)
    assert late == ({one.id for one in CLASS if one.late} if tells else set())


@pytest.mark.parametrize("system", EXPORTS)
def test_a_dry_run_says_the_same_and_writes_nothing(
    system: str, course: Course, tmp_path: Path
) -> None:
    export = EXPORTS[system][0](tmp_path)
    before = collect(course, export, dry_run=True)
    assert not (course.root / "submitted").exists()
    assert before == collect(course, export)
    again = collect(course, export)
    assert again.unchanged == tuple(sorted(EVERYONE))
    assert again.to_json()["taken"] == before.to_json()["taken"]


@pytest.mark.parametrize("system", EXPORTS)
def test_without_a_roster_everyone_is_new_and_there_once(
    system: str, course: Course, tmp_path: Path
) -> None:
    (course.root / "students.csv").unlink()
    summary = collect(course, EXPORTS[system][0](tmp_path))
    assert len(summary.collected) == len(CLASS)
    assert summary.refused == ()
    handed = sorted(files_of(course).values(), key=str)
    assert handed == sorted(EVERYONE.values(), key=str)


@pytest.mark.parametrize("system", EXPORTS)
def test_who_is_not_in_the_roster_is_named_once_and_not_taken(
    system: str, course: Course, tmp_path: Path
) -> None:
    lines = STUDENTS.splitlines(keepends=True)
    absent = "ada,Ada Lovelace"
    (course.root / "students.csv").write_text(
        "".join(line for line in lines if not line.startswith(absent))
        + "bada,Bada Lovelace,bl@uni.example,,,,,\n"
    )
    export = EXPORTS[system][0](tmp_path)
    summary = collect(course, export)
    assert files_of(course).keys() == EVERYONE.keys() - {"ada"}
    listed = {refused.name for refused in summary.refused}
    assert len(listed) == 1
    assert all("not in students.csv" in refused.reason for refused in summary.refused)
    assert len(collect(course, export, new=True).collected) == 1


def test_the_closest_names_are_told(course: Course) -> None:
    text = STUDENTS.replace("Ada Lovelace,ada@uni.example,1001", "Ada Lovelase,,")
    (course.root / "students.csv").write_text(text)
    (refused,) = collect(course, moodle()).refused
    assert refused.name == "Ada Lovelace"
    assert refused.reason == "not in students.csv; closest: Ada Lovelase (ada)"


def test_a_student_of_moodle_is_the_same_one_next_week(course: Course) -> None:
    collect(course, moodle(week=1))
    second = packed(
        {f"Ada Lovelace_7333_assignsubmission_file/{n}": d for n, d in CLASS[0].files.items()},
        CLASS[0].handed_in,
    )
    assert [taken.student for taken in collect(course, second).taken] == ["ada"]
    assert sorted(path.name for path in (course.root / "submitted").iterdir()) == sorted(EVERYONE)


@pytest.mark.parametrize("hidden", [False, True])
def test_moodles_worksheet_tells_when(hidden: bool, course: Course, tmp_path: Path) -> None:
    worksheet = tmp_path / "grading.csv"
    worksheet.write_bytes(moodle_worksheet())
    summary = collect(course, moodle(hidden=hidden), times=(worksheet,))
    assert files_of(course) == EVERYONE
    minutes = {one.id: one.handed_in.replace(second=0) for one in CLASS}
    assert times_of(course) == minutes
    assert {taken.time.words for taken in summary.taken} == {"times file"}


def test_hidden_names_are_refused_with_what_to_do(course: Course) -> None:
    for export, todo in ((moodle(hidden=True), "--times"), (canvas(True), "anonymous grading")):
        summary = collect(course, export)
        assert not summary.taken
        assert len(summary.refused) == len(CLASS)
        assert all(todo in refused.reason for refused in summary.refused)


def test_times_that_come_later_are_added_and_not_lost_again(course: Course, tmp_path: Path) -> None:
    worksheet = tmp_path / "grading.csv"
    worksheet.write_bytes(moodle_worksheet())
    assert any("unknown" in note for note in collect(course, moodle()).notes)
    assert set(times_of(course).values()) == {None}
    dated = collect(course, moodle(), times=(worksheet,))
    assert {taken.state for taken in dated.taken} == {"dated"}
    assert dated.lines()[1] == "Of those there already, 6 have a new time."
    assert Summary(dated.taken[:1]).lines()[1] == "Of those there already, 1 has a new time."
    known = times_of(course)
    assert None not in known.values()
    assert collect(course, moodle()).notes == ()
    assert times_of(course) == known


def test_one_line_says_that_times_are_unknown(course: Course) -> None:
    (note,) = collect(course, moodle()).notes
    assert note == (
        "class.zip: 6 hand-ins all carry 22 Sep 09:15, when the files were packed or copied; the "
        "time is unknown, so they count as on time. Give --times FILE, or --on-time if that is "
        "right."
    )
    summary = collect(course, moodle(), on_time=True)
    assert summary.notes == ()
    assert {taken.time.words for taken in summary.taken} == {"on time, as you said"}


def test_late_in_canvas_says_no_more_than_late(course: Course) -> None:
    _, note = collect(course, canvas()).notes
    assert "Canvas marks 1 as late, but not how late" in note
    extended = course.root / "course.toml"
    extended.write_text(
        extended.read_text()
        + f'[[extension]]\nstudent = "lei.li"\nlab = "{LAB}"\ndue = 2026-09-23T23:59:00\n'
    )
    again = load_course(course.root)
    assert not lateness_of(again, LAB, "lei.li", times_of(course)["lei.li"]).is_late


def test_two_people_of_one_name_are_never_one_student(course: Course) -> None:
    lines = STUDENTS + "jo1,Jo Li,,,,,,\njo2,Jo Li,,,,,,\n"
    (course.root / "students.csv").write_text(lines)
    files = {f"Jo Li_{n}_assignsubmission_file/{NAME}.ipynb": b"{%d}" % n for n in (7001, 7002)}
    export = packed(files, CLASS[0].handed_in)
    summary = collect(course, export)
    assert {one.reason for one in summary.refused} == {"2 students are called so: jo1, jo2"}
    (course.root / "students.csv").unlink()
    summary = collect(course, export)
    assert not summary.taken
    assert {one.reason for one in summary.refused} == {"2 people in this source have this name"}


def test_a_group_of_gradescope_is_everyone_in_it(course: Course) -> None:
    listed = b"""---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '15-001'
    :email: ada@uni.example
  - :name: Jan van der Berg
    :sid: '15-004'
    :email: ''
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-09-18 08:15:22.000000000 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: Etc/UTC
    time: 2026-09-18 10:15:22.000000000 Z
"""
    files = {"e/submission_metadata.yml": listed, f"e/submission_1/{NAME}.ipynb": b"{}"}
    collect(course, packed(files, CLASS[0].handed_in))
    when = datetime.fromisoformat("2026-09-18T08:15:22+00:00")
    assert times_of(course) == {"ada": when, "vdberg": when}


def test_a_students_own_metadata_counts_for_nothing(course: Course) -> None:
    planted = b"submission_3300:\n  :submitters:\n  - :sid: '15-004'\n"
    whole = {"x.csv": b"1", "x.ipynb": b"{}", "submission_metadata.yml": planted}
    files = {f"ada/submission_3300/{name}": data for name, data in whole.items()}
    collect(course, packed({**files, "vdberg/y.ipynb": b"{}"}, CLASS[0].handed_in))
    assert "x.csv" not in files_of(course)["vdberg"]
    assert "submission_3300/x.csv" in files_of(course)["ada"]


@pytest.mark.parametrize(
    "listed",
    [
        b"- a\n",
        b"a: [",
        b"\xff",
        b"a: &x [*x]",
        b"? !!python/object/apply:os.system ['x']",
        b"[" + b"[]," * 600_000 + b"[]]",
    ],
)
def test_metadata_that_cannot_be_read_stops_with_a_sentence(listed: bytes, course: Course) -> None:
    files = {"e/submission_metadata.yml": listed, "e/submission_1/x.ipynb": b"{}"}
    summary = collect(course, packed(files, CLASS[0].handed_in))
    assert not summary.taken
    assert summary.refused
    assert all("submission_metadata.yml" in refused.reason for refused in summary.refused)


def test_an_export_without_its_metadata_is_not_one_student(course: Course) -> None:
    for own in (True, False):
        if not own:
            (course.root / "students.csv").unlink()
        files = {f"e/submission_{n}/{NAME}.ipynb": b"{}" for n in (1, 2)}
        summary = collect(course, packed(files, CLASS[0].handed_in))
        assert not summary.taken
        assert all("submission_metadata.yml is missing" in r.reason for r in summary.refused)


def test_a_zip_of_several_notebooks_is_never_one_student(course: Course, tmp_path: Path) -> None:
    several = packed({"a.ipynb": b"{}", "b.ipynb": b"{}"}, CLASS[0].handed_in)
    for name in ("ada.zip", "ada-lab01-handin.zip", "week 1.zip"):
        path = tmp_path / name
        path.write_bytes(several)
        summary = collect(course, path)
        assert not summary.taken
        assert "2 notebooks" in summary.refused[0].reason
    folder = tmp_path / "zips"
    folder.mkdir()
    (folder / "ada.zip").write_bytes(several)
    assert "2 notebooks" in collect(course, folder).refused[0].reason


def test_a_zips_own_name_counts_only_if_it_is_in_the_roster(course: Course, tmp_path: Path) -> None:
    one = packed({f"work/{NAME}.ipynb": b"{}"}, CLASS[0].handed_in)
    for name in ("ada.zip", "download.zip"):
        (tmp_path / name).write_bytes(one)
    assert [taken.student for taken in collect(course, tmp_path / "ada.zip").taken] == ["ada"]
    summary = collect(course, tmp_path / "download.zip")
    assert not summary.taken
    assert "not in students.csv" in summary.refused[0].reason


def test_a_notebook_of_another_lab_is_no_hand_in(course: Course) -> None:
    other = json.dumps({"cells": [], "metadata": {"attnlab": {"lab": "lab02"}}}).encode()
    files = {f"Ada Lovelace_7001_assignsubmission_file/{NAME}.ipynb": other}
    files |= {f"Jan van der Berg_7002_assignsubmission_file/{NAME}.ipynb": b"{}"}
    summary = collect(course, packed(files, CLASS[0].handed_in))
    assert [taken.student for taken in summary.taken] == ["vdberg"]
    (refused,) = summary.refused
    assert (refused.name, refused.reason) == ("Ada Lovelace", "it is a notebook of lab02")


def test_two_systems_in_one_course(course: Course, tmp_path: Path) -> None:
    """Of one hand-in with a time and one without, the one with a time counts; a note says so."""
    paths = [tmp_path / "moodle.zip", tmp_path / "exchange.zip"]
    for path, data in zip(paths, (moodle(), exchange()), strict=True):
        path.write_bytes(data)
    summary = collect_submissions(course, LAB, paths)
    assert files_of(course) == EVERYONE
    assert times_of(course) == {one.id: one.handed_in for one in CLASS}
    assert len(summary.taken) == len(CLASS)


def test_file_dates_of_a_copied_class_are_no_times(course: Course) -> None:
    """Even if one file was copied at another hour, the dates of the others are not believed."""
    made = CLASS[0].handed_in + timedelta(days=3)
    files = {f"{one.id}/{NAME}.ipynb": b"{}" for one in CLASS}
    dates = {path: made + timedelta(seconds=2 * n) for n, path in enumerate(files)}
    dates[f"ada/{NAME}.ipynb"] = CLASS[0].handed_in
    collect(course, packed(files, dates))
    known = times_of(course)
    assert known.pop("ada") == CLASS[0].handed_in
    assert set(known.values()) == {None}


def test_where_a_file_came_from_is_kept_beside_it(course: Course) -> None:
    collect(course, moodle(week=2))
    origin = read_origin(course.root, "ada", LAB)
    assert origin is not None
    assert (origin.system, origin.source) == ("Moodle", "class.zip")
    assert origin.home == f"Ada Lovelace_{origin.key}_assignsubmission_file"
    assert origin.files[f"{NAME}.ipynb"] == f"class.zip/{origin.home}/{NAME}.ipynb"
    assert set(submitted_files(course)["ada"]) == set(CLASS[0].files)


def test_json_for_programs(course: Course) -> None:
    text = STUDENTS.replace("ada,Ada Lovelace,ada@uni.example,1001,15-001", "eve,Eve Moore,,,")
    (course.root / "students.csv").write_text(text.replace(",ada-l,", ",,"))
    told = collect(course, gradescope(), dry_run=True).to_json()
    assert told.keys() == {"taken", "refused"}
    assert told["taken"][0] == {
        "student": "g_k",
        "name": "Grace King Hopper",
        "file": f"class.zip/assignment_91_export/submission_3305/{NAME}.ipynb",
        "when": CLASS[5].handed_in.isoformat(),
        "how": "Gradescope",
    }
    (refused,) = told["refused"]
    assert refused["name"] == "Ada Lovelace"
    assert refused["reason"].startswith("not in students.csv")
    assert {one["when"] for one in collect(course, moodle(), dry_run=True).to_json()["taken"]} == {
        None
    }


def test_a_login_that_ends_like_another_ones_is_not_theirs(course: Course) -> None:
    """g_k is not in the roster, and k is: nothing of the first becomes the second's."""
    text = STUDENTS.replace("g_k,Grace King Hopper,g_k@uni", "k,Kim Kay,k@uni").replace("gkh", "kk")
    (course.root / "students.csv").write_text(text.replace('"Hopper, Grace King"', ""))
    for export in (blackboard(), ilias()):
        summary = collect(course, export, dry_run=True)
        assert "k" not in {taken.student for taken in summary.taken}
        assert len(summary.taken) == len(CLASS) - 1


def test_repositories_without_git_are_known_by_their_names(course: Course, tmp_path: Path) -> None:
    top = tmp_path / "lab-01-submissions"
    for one in CLASS:
        (top / f"lab-01-{one.github}").mkdir(parents=True)
        for name, data in one.files.items():
            (top / f"lab-01-{one.github}" / name).write_bytes(data)
    summary = collect(course, top)
    assert files_of(course) == EVERYONE
    assert summary.refused == ()
    assert set(times_of(course).values()) == {None}


def test_whom_a_file_of_times_names_in_vain_is_said(course: Course, tmp_path: Path) -> None:
    times = tmp_path / "times.csv"
    times.write_text("id,when\nada,2026-09-18 10:15\nadda,2026-09-18 10:15\n")
    note = collect(course, moodle(), times=(times,)).notes[0]
    assert note == "--times names people who are not in students.csv: adda."


def test_a_repository_for_the_whole_term_is_one_hand_in_a_lab(
    course: Course, tmp_path: Path
) -> None:
    """Its notebooks of other labs are left out: one line for the class, each one in the JSON."""
    top = classroom(tmp_path)
    for folder in top.iterdir():
        (folder / "lab02_seq2seq.ipynb").write_text("{}")
        (folder / ".devcontainer").mkdir()
        (folder / ".devcontainer" / "x.json").write_text("{}")
    summary = collect(course, top)
    assert files_of(course) == EVERYONE
    assert {one.reason for one in summary.refused} == {"it is a notebook of lab02"}
    assert {one["student"] for one in summary.to_json()["refused"]} == set(EVERYONE)
    assert summary.lines()[-1].endswith(" and 5 more: it is a notebook of lab02")


def test_hidden_names_may_be_admitted_each_as_somebody(course: Course) -> None:
    summary = collect(course, canvas(anonymous=True), new=True)
    assert len(summary.collected) == len(CLASS)
    assert all(taken.student.startswith("anon_") for taken in summary.taken)


@pytest.mark.parametrize(
    "name",
    [
        "vanderbergjan_1004_77_x.ipynb",
        "Lab_vdberg_attempt_2026-09-18-10-15-22_x.ipynb",
        "Jan van der Berg_7_assignsubmission_file_x.ipynb",
        "1-2 - Jan van der Berg - Sep 18, 2026 1015 AM - x.ipynb",
        "vdberg/x.ipynb",
        "vdberg+lab01+2026-09-18 10:15:22 UTC+x/x.ipynb",
        "vdberg.zip",
    ],
)
def test_no_name_in_a_students_folder_makes_it_another_ones(
    name: str, course: Course, tmp_path: Path
) -> None:
    """Even if the folder is the only one in the source; outside of it, such a name counts."""
    data = packed({"x.ipynb": b"{}"}, DOWNLOADED) if name.endswith(".zip") else b"{}"
    for top in ("ada", "week 1/ada"):
        summary = collect(course, packed({f"{top}/{name}": data}, DOWNLOADED), dry_run=True)
        assert [taken.student for taken in summary.taken] == ["ada"]
    alone = collect(course, packed({f"week 1/{name}": data}, DOWNLOADED), dry_run=True)
    assert [taken.student for taken in alone.taken] == ["vdberg"]


def test_no_name_in_a_clone_makes_it_another_ones(course: Course, tmp_path: Path) -> None:
    top = classroom(tmp_path)
    for folder in list(top.iterdir())[1:]:
        shutil.rmtree(folder)
    (clone,) = top.iterdir()
    (clone / "lab01_softmax.ipynb").rename(clone / "vanderbergjan_1004_77_x.ipynb")
    (taken,) = collect(course, top).taken
    logins = {one.id: one.github for one in CLASS}
    assert clone.name == f"lab-01-{logins[taken.student]}"


def test_zips_one_by_one_are_dated_as_their_folder_is(course: Course, tmp_path: Path) -> None:
    """`lab collect lab01 zips/*.zip` and `lab collect lab01 zips` say the same."""
    folder = handed_zips(tmp_path)
    sources = sorted(folder.iterdir())
    summary = collect_submissions(course, LAB, sources)
    assert times_of(course) == {one.id: one.handed_in for one in CLASS}
    assert summary.notes == ()
    for path in sources:
        os.utime(path, (DOWNLOADED.timestamp(), DOWNLOADED.timestamp()))
    shutil.rmtree(course.root / "submitted")
    (note,) = collect_submissions(course, LAB, sources, Options(dry_run=True)).notes
    assert note.startswith("zips: 6 hand-ins all carry 22 Sep 09:15")


def test_a_folder_in_a_students_own_zip_does_not_hide_when_it_was_handed_in(
    course: Course, tmp_path: Path
) -> None:
    sources = sorted(handed_zips(tmp_path).iterdir())
    (adas,) = (path for path in sources if path.name.startswith("ada-"))
    dates = adas.stat().st_atime, adas.stat().st_mtime
    adas.write_bytes(packed({f"ada/{NAME}.ipynb": b"{}"}, DOWNLOADED))
    os.utime(adas, dates)
    collect_submissions(course, LAB, sources)
    assert times_of(course) == {one.id: one.handed_in for one in CLASS}


DEEP = b"submission_1: " + b"[" * 100_000
MANY = b"a0: &a0 aaaaaaaaaa\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9)
)
HOSTILE = {
    "words that are no truths": b"submission_1: {:created_at: !!bool maybe}",
    "no time": b"submission_1: {:created_at: !!timestamp maybe}",
    "no number": b"submission_1: {:created_at: !!int '', x: !!float ''}",
    "before all years": b"submission_1: {:created_at: 0001-01-01 00:00:00 +23:59}",
    "after all years": b"submission_1: {:created_at: 9999-12-31 23:59:59 -23:59}",
    "nested 100,000 deep": DEEP,
    "a name that grows to gigabytes": MANY
    + b"submission_1:\n  :submitters:\n  - :name: *a8\n    :email: *a8\n",
}


@pytest.mark.parametrize("planted", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_list_in_a_students_own_zip_costs_nobody_else(
    course: Course, tmp_path: Path, planted: bytes
) -> None:
    """A student's own zip looks like an export if it has such a list at its top."""
    whole = {"submission_metadata.yml": planted, f"submission_1/{NAME}.ipynb": b"{}"}
    own = {"mal": whole, "ada": {f"{NAME}.ipynb": b"{}"}}
    paths = []
    for student, files in own.items():
        paths.append(tmp_path / f"{student}-{LAB}-handin.zip")
        paths[-1].write_bytes(packed(files, CLASS[0].handed_in))
    summary = collect_submissions(course, LAB, paths)
    assert "ada" in {taken.student for taken in summary.taken}
