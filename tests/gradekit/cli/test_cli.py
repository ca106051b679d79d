"""The `lab` command: help, fast imports, errors in one sentence."""

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from gradekit.cli.common import lab_and_student
from gradekit.cli.main import VERBS, app
from gradekit.errors import CourseError
from tests.helpers.collected import course_in
from tests.helpers.submissions import LAB


def lab(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_help_groups_the_verbs_by_user_in_the_order_of_a_week():
    text = lab("--help").stdout
    for word in ("Student", "TA", "Instructor"):
        assert word in text
    assert tuple(re.findall(r"^│ ([a-z]+) ", text, re.MULTILINE)) == VERBS


def test_help_has_words_for_what_to_write_and_none_for_a_switch():
    for verb in VERBS:
        shown = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "80"}).stdout
        assert "<" not in shown.replace("submitted/<student>", ""), verb
        assert max(map(len, shown.splitlines())) <= 80
    shown = CliRunner().invoke(app, ["grade", "--help"], env={"COLUMNS": "80"}).stdout
    assert re.search(r"--jobs +NUMBER  Worker", shown)
    assert re.search(r"--again {12,}Regrade", shown)


def test_lab_and_student_in_either_order(tmp_path):
    course = course_in(tmp_path / "course")
    assert lab_and_student(course, LAB, "ada") == (LAB, "ada")
    assert lab_and_student(course, "ada", LAB) == (LAB, "ada")
    with pytest.raises(CourseError, match=r"course\.toml has no lab 'ada' or 'lab77'"):
        lab_and_student(course, "ada", "lab77")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "lab01", "--jobs", "-3"], "--jobs -3: write a number of processes"),
        (["init", "new", "--start", "tomorrow"], "--start tomorrow: write a day like 2027-02-15"),
        (["mark", "lab01", "--port", "99999"], "--port 99999: a port is a number up to 65535"),
        (["export", "lab01", "--to", "pdf"], "--to pdf: the kinds are csv"),
        (["withdraw", "ada", "bob"], "course.toml has no lab 'bob' or 'ada'; it has lab01"),
    ],
)
def test_a_wrong_value_is_one_sentence(arguments, words, tmp_path):
    course_with(tmp_path)
    done = lab(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("heavy", ["torch", "nbgrader", "IPython", "rich", "pydantic", "nbformat"])
def test_importing_the_command_brings_nothing_heavy(heavy):
    code = f"import sys, gradekit.cli; sys.exit('{heavy}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_outside_a_course_one_sentence_says_so(tmp_path):
    done = lab("build", cwd=tmp_path)
    assert done.returncode == 1
    assert "no course.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_lab_is_one_sentence(tmp_path):
    (tmp_path / "course.toml").write_text('lab = []\n[course]\nname = "A"\n')
    done = lab("grade", "lab77", cwd=tmp_path)
    assert done.returncode == 1
    assert "no lab 'lab77'" in done.stderr
    assert "Traceback" not in done.stderr


def test_importing_the_command_is_fast():
    code = (
        "import time; start = time.process_time()\n"
        "import gradekit.cli; print(time.process_time() - start)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.3


def course_with(tmp_path, students=""):
    """A course with one lab and a folder `class` with one hand-in of Ada's."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "lab01_softmax.py").touch()
    (tmp_path / "course.toml").write_text(
        '[course]\nname = "A"\n[[lab]]\nid = "lab01"\ntitle = "One"\n'
        "release = 2026-09-14T08:00:00\ndue = 2026-09-20T23:59:00\n"
    )
    if students:
        (tmp_path / "students.csv").write_text(students)
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "lab01_softmax.ipynb").write_text("{}")
    return tmp_path


def test_collecting_prints_json_for_programs(tmp_path):
    course = course_with(tmp_path, "id,name\nada,Ada Lovelace\n")
    done = lab("collect", "lab01", "class", "--dry-run", "--json", cwd=course)
    assert json.loads(done.stdout) == {
        "taken": [
            {
                "student": "ada",
                "name": "Ada Lovelace",
                "file": "class/ada/lab01_softmax.ipynb",
                "when": None,
                "how": "unknown",
            }
        ],
        "refused": [],
    }
    assert done.returncode == 0
    assert not (course / "submitted").exists()


def test_collecting_nothing_fails_with_a_sentence(tmp_path):
    course = course_with(tmp_path, "id,name\neve,Eve Moore\n")
    for source, told in (("none.zip", "no such folder"), ("class", "no hand-in for lab01 was")):
        done = lab("collect", "lab01", source, cwd=course)
        assert done.returncode == 1
        assert told in done.stderr
        assert "Traceback" not in done.stderr
    assert not (course / "submitted").exists()
