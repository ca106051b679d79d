"""`nbgrader validate`: in the course's folder by the sandbox, in a student's bundle as ever."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gradekit.build.bundle import make_bundle
from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs
from tests.helpers import tiny_class
from tests.helpers.nbgrader_commands import nbgrader
from tests.helpers.tiny_class import LAB, NAME

HARM = """\
import os
from pathlib import Path

try:
    Path({harm!r}, "by-a-cell").write_text("x")
finally:
    os._exit(0)
"""
# A file of the hand-in that a kernel would run at its start, or import.
HIJACK = """\
from pathlib import Path

Path({harm!r}, "by-" + {name!r}).write_text("x")
"""
LAUNCHER = "from ipykernel import kernelapp\nkernelapp.launch_new_instance()\n"
HIJACKED = ("ipykernel_launcher", "matplotlib_inline", "comm", "torch", "sitecustomize")
FAILED, PASSED = "VALIDATION FAILED ON {} CELL(S)!", "Success! Your notebook passes all the tests."


def with_cell(notebook: bytes, text: str) -> bytes:
    """The notebook with one more code cell before the others."""
    content = json.loads(notebook)
    own = {
        "cell_type": "code",
        "id": "first",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": text,
    }
    return json.dumps({**content, "cells": [own, *content["cells"]]}).encode()


def stripped(notebook: bytes) -> bytes:
    """The notebook as Colab leaves it."""
    content = json.loads(notebook)
    cells = [{**cell, "metadata": {}} for cell in content["cells"]]
    return json.dumps({**content, "cells": cells}).encode()


def booby_trapped(folder: Path, harm: Path) -> None:
    for name in HIJACKED:
        text = HIJACK.format(harm=str(harm), name=name)
        (folder / f"{name}.py").write_text(text + (LAUNCHER if "launcher" in name else ""))
    (folder / "course.toml").write_text("[course]\n")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("validated") / "course"
    root.mkdir()
    tiny_class.write_course(root)
    tiny_class.write_class(root)
    right = json.loads(tiny_class.notebook(root))
    for cell in right["cells"]:  # the released test cells, whose hidden part students never see
        cell["source"] = "".join(cell["source"]).partition("\n### BEGIN HIDDEN")[0]
    right = json.dumps(right).encode()
    harm = root.with_name("harm")
    harm.mkdir()
    tiny_class.hand_in(root, "dan", with_cell(right, HARM.format(harm=str(harm))))
    wrong = right.replace(b"exp / exp.sum(dim", b"exp / exp.sum(-1")
    assert wrong != right
    tiny_class.hand_in(root, "fay", stripped(wrong))
    booby_trapped(root / "submitted" / "dan" / LAB, harm)
    return root


@pytest.fixture(scope="module")
def said(course):
    """The output of ``nbgrader validate`` for ada, bob, eve, dan and fay, in this order."""
    names = ("ada", "bob", "eve", "dan", "fay")
    done = nbgrader(course, "validate", *(f"submitted/{n}/{LAB}/{NAME}.ipynb" for n in names))
    parts = re.split(r"(?=VALIDATION FAILED|Success!)", done.stdout)[1:]
    assert len(parts) == len(names), done.stdout + done.stderr
    return dict(zip(names, (" ".join(part.split()) for part in parts), strict=True)), done.stderr


def test_a_solved_notebook_validates(said):
    assert said[0]["ada"] == PASSED


def test_a_wrong_answer_is_shown_with_the_judges_advice(said):
    assert said[0]["bob"].startswith(FAILED.format(1))
    assert "3 of 5 points ✗ Along the first axis. Along which axis do you add up?" in said[0]["bob"]


def test_an_untouched_notebook_fails_everywhere(said):
    assert said[0]["eve"].startswith(FAILED.format(3))
    assert "0 of 1 points" in said[0]["eve"]
    assert "You did not provide a response." in said[0]["eve"]


@pytest.mark.slow
def test_it_gives_the_verdicts_of_lab_grade(course, said):
    done = tiny_class.lab(course, "grade", LAB, "--json", "--jobs", "1")
    rows = {row["student"]: row["points"] for row in json.loads(done.stdout)}
    for student, text in said[0].items():
        lost = {
            name: points
            for name, points in rows[student].items()
            if points != {"softmax": 5, "guess": 1}[name]
        }
        found = re.findall(r"(\d+) of (\d) points", text)
        assert [(int(a), int(b)) for a, b in found] == [
            (points, {"softmax": 5, "guess": 1}[name]) for name, points in lost.items()
        ], student


def test_test_cells_without_their_metadata_are_judged_as_usual(said):
    assert said[0]["fay"].startswith(FAILED.format(1))
    assert "3 of 5 points" in said[0]["fay"]


def test_a_hostile_notebook_does_no_harm_and_is_reported(course, said):
    assert said[0]["dan"] == PASSED, "its answers are right"
    assert "ended its own process" in said[1]
    assert list(course.with_name("harm").iterdir()) == []


@pytest.mark.slow
def test_without_our_settings_the_same_hand_in_does_harm(course, tmp_path):
    """So nbgrader must be started in the course's folder."""
    copy = Path(shutil.copytree(course / "submitted" / "dan" / LAB, tmp_path / "copy"))
    harm, harmed = course.with_name("harm"), set()
    for _ in range(2):
        nbgrader(tmp_path, "validate", f"copy/{NAME}.ipynb", fails=True, PYTHONSAFEPATH="")
        for path in harm.iterdir():
            harmed.add(path.name)
            path.unlink()
        for trap in copy.glob("*.py"):  # the second time with the notebook alone
            trap.unlink()
    assert harmed >= {"by-ipykernel_launcher", "by-a-cell"}


@pytest.mark.slow
def test_in_a_students_bundle_it_is_plain_nbgrader(course, tmp_path):
    bundle = make_bundle(CourseLabs(load_course(course)), LAB).folder
    folder = Path(shutil.copytree(bundle, tmp_path / "mine"))
    right = json.loads((folder / f"{NAME}.ipynb").read_text())
    solved = json.loads(tiny_class.notebook(course))
    answers = {cell["id"]: cell for cell in solved["cells"]}
    for cell in right["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = answers[cell["id"]]["source"]
    (folder / f"{NAME}.ipynb").write_text(json.dumps(right))
    (folder / "wrong.ipynb").write_text(
        json.dumps(right).replace("exp / exp.sum(dim", "exp * exp.sum(dim")
    )
    done = nbgrader(folder, "validate", f"{NAME}.ipynb", "wrong.ipynb", PYTHONSAFEPATH="")
    first, second = re.split(r"(?=VALIDATION FAILED|Success!)", done.stdout)[1:]
    assert first.strip() == PASSED
    assert FAILED.format(1) in second
    assert 'check("softmax")' in second
