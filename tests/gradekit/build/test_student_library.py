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

LIBRARY = Path(attnlab.__file__).parent

COURSE = """\
[course]
name = "Three weeks"

[[lab]]
id = "lab01"
title = "One"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00

[[lab]]
id = "lab02"
title = "Two"
release = 2026-09-21T08:00:00
due = 2026-09-27T23:59:00

[[lab]]
id = "lab03"
title = "Not yet written"
release = 2026-09-28T08:00:00
due = 2026-10-04T23:59:00
"""

EXERCISE = '''\
"""{name}: a step."""
from {module} import {name}
from gradekit.exercise import Exercise

exercise = Exercise({name})


@exercise.check(points=1)
def shape_of_it(lab, draw):
    """Has a shape."""
    return lab.{name}


@exercise.check(points=1, hidden=True)
def nobody_knows(lab, draw):
    """Looks at a secret."""
    return lab.{name}(draw.normal(7, 11))
'''


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "solutions").mkdir()
    steps = {
        "lab01": [("attnlab.softmax", "softmax"), ("attnlab.softmax", "logsumexp")],
        "lab02": [("attnlab.softmax", "entropy"), ("attnlab.attention", "basic_self_attention")],
    }
    for lab, names in steps.items():
        folder = tmp_path / "autograder" / "exercises" / lab
        folder.mkdir(parents=True)
        cells = ""
        for module, name in names:
            (folder / f"{name}.py").write_text(EXERCISE.format(module=module, name=name))
            cells += f'# %% exercise="{name}"\nfrom {module} import {name}\n'
            cells += f'\n# %%\ncheck("{name}")\n\n'
        (tmp_path / "solutions" / f"{lab}_x.py").write_text(cells)
    return load_course(tmp_path)


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


def test_a_lab_that_is_not_yet_due_stays_blank(course, tmp_path):
    path = course.root / "course.toml"
    path.write_text(path.read_text().replace("due = 2026-09-20", "due = 2026-09-22"))
    write_student_library(CourseLabs(load_course(course.root)), "lab02", tmp_path)
    assert body(tmp_path / "attnlab" / "softmax.py", "softmax") == "raise NotImplementedError"


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
        "# Made by `lab release`: answers not yet due when lab01 is released are blank.\n"
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
