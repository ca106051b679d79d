"""students.csv: what it may say, and what is told about each mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.errors import RosterError
from gradekit.roster.students import Roster, Student, load_roster, safe_id, write_roster

GOOD = """\
id,name,email,canvas_id,sis_id,moodle_name,github,section
ada,Ada Lovelace,ada@uni.example,1001,15-001,Lovelace Ada,ada-l,Mon
"li.lei","李 雷",,1002,,,,Tue
"""


def roster(folder: Path, text: str | bytes) -> Roster:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "students.csv").write_bytes(data)
    return load_roster(folder)


def test_a_line_is_a_student(tmp_path: Path) -> None:
    ada, lei = roster(tmp_path, GOOD)
    assert ada == Student(
        "ada", "Ada Lovelace", "ada@uni.example", "1001", "15-001", "Lovelace Ada", "ada-l", "Mon"
    )
    assert (lei.id, lei.name, lei.canvas_id, lei.section) == ("li.lei", "李 雷", "1002", "Tue")


def test_only_id_and_name_are_needed_and_no_file_is_nobody(tmp_path: Path) -> None:
    assert load_roster(tmp_path) == Roster()
    assert roster(tmp_path, "name,id\nAda,ada\n").students == (Student("ada", "Ada"),)


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.encode("utf-16"),
        GOOD.replace("\n", "\n\n,,,\n"),
        GOOD.replace("\n", ",,\n"),
    ],
    ids=["semicolons", "tabs", "Windows", "with a mark", "UTF-16", "empty lines", "empty columns"],
)
def test_what_spreadsheets_write_is_read(data: str | bytes, tmp_path: Path) -> None:
    assert roster(tmp_path, data) == roster(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", " is empty"),
        ("id\nada\n", "line 1: there is no column 'name'"),
        ("id,name,sectoin\n", "line 1: unknown column 'sectoin'; did you mean section?"),
        ("id,name,name\n", "line 1: column 'name' appears twice"),
        ("id,name\nada,Ada\n,Bob\n", "line 3: the student has no id"),
        ("id,name\nada,\n", "line 2: ada has no name"),
        ("id,name\n../ada,Ada\n", "line 2: '../ada' cannot be an id.* write 'ada'"),
        ("id,name\na b,Ada\n", "line 2: 'a b' cannot be an id.* write 'a_b'"),
        ("id,name\nada,Ada\nbob,Bob\nADA,Eve\n", "line 4: id 'ADA' is already on line 2"),
        ("id,name,email\na,A,x@y\nb,B,X@y\n", "line 3: email 'X@y' is already on line 2"),
        ("id,name,canvas_id\na,A,1.2E+05\n", "line 2: canvas_id '1.2E\\+05' is not a whole number"),
        ("id,name\nada,Lovelace, Ada\n", "line 2: 3 cells, but the heading has 2"),
        ('id,name\nada,"Ada\nbob,Bob\n', "line 2: the row cannot be read"),
        ("id,name\nada,A\x1bda\n", "line 2: name contains a control character"),
        (
            "id,name,\nada,Ada,x\n",
            "line 2: a column without a name is not empty; name it on line 1",
        ),
        (b"id,name\nada,Ada\nzoe,Zo\xeb\n", "line 3: the text is not UTF-8; save the file as"),
        (b"PK\x03\x04\x00\x00", " is not a text file"),
    ],
)
def test_a_mistake_is_one_sentence(text: str | bytes, told: str, tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=f"^students.csv.*{told}") as caught:
        roster(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match="line 4: bob has no name"):
        roster(tmp_path, "id,name\nada,Ada\n\nbob,\n")


def test_sections_and_students_are_found_or_named(tmp_path: Path) -> None:
    both = roster(tmp_path, GOOD)
    assert both.sections == ("Mon", "Tue")
    assert [student.id for student in both.in_section("Tue")] == ["li.lei"]
    assert both.student("ada").section == "Mon"
    assert "ada" in both
    assert "eve" not in both
    with pytest.raises(RosterError, match=r"no student 'adaa'; did you mean ada\?"):
        both.student("adaa")
    with pytest.raises(RosterError, match="no section 'Wed'; its sections are: Mon, Tue"):
        both.in_section("Wed")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    both = roster(tmp_path, GOOD)
    odd = Roster((*both, Student("q", 'A "quoted", name', section="=1+1")))
    write_roster(tmp_path, odd)
    assert load_roster(tmp_path) == odd


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("ada", "ada"),
        ("..", ""),
        ("-rf", "rf"),
        ("a+b c", "a_b_c"),
        ("x" * 200, "x" * 100),
        ("  ", ""),
        ("Zoë", "Zoë"),
        ("a/../b", "a_.._b"),
    ],
)
def test_an_id_is_safe_as_a_folder(name: str, safe: str) -> None:
    assert safe_id(name) == safe
