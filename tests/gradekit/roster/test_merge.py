"""`lab roster import`: lists of four systems, merged without losing anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.errors import RosterError
from gradekit.roster.csv_table import read_table
from gradekit.roster.merge import Merged, StudentChange, lines_of, merge
from gradekit.roster.students import Roster, Student

# lib/gradebook_exporter.rb of canvas-lms: two rows above the students, the test student last.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (4711),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,100,(read only)
"Lovelace, Ada",1001,15-001,ada@uni.example,Mon,,
"O'Neil, Zoë",1002,15-002,zoneil,Tue and Mon,,
"Student, Test",1999,,abcdef,Mon,,
"""
# user/index.php of Moodle, "Download table data as CSV".
MOODLE = """\
First name,Last name,ID number,Email address,Roles,Groups
Ada,Lovelace,15-001,ada@uni.example,Student,A
Zoe,O'Neil-Smith,15-002,zoe@uni.example,Student,B
Max,Muster,,max@uni.example,Teacher,
Jo,Li,15-009,jo@uni.example,Student,B
"""
GRADESCOPE = """\
First Name,Last Name,SID,Email,Role,Sections
Ada,Lovelace,15-001,ada@uni.example,Student,S1
Tom,TA,,tom@uni.example,TA,
"""
GITHUB = "identifier,github_username,github_id,name\nada@uni.example,ada-l,77,\nzoneil,,,\n"
ADA = Student("ada", "Ada Lovelace", "ada@uni.example", "1001", "15-001", section="Mon")
ZOE = Student("zoneil", "Zoë O'Neil", "", "1002", "15-002", section="Tue and Mon")


def imported(text: str, roster: Roster, folder: Path) -> Merged:
    path = folder / "list.csv"
    path.write_text(text)
    return merge(roster, read_table(path))


def test_canvas_makes_a_roster(tmp_path: Path) -> None:
    merged = imported(CANVAS, Roster(), tmp_path)
    assert merged.kind == "Canvas gradebook"
    ada, zoe = merged.roster
    assert (ada.id, ada.name, ada.canvas_id, ada.sis_id, ada.section) == (
        "ada", "Ada Lovelace", "1001", "15-001", "Mon"
    )  # fmt: skip
    assert zoe == ZOE
    assert [(one.line, one.reason) for one in merged.left_out] == [(6, "Canvas's test student")]


def test_other_lists_fill_what_is_missing(tmp_path: Path) -> None:
    merged = imported(MOODLE, Roster((ADA, ZOE)), tmp_path)
    ada, zoe, jo = merged.roster
    assert ada == Student("ada", "Ada Lovelace", "ada@uni.example", "1001", "15-001", section="A")
    assert zoe.name == "Zoë O'Neil"
    assert (zoe.moodle_name, zoe.email, zoe.section) == ("Zoe O'Neil-Smith", "zoe@uni.example", "B")
    assert (jo.id, jo.name) == ("jo", "Jo Li")
    assert StudentChange("ada", "section", "Mon", "A") in merged.changes
    assert [(one.shown, one.reason) for one in merged.left_out] == [
        ("Max Muster", "the role is Teacher")
    ]
    after = imported(GITHUB, merged.roster, tmp_path).roster
    assert after.student("ada").github == "ada-l"
    assert len(after) == 3
    again = imported(GRADESCOPE, after, tmp_path)
    assert again.roster.student("ada").section == "S1"
    assert [student.id for student in again.not_listed] == ["zoneil", "jo"]
    assert len(again.roster) == 3


def test_the_same_list_again_changes_nothing(tmp_path: Path) -> None:
    for text in (CANVAS, MOODLE, GRADESCOPE):
        first = imported(text, Roster(), tmp_path)
        second = imported(text, first.roster, tmp_path)
        assert second.roster == first.roster
        assert (second.added, second.changes) == ((), ())


def test_every_row_is_somewhere(tmp_path: Path) -> None:
    """Two of one name stay two; rows that are no student, and a student's second row, are named."""
    text = (
        "Full Name,SID,Email,Role\nJo Li,1,jo@a.example,Student\nJo Li,2,jo@b.example,Student\n"
        "Ada L.,15-001,,Student\nAda,,ada@uni.example,Student\n,,,Student\nTom,,t@x,TA\n"
    )
    merged = imported(text, Roster((ADA,)), tmp_path)
    assert [student.id for student in merged.added] == ["jo", "jo@b.example"]
    assert [(one.line, one.reason) for one in merged.left_out] == [
        (5, "it is ada, as line 4 is"),
        (6, "there is neither a name nor a number"),
        (7, "the role is TA"),
    ]


def test_two_who_would_share_an_address_are_an_error(tmp_path: Path) -> None:
    text = "Full Name,SID,Email\nAda,15-001,zoe@uni.example\n"
    both = Roster((ADA, Student("zoneil", "Zoë", "zoe@uni.example")))
    merged = imported(text, both, tmp_path)
    assert "are those of ada and zoneil" in merged.left_out[0].reason
    assert merged.roster == both
    twice = "Name,Email,SID\nA,x@uni.example,1\nB,X@uni.example,2\n"
    with pytest.raises(RosterError, match=r"list.csv, line 3: x and .* share the email"):
        imported(twice, Roster(), tmp_path)


def test_an_unknown_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match="the columns a, b are not those of Canvas, Moodle"):
        imported("a,b\n1,2\n", Roster(), tmp_path)


def test_an_import_says_what_it_mapped(tmp_path: Path) -> None:
    lines = list(lines_of(imported(CANVAS, Roster((ADA,)), tmp_path), "list.csv"))
    assert lines[0] == "list.csv: Canvas gradebook"
    assert "  Student -> name" in lines
    assert "  SIS Login ID -> id of new students" in lines
    assert "added zoneil: Zoë O'Neil" in lines
    assert "left out line 6, Test Student: Canvas's test student" in lines
