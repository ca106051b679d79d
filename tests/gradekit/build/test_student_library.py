"""The student's attnlab: blank from their lab on, solved before, whole everywhere else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab
from gradekit.build.disclosure import answer_lines, disclosures
from gradekit.build.student_library import write_student_library
from gradekit.course import load_course
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.late import answers_public_after_without_extensions
from tests.helpers.three_weeks import write_three_weeks

LIBRARY = Path(attnlab.__file__).parent


@pytest.fixture
def course(tmp_path):
    return write_three_weeks(tmp_path)


def body(path: Path, name: str) -> str:
    """The statements of one function, docstring left out."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return "\n".join(map(ast.unparse, node.body[1:]))
    raise AssertionError(name)


def test_blank_from_this_lab_on_and_solved_before(course, tmp_path):
    for lab, blank in (
        ("lab01", {"softmax", "logsumexp", "entropy", "basic_self_attention"}),
        ("lab02", {"entropy", "basic_self_attention"}),
        ("lab03", set()),
    ):
        target = tmp_path / lab
        write_student_library(CourseLabs(course), lab, target)
        for file, names in (
            ("softmax.py", ["softmax", "logsumexp", "log_softmax", "entropy"]),
            ("attention.py", ["basic_self_attention"]),
        ):
            for name in names:
                expected = (
                    "raise NotImplementedError" if name in blank else body(LIBRARY / file, name)
                )
                assert body(target / "attnlab" / file, name) == expected


EXTENSION = '\n[[extension]]\nstudent = "ada"\nlab = "lab01"\ndays = 2\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("due = 2026-09-20", "due = 2026-09-22"),
        ("last_day = 0", "last_day = 1"),
        ("due = 2026-10-04T23:59:00", f"due = 2026-10-04{EXTENSION}"),
    ],
)
def test_a_lab_that_is_still_open_stays_blank(course, tmp_path, before, after):
    path = course.root / "course.toml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    write_student_library(CourseLabs(load_course(course.root)), "lab02", tmp_path)
    assert body(tmp_path / "attnlab" / "softmax.py", "softmax") == "raise NotImplementedError"


def test_a_lab_whose_answers_are_known_is_solved_while_it_is_open(course, tmp_path):
    path = course.root / "course.toml"
    text = path.read_text().replace("last_day = 0", "last_day = 9")
    path.write_text(text.replace('title = "One"', 'title = "One"\nsolutions = "known"'))
    write_student_library(CourseLabs(load_course(course.root)), "lab02", tmp_path)
    assert body(tmp_path / "attnlab" / "softmax.py", "softmax") != "raise NotImplementedError"


def test_an_extension_changes_no_library_in_which_hand_ins_run(course, tmp_path):
    path = course.root / "course.toml"
    path.write_text(path.read_text() + EXTENSION)
    extended = CourseLabs(load_course(course.root))
    write_student_library(
        CourseLabs(course), "lab02", tmp_path / "before", answers_public_after_without_extensions
    )
    write_student_library(
        extended, "lab02", tmp_path / "after", answers_public_after_without_extensions
    )
    for path in (tmp_path / "before").rglob("*.py"):
        assert (
            path.read_bytes()
            == (tmp_path / "after" / path.relative_to(tmp_path / "before")).read_bytes()
        )


def test_everything_else_is_there_as_it_is(course, tmp_path):
    write_student_library(CourseLabs(course), "lab01", tmp_path / "e")
    copied = {
        str(path.relative_to(tmp_path / "e" / "attnlab"))
        for path in (tmp_path / "e").rglob("*")
        if path.is_file()
    }
    there = {
        str(path.relative_to(LIBRARY))
        for path in LIBRARY.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert copied == there
    for name in copied - {"softmax.py", "attention.py"}:
        assert (tmp_path / "e" / "attnlab" / name).read_bytes() == (LIBRARY / name).read_bytes()


def test_a_blank_module_says_so_and_shows_no_mark(course, tmp_path):
    write_student_library(CourseLabs(course), "lab01", tmp_path)
    text = (tmp_path / "attnlab" / "softmax.py").read_text()
    assert text.startswith(
        "# Made by `lab release`: answers of labs still open when lab01 is released are blank.\n"
    )
    assert "# blank" not in text
    assert "    # TODO: write your code here\n    raise NotImplementedError\n" in text


def test_the_edition_imports_and_its_solved_part_works(course, tmp_path):
    write_student_library(CourseLabs(course), "lab02", tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import torch, attnlab.softmax as s, attnlab.attention as a\n"
        "assert s.__file__.startswith(sys.argv[1])\n"
        "assert s.softmax(torch.zeros(2)).tolist() == [0.5, 0.5]\n"
        "assert a.softmax is s.softmax\n"
        "try: s.entropy(torch.ones(1))\n"
        "except NotImplementedError: print('blank')\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "blank\n"


def test_no_line_of_a_blank_body_is_in_the_edition(course, tmp_path):
    write_student_library(CourseLabs(course), "lab01", tmp_path / "e")
    lines = answer_lines(CourseLabs(course), "lab01")
    assert "exp = (x - x.amax(dim, keepdim=True).detach()).exp()" in lines
    assert "return 0.0 - (p * safe.log()).sum(-1)" in lines
    assert disclosures(CourseLabs(course), "lab01", tmp_path / "e") == []


def test_the_proof_finds_an_answer_wherever_it_hides(course, tmp_path):
    student_library = tmp_path / "e"
    write_student_library(CourseLabs(course), "lab02", student_library)
    assert disclosures(CourseLabs(course), "lab02", student_library) == []
    # What lab 2 may see is a leak in lab 1.
    found = disclosures(CourseLabs(course), "lab01", student_library)
    assert found
    assert all(line.startswith("attnlab/softmax.py holds a line of ") for line in found)
    (student_library / "note.txt").write_text("Try: return 0.0 - (p * safe.log()).sum(-1)  # neat")
    (student_library / "n.ipynb").write_text(
        '{"cells": [{"source": ["x = 1\\n", "return 0.0 - (p * safe.log()).sum(-1)"]}]}'
    )
    (student_library / "p.py").write_text("def nobody_knows(lab, draw): ...")
    assert disclosures(CourseLabs(course), "lab02", student_library) == [
        "n.ipynb holds a line of entropy: return 0.0 - (p * safe.log()).sum(-1)",
        "note.txt holds a line of entropy: return 0.0 - (p * safe.log()).sum(-1)",
        "p.py holds the hidden check nobody_knows of basic_self_attention: def nobody_knows(lab",
    ]


def test_an_edition_is_never_written_over(course, tmp_path):
    write_student_library(CourseLabs(course), "lab01", tmp_path)
    with pytest.raises(CourseError, match="is already there; remove it"):
        write_student_library(CourseLabs(course), "lab01", tmp_path)


def test_an_unknown_lab_is_said(course, tmp_path):
    with pytest.raises(CourseError, match=r"course\.toml has no lab 'lab09'"):
        write_student_library(CourseLabs(course), "lab09", tmp_path)
