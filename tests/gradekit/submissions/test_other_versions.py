"""Exports of other versions of the systems, and of their plugins: the right students and times."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.collected import Summary
from tests.helpers.collected import course_in
from tests.helpers.exports import (
    CLASS,
    DOWNLOADED,
    DUE,
    STUDENTS,
    ZONE,
    Someone,
    classroom,
    in_ascii,
    moodle_name,
    moodle_number,
    packed,
)
from tests.helpers.submissions import LAB, NAME

BOOK = f"{NAME}.ipynb"
UNKNOWN: dict[str, datetime | None] = {one.id: None for one in CLASS}
EXACT: dict[str, datetime | None] = {one.id: one.handed_in for one in CLASS}
TO_THE_MINUTE = {one.id: one.handed_in.replace(second=0) for one in CLASS}
ONLY_LATE = {o.id: DUE + timedelta(seconds=1) if o.late else None for o in CLASS}
IN_GROUPS = "id,group\n" + "".join(f"{one.id},team_{n}\n" for n, one in enumerate(CLASS))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_in(tmp_path / "course", STUDENTS)


def collect(course: Course, source: bytes | Path, **files: str) -> Summary:
    """Collect a zip or a folder, with the texts of files of times or groups."""
    folder = course.root.parent
    if isinstance(source, bytes):
        (folder / "class.zip").write_bytes(source)
        source = folder / "class.zip"
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    options = {name: (folder / f"{name}.csv",) for name in files}
    return collect_submissions(course, LAB, [source], Options(dry_run=True, **options))


def told(summary: Summary) -> dict[str, datetime | None]:
    """By student, when they handed in; nobody is there twice."""
    assert len({taken.student for taken in summary.taken}) == len(summary.taken)
    return {taken.student: taken.when for taken in summary.taken}


def canvas_start(name: str, one: Someone) -> str:
    """canvas-lms, lib/content_zipper.rb: get_filename, of a name that needs no other changes."""
    return "_".join([name, *(["LATE"] if one.late else []), str(one.number)])


def test_groups_of_canvas_whose_names_end_like_a_number(course: Course) -> None:
    """sanitize_user_name leaves the number in team_1, because no underscore follows it."""
    names = {one.id: canvas_start(f"team_{n}", one) for n, one in enumerate(CLASS)}
    export = packed({f"{names[one.id]}_7700_{BOOK}": b"{}" for one in CLASS}, DOWNLOADED)
    assert told(collect(course, export, groups=IN_GROUPS)) == ONLY_LATE
    alone = collect(course, export)
    assert told(alone) == ONLY_LATE
    assert any("give --groups FILE" in note for note in alone.notes)


def test_numbers_in_a_strangers_own_file_name_are_nobodys(course: Course) -> None:
    """9999 is not in the roster; 1001 to 1004 are, but here they are the stranger's own words."""
    names = ("1001_5_x", "a_1001_5_x", "5_1001_7_x", "LATE_1001_5_x")
    files = {f"stranger_9999_7700{n}_{name}.ipynb": b"{}" for n, name in enumerate(names)}
    assert told(collect(course, packed(files, DOWNLOADED))) == {}


def test_everyone_in_a_group_of_a_canvas_course_that_has_ended(course: Course) -> None:
    """zip_assignment of a completed course: each member has the file, with the same number."""
    names = {one.id: canvas_start(one.first.lower(), one) for one in CLASS}
    export = packed({f"{names[one.id]}_7700_{BOOK}": b"{}" for one in CLASS}, DOWNLOADED)
    assert told(collect(course, export)) == ONLY_LATE


def moodle_with_logins(people: dict[str, str]) -> bytes:
    """mod/assign/classes/downloader.php with assign_prefixwithusername: get_student_prefix."""
    files = {}
    for number, (login, name) in enumerate(people.items()):
        start = f"{login}_{name}".replace("_", " ").replace("'", "")
        files[f"{start}_{7100 + number}_assignsubmission_file/{BOOK}"] = b"{}"
    return packed(files, DOWNLOADED)


def test_a_moodle_that_writes_the_login_before_the_name(course: Course) -> None:
    people = {one.email.partition("@")[0]: moodle_name(one) for one in CLASS}
    assert told(collect(course, moodle_with_logins(people))) == UNKNOWN


def test_a_login_before_another_ones_name_is_nobodys(course: Course) -> None:
    """Login and name must be the same student's: these are people who are not in the list."""
    people = {"ada": "Jan van der Berg", "jo": "Ada Lovelace", "jan": "Berg"}
    summary = collect(course, moodle_with_logins(people))
    assert told(summary) == {}
    assert all("not in students.csv" in refused.reason for refused in summary.refused)


def test_two_of_one_name_differ_by_the_login_before_it(course: Course) -> None:
    lines = STUDENTS + "jo1,Jo Li,,,,,,\njo2,Jo Li,,,,,,\n"
    (course.root / "students.csv").write_text(lines)
    summary = collect(course, moodle_with_logins({"jo1": "Jo Li", "jo2": "Jo Li"}))
    assert told(summary) == {"jo1": None, "jo2": None}


@pytest.mark.parametrize("hidden", [False, True])
def test_one_group_of_an_older_moodle(hidden: bool, course: Course) -> None:
    """Moodle 4.0, mod/assign/locallib.php: download_submissions, with a group that was chosen."""
    names = ["Participant" if hidden else moodle_name(one).replace("'", "") for one in CLASS]
    homes = [
        f"Lab 3-b-{name}_{moodle_number(one, 1)}" for name, one in zip(names, CLASS, strict=True)
    ]
    export = packed({f"{home}_assignsubmission_file/{BOOK}": b"{}" for home in homes}, DOWNLOADED)
    summary = collect(course, export)
    assert told(summary) == ({} if hidden else UNKNOWN)
    assert all("Moodle hides" in refused.reason for refused in summary.refused)


def test_first_names_that_begin_alike_are_no_group(course: Course) -> None:
    """Two strangers, and two students whose names are the ends of theirs."""
    (course.root / "students.csv").write_text(STUDENTS + "lk,Lena Kim,,,,,,\nmr,Mia Roth,,,,,,\n")
    homes = ("Anna-Lena Kim_7001", "Anna-Mia Roth_7002")
    export = packed({f"{home}_assignsubmission_file/{BOOK}": b"{}" for home in homes}, DOWNLOADED)
    summary = collect(course, export)
    assert told(summary) == {}
    assert [refused.name for refused in summary.refused] == ["Anna-Lena Kim", "Anna-Mia Roth"]


def test_folders_of_students_in_moodles_folders(course: Course) -> None:
    """File submissions keep their own folders, and the last name may be in capitals."""
    homes = [f"{one.last.upper()} {one.first}_{moodle_number(one, 1)}" for one in CLASS]
    homes = [home.replace("'", "") for home in homes]
    files = {f"{home}_assignsubmission_file_/my work/{BOOK}": b"{}" for home in homes}
    files |= {f"{home}_assignsubmission_comments/comments.html": b"" for home in homes}
    assert told(collect(course, packed(files, DOWNLOADED))) == UNKNOWN


def test_gradescope_in_another_zone_and_without_numbers(course: Course) -> None:
    """A Ruby object is written once, and named by its anchor afterwards."""
    listed, files = ["---"], {}
    zones = ["&1 !ruby/object:ActiveSupport::TimeZone\n      name: Etc/UTC", *["*1"] * len(CLASS)]
    for number, one in enumerate(CLASS):
        files[f"submission_{number}/lab-main/{BOOK}"] = b"{}"
        when = f"{one.handed_in.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        listed.append(
            f"submission_{number}:\n  :submitters:\n  - :name: {one.full}\n    :sid:\n"
            f"    :email: {one.email.upper()}\n  :created_at: "
            f"!ruby/object:ActiveSupport::TimeWithZone\n    utc: {when}.0 Z\n"
            f"    zone: {zones[number]}\n    time: {when}.0 Z"
        )
    files["submission_metadata.yml"] = "\n".join(listed).encode()
    assert told(collect(course, packed(files, DOWNLOADED))) == EXACT


def test_blackboard_with_all_attempts_and_an_odd_title(course: Course) -> None:
    """The assignment is called Lab 1 (2026_27) attempt, and everyone tried twice."""
    files = {}
    for one in CLASS:
        for days, data in ((1, b"{1}"), (0, b"{2}")):
            when = one.handed_in.astimezone(ZONE) - timedelta(days=days)
            login = one.email.partition("@")[0]
            start = f"Lab 1 (2026_27) attempt_{login}_attempt_{when:%Y-%m-%d-%H-%M-%S}"
            files[f"{start}_{BOOK}"], files[f"{start}.txt"] = data, b""
    assert told(collect(course, packed(files, DOWNLOADED))) == EXACT


@pytest.mark.parametrize(
    ("name", "date"),
    [("{one.full}", "%-d %B, %Y %H%M"), ("{one.last}, {one.first}", "%b %-d, %Y %-I%M p.m.")],
)
def test_brightspace_with_the_day_first_and_with_points(
    name: str, date: str, course: Course
) -> None:
    files = {"index.html": b""}
    for one in CLASS:
        when = one.handed_in.astimezone(ZONE).strftime(date)
        if one.handed_in.astimezone(ZONE).hour < 12:
            when = when.replace("p.m.", "a.m.")
        files[f"271836-442356 - {name.format(one=one)} - {when} - {BOOK}"] = b"{}"
    assert told(collect(course, packed(files, DOWNLOADED))) == TO_THE_MINUTE


def ilias_home(one: Someone) -> str:
    return in_ascii(f"{one.last}_{one.first}_{one.email.partition('@')[0]}_{one.number}")


def test_ilias_10_tells_only_who_was_late(course: Course) -> None:
    """SubmissionManager.php: copySubmissionFilesToDir writes each file anew."""
    files = {}
    for one in CLASS:
        start = "Late Submission - " if one.late else ""
        files[f"Lab_1/Submissions/{ilias_home(one)}/{start}{BOOK}"] = b"{}"
    dates = {path: DOWNLOADED + timedelta(seconds=n) for n, path in enumerate(files)}
    summary = collect(course, packed(files, dates))
    assert told(summary) == ONLY_LATE
    assert any("ILIAS marks 1 as late, but not how late" in one for one in summary.notes)


def test_notes_of_a_plugin_of_ilias_are_no_hand_ins(course: Course) -> None:
    """ExerciseStatusFile: a folder with a note for everyone, even if nothing was handed in."""
    top = "Multi_Feedback_Individual_Lab_1_77"
    dates = dict.fromkeys(("status.xlsx", "user_info.json", "README.md"), DOWNLOADED)
    for one in CLASS:
        dates[f"{top}/{ilias_home(one)}/user_info.txt"] = DOWNLOADED
        dates[f"{top}/{ilias_home(one)}/{BOOK}"] = one.handed_in
    missing = CLASS[-1]
    del dates[f"{top}/{ilias_home(missing)}/{BOOK}"]
    summary = collect(course, packed(dict.fromkeys(dates, b"{}"), dates))
    assert told(summary) == {k: when for k, when in EXACT.items() if k != missing.id}
    assert summary.refused == ()


@pytest.mark.parametrize("kind", ["folders", "zips"])
def test_repositories_as_github_packs_them(kind: str, course: Course, tmp_path: Path) -> None:
    """ "Download ZIP" adds the branch; the grades of the assignment tell when."""
    top = tmp_path / "repositories"
    for one in CLASS:
        home = f"lab-01-{one.github}-main"
        (top / home).mkdir(parents=True)
        if kind == "folders":
            (top / home / BOOK).write_text("{}")
        else:
            (top / f"{home}.zip").write_bytes(packed({f"{home}/{BOOK}": b"{}"}, DOWNLOADED))
    assert told(collect(course, top)) == UNKNOWN
    lines = [
        f"Lab 01,{one.github},{one.id},{one.handed_in.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        for one in CLASS
    ]
    columns = "assignment_name,github_username,roster_identifier,submission_timestamp"
    assert told(collect(course, top, times="\n".join([columns, *lines]))) == EXACT


def test_packed_clones_on_another_branch(course: Course, tmp_path: Path) -> None:
    top = classroom(tmp_path)
    for clone in top.iterdir():
        for command in (["checkout", "-qb", "feedback/1"], ["gc", "-q"], ["pack-refs", "--all"]):
            subprocess.run(["git", *command], cwd=clone, check=True)
    assert told(collect(course, top)) == EXACT


def test_the_whole_exchange_of_a_course(course: Course) -> None:
    """Three attempts each, another lab's hand-ins, and what the course gave out."""
    files = {"cs101/outbound/lab01/x.ipynb": b"{}", "cs101/feedback/0f.html": b""}
    for one in CLASS:
        for hours in (48, 24, 0):
            when = one.handed_in.astimezone(UTC) - timedelta(hours=hours)
            home = f"cs101/inbound/{one.id}+lab01+{when:%Y-%m-%d %H:%M:%S} UTC+x{hours}"
            files[f"{home}/{BOOK}"] = b"{%d}" % hours
    summary = collect(course, packed(files, DOWNLOADED))
    assert told(summary) == EXACT
    assert summary.refused == ()


def test_a_students_folder_inbound_makes_nothing_another_ones(course: Course) -> None:
    inner = "inbound/vdberg+lab01+2026-09-18 10:15:22 UTC+x"
    for top in ("ada", "week 1/ada"):
        summary = collect(course, packed({f"{top}/{inner}/{BOOK}": b"{}"}, DOWNLOADED))
        assert [taken.student for taken in summary.taken] == ["ada"]


def test_a_whole_folder_of_a_course_is_what_was_handed_in(course: Course) -> None:
    files = {"c/source/lab01/x.ipynb": b"{}", "c/release/lab01/x.ipynb": b"{}"}
    for one in CLASS:
        when = f"{one.handed_in.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        files[f"c/submitted/{one.id}/lab01/{BOOK}"] = b"{}"
        files[f"c/submitted/{one.id}/lab01/timestamp.txt"] = when.encode()
        files[f"c/autograded/{one.id}/lab01/{BOOK}"] = b"{}"
    summary = collect(course, packed(files, DOWNLOADED))
    assert told(summary) == EXACT
    assert summary.refused == ()
