"""The `lab` command: help, fast imports, errors in one sentence."""

import subprocess
import sys

import pytest


def lab(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_help_groups_the_verbs_by_user():
    text = lab("--help").stdout
    for word in ("Student", "TA", "Instructor", "submit", "grade", "release"):
        assert word in text


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
