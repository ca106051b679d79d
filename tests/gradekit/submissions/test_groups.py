"""Hand-ins of groups: everyone in the group gets the file, and nobody else does."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import CollectError, LabError, ReturnError
from gradekit.export.export import Format, export, final_scores
from gradekit.returns.returns import Way, return_pages
from gradekit.roster.people import Directory
from gradekit.roster.students import Roster, Student
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.collected import Summary
from gradekit.submissions.folder import find_submissions
from gradekit.submissions.groups import read_groups
from gradekit.submissions.stored import read_origin
from tests.helpers.collected import course_in
from tests.helpers.exports import CLASS, DOWNLOADED, STUDENTS, ZONE, packed
from tests.helpers.recorded import Points, record_lab
from tests.helpers.submissions import LAB, NAME

# Two groups, and one student alone.
TEAMS = {"Team Red": ("ada", "zoneil", "vdberg"), "Team/Blue 2": ("lei.li", "jmueller")}
ALONE = "g_k"
OWN = "id,group\n" + "".join(f"{one},{team}\n" for team, ids in TEAMS.items() for one in ids)
PEOPLE = {one.id: one for one in CLASS}
WHEN = datetime(2026, 9, 19, 10, 15, tzinfo=ZONE)


def content(team: str) -> dict[str, bytes]:
    text = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, "by": "%s"}'
    return {f"{NAME}.ipynb": text.replace(b"%s", team.encode())}


def canvas() -> bytes:
    """canvas-lms, app/models/abstract_assignment.rb: representatives; lib/content_zipper.rb.

    One member stands for the group, and the group's name stands in the place of the name.
    """
    files = {}
    for team, start in (("Team Red", "teamred_1001"), ("Team/Blue 2", "teamblue2_LATE_1003")):
        for name, data in content(team).items():
            files[f"{start}_{77000 + len(files)}_{name}"] = data
    for name, data in content(ALONE).items():
        files[f"gracekinghopper_1006_77050_{name}"] = data
    return packed(files, DOWNLOADED)


def moodle() -> bytes:
    """moodle, mod/assign/classes/downloader.php: get_student_prefix, with teamsubmission.

    clean_filename leaves out the slash in a name. The number is that of the group.
    """
    files = {}
    for number, (team, name) in enumerate(
        (("Team Red", "Team Red"), ("Team/Blue 2", "TeamBlue 2")), 7100
    ):
        for file, data in content(team).items():
            files[f"{name}_{number}_assignsubmission_file/{file}"] = data
    for file, data in content(ALONE).items():
        files[f"Default group_assignsubmission_file/{file}"] = data
    return packed(files, DOWNLOADED)


def moodle_worksheet() -> bytes:
    """mod/assign/gradingtable.php with teamsubmission: the column Group after Status.

    Ada's number is that of the other group.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["Identifier", "Full name", "Email address", "Status", "Group", "Grade", "Maximum Grade",
         "Grade can be changed", "Last modified (submission)", "Feedback comments"]
    )  # fmt: skip
    team_of = {one: team for team, ids in TEAMS.items() for one in ids}
    for place, one in enumerate(CLASS):
        number = 7101 if one.id == "ada" else 7200 + place
        team = team_of.get(one.id, "Default group")
        when = f"{WHEN:%A}, {WHEN.day} {WHEN:%B %Y}, 10:15 AM"
        writer.writerow(
            [f"Participant {number}", one.full, one.email, "Submitted", team, "", "100.00", "Yes",
             when, ""]
        )  # fmt: skip
    return text.getvalue().encode("utf-8-sig")


def ilias() -> bytes:
    """ILIAS, class.ilExSubmission.php: downloadAllAssignmentFiles, of an assignment with teams.

    Two members of one team handed in a file each, and somebody without a team.
    """
    homes = {
        "Team 12/Lovelace_Ada_ada_1001": content("Team Red"),
        "Team 12/van der Berg_Jan_jan_1004": {"w.csv": b"1"},
        "Team 13/Mueller-Lueth_Juergen_jm_1005": content("Team/Blue 2"),
        "Hopper_Grace King_g_k_1006": content(ALONE),
    }
    files = {
        f"Lab_1/Submissions/{home}/{name}": data
        for home, own in homes.items()
        for name, data in own.items()
    }
    return packed(files, {path: WHEN + timedelta(hours=at) for at, path in enumerate(files)})


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_in(tmp_path / "course", STUDENTS)


def collect(course: Course, export: bytes, groups: str | bytes = "", times: bytes = b"") -> Summary:
    folder = course.root.parent
    (folder / "class.zip").write_bytes(export)
    told = {}
    for name, data in (("groups", groups), ("times", times)):
        if data:
            path = folder / f"{name}.csv"
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
            told[name] = (path,)
    return collect_submissions(course, LAB, [folder / "class.zip"], Options(**told))


def owners(course: Course) -> dict[str, str]:
    """By student, whose notebook it is: a team's or one's own."""
    found = {}
    for one in find_submissions(course.root, LAB):
        text = one.files[f"{NAME}.ipynb"]
        found[one.student] = next(t for t in (*TEAMS, ALONE) if f'"{t}"'.encode() in text)
    return found


EVERYONE = {one: team for team, ids in TEAMS.items() for one in ids}


@pytest.mark.parametrize("groups", [OWN, moodle_worksheet()], ids=["our own", "Moodle's"])
def test_every_member_has_canvass_file(course: Course, groups: str | bytes):
    done = collect(course, canvas(), groups)
    assert owners(course) == {**EVERYONE, ALONE: ALONE}
    assert done.refused == ()
    told = {
        one: origin and origin.group
        for one in PEOPLE
        if (origin := read_origin(course.root, one, LAB))
    }
    assert told == {**EVERYONE, ALONE: ""}


def test_canvass_own_list_of_groups(course: Course):
    """canvas-lms, app/controllers/group_categories_controller.rb: export."""
    rows = ["name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id"]
    rows += [
        f"{PEOPLE[one].full},{PEOPLE[one].number},{PEOPLE[one].sid},{one},S,{team},9,"
        for team, ids in TEAMS.items()
        for one in ids
    ]
    collect(course, canvas(), "\n".join(rows))
    assert owners(course) == {**EVERYONE, ALONE: ALONE}


@pytest.mark.parametrize("groups", [OWN, moodle_worksheet()], ids=["our own", "Moodle's"])
def test_every_member_has_moodles_file(course: Course, groups: str | bytes):
    done = collect(course, moodle(), groups, times=moodle_worksheet())
    assert owners(course) == EVERYONE
    assert {taken.student: taken.when for taken in done.taken} == dict.fromkeys(EVERYONE, WHEN)
    assert [one.file.partition("/")[2].partition("_")[0] for one in done.refused] == [
        "Default group"
    ]


def test_the_number_of_a_group_is_nobodys(course: Course):
    """Ada's number in the worksheet is that of the other group's folder."""
    done = collect(course, moodle(), times=moodle_worksheet())
    assert owners(course) == {}
    assert {refused.name for refused in done.refused} >= {"Team Red", "TeamBlue 2"}


def test_every_member_has_the_files_of_iliass_team(course: Course):
    done = collect(course, ilias(), OWN)
    assert owners(course) == {**EVERYONE, ALONE: ALONE}
    assert done.refused == ()
    there = {one.student: set(one.files) for one in find_submissions(course.root, LAB)}
    assert there["zoneil"] == there["ada"] == {f"{NAME}.ipynb", "w.csv"}


def test_iliass_teams_without_a_list_are_told(course: Course):
    done = collect(course, ilias())
    assert {taken.student for taken in done.taken} == {"ada", "vdberg", "jmueller", ALONE}
    assert (
        "class.zip: ada handed in for Team 12, and the download does not name the other members; "
        "give --groups FILE."
    ) in done.notes


def test_canvass_groups_without_a_list_are_noticed(course: Course):
    done = collect(course, canvas())
    assert any(
        "2 of 3 names are not those of the students with these numbers, for example 'teamred' for "
        "Ada Lovelace. If groups handed in together, give --groups FILE." in note
        for note in done.notes
    )


def test_pages_of_a_group_go_by_mail_only(course: Course):
    collect(course, canvas(), OWN)
    record_lab(course, LAB, {one: Points() for one in owners(course)})
    assert set(return_pages(course, LAB, Way.MAIL).paths) == {*EVERYONE, ALONE}
    done = return_pages(course, LAB, Way.CANVAS)
    assert set(done.paths) == {ALONE}
    assert done.held["ada"] == "Canvas would show it to the whole group 'Team Red'"


def test_moodle_gets_no_page_of_a_group(course: Course):
    collect(course, moodle(), OWN)
    record_lab(course, LAB, {one: Points() for one in owners(course)})
    with pytest.raises(ReturnError, match="Moodle would show it to the whole group 'Team Red'"):
        return_pages(course, LAB, Way.MOODLE)


def test_marks_of_a_group_reach_its_members_alone(course: Course):
    """In the worksheet, ada has the number of the other group's folder."""
    collect(course, moodle(), OWN)
    points = {one: Points(8.0 if team == "Team Red" else 2.0, 0) for one, team in EVERYONE.items()}
    record_lab(course, LAB, points)
    worksheet = course.root.parent / "grading.csv"
    worksheet.write_bytes(moodle_worksheet().replace(b"100.00", b"16.00"))
    found = final_scores(course, [LAB])
    (written,) = export(course, found, Format.MOODLE, template=worksheet)
    with written.path.open(encoding="utf-8-sig", newline="") as file:
        grades = {row["Full name"]: row["Grade"] for row in csv.DictReader(file)}
    assert grades == {
        one.full: f"{points[one.id].softmax:.2f}" if one.id in points else "" for one in CLASS
    }


def test_people_whom_students_csv_does_not_have_are_told(course: Course):
    done = collect(course, canvas(), OWN + "max,Team Red\n")
    assert "--groups names people who are not in students.csv: max." in done.notes
    assert owners(course) == {**EVERYONE, ALONE: ALONE}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (OWN + "ada,Team/Blue 2\n", "ada is in 'Team Red' and in 'Team/Blue 2'; keep one"),
        (OWN + "g_k,team red\n", "'Team Red' and 'team red' differ only in signs or capitals"),
        ("id,points\nada,3\n", "the columns id, points do not say who is in which group"),
    ],
)
def test_a_wrong_list_is_one_sentence(course: Course, groups: str, message: str):
    with pytest.raises(CollectError, match=message):
        collect(course, canvas(), groups)
    assert owners(course) == {}


def test_a_list_that_is_not_there(course: Course):
    with pytest.raises(CollectError, match="there is no such file"):
        collect_submissions(course, LAB, [course.root], Options(groups=(Path("none.csv"),)))


def test_groups_of_two_systems_are_in_two_files(tmp_path: Path) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    paths[0].write_text("id,group\nada,Team 1\n")
    paths[1].write_text("id,group\nbob,Team 2\n")
    both = Directory(Roster((Student("ada", "Ada Lovelace"), Student("bob", "Bob Li"))))
    groups = read_groups(paths, both)
    assert [[one.id for one in group.members] for group in groups.groups] == [["ada"], ["bob"]]
    paths[1].write_text("id,group\nada,Team 2\n")
    with pytest.raises(LabError, match=r"two\.csv: ada is in 'Team 1' and in 'Team 2'"):
        read_groups(paths, both)
