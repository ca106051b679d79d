"""A class of four in a course of two short exercises: the cheapest that `lab grade` can have."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from gradekit.build.build import build_labs
from gradekit.course import Course, load_course
from gradekit.exercise.loader import CourseLabs
from tests.helpers import warm_python
from tests.helpers.needs import require
from tests.helpers.small_course import PROJECT

LAB, NAME = "lab01", "lab01_tiny"
COURSE = """\
[course]
name = "A tiny course"
timezone = "UTC"

[late]
grace_minutes = 30
percent_per_day = 10
last_day = 5

[[lab]]
id = "lab01"
title = "Softmax"
release = 2026-09-14T08:00:00
due = 2026-09-20T21:59:00
"""
SOURCE = '''\
"""Two steps."""
# %% [markdown]
# # Softmax

# %% tags=["setup"]
import torch
from torch import Tensor

from attnlab import check

# %% exercise="softmax"
from attnlab.softmax import softmax

# %%
check("softmax")

# %% exercise="guess"
# How many weights has a row of four scores?
### BEGIN SOLUTION
guess = 4
### END SOLUTION

# %%
check("guess")

# %% [markdown] free_text="explain" points=4
# Why do they add up to one?
'''
EXERCISES = {
    "softmax": '''\
"""softmax: scores to weights."""
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(softmax)


@exercise.check(points=3)
def numbers(lab, draw):
    """Rows of weights."""
    return lab.softmax(draw.normal(2, 3))


@exercise.check(points=2, hidden=True)
def another_axis(lab, draw):
    """Along the first axis."""
    return lab.softmax(draw.normal(2, 5), dim=0)


@exercise.mistake("Along which axis do you add up?")
def always_the_last(x, dim=-1):
    return softmax(x)
''',
    "guess": '''\
"""guess: predict, then run."""
from gradekit.exercise import Exercise

exercise = Exercise(answers=["guess"])


@exercise.check(points=1, hidden=True)
def right(lab, draw):
    """Is the number right."""
    return lab.guess
''',
}
WRONG = "def softmax(x, dim=-1):\n    return x.softmax(-1)"
IN_TIME, LATE = "2026-09-19 10:00:00.000000 UTC", "2026-09-22 10:00:00.000000 UTC"


def write_course(root: Path) -> Course:
    """The course, built; nobody has handed in."""
    folder = root / "autograder" / "exercises" / LAB
    folder.mkdir(parents=True)
    (root / "course.toml").write_text(COURSE)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    (root / "solutions").mkdir()
    (root / "solutions" / f"{NAME}.py").write_text(SOURCE)
    for name, text in EXERCISES.items():
        (folder / f"{name}.py").write_text(text)
    course = load_course(root)
    build_labs(CourseLabs(course), [LAB])
    return course


def write_class(root: Path) -> None:
    """Four hand-ins: right, one mistake, right and late, untouched."""
    hand_in(root, "ada", notebook(root))
    hand_in(root, "bob", notebook(root, softmax=WRONG))
    hand_in(root, "cyd", notebook(root), LATE)
    hand_in(root, "eve", (root / "labs" / LAB / f"{NAME}.ipynb").read_bytes())


def notebook(root: Path, **answers: str) -> bytes:
    """The solved notebook with some answers of one's own."""
    content = json.loads((root / "solutions" / LAB / f"{NAME}.ipynb").read_text())
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name]
        elif name == "explain":
            cell["source"] = "They are shares of a whole."
    return json.dumps(content).encode()


def hand_in(root: Path, student: str, content: bytes, when: str = IN_TIME) -> None:
    """Put a student's hand-in where grading finds it, in the place of an earlier one."""
    folder = root / "submitted" / student / LAB
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.ipynb").write_bytes(content)
    (folder / "timestamp.txt").write_text(when)


def lab(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command `lab` in the course's folder; its temporary files go beside it."""
    _require_sandbox_for(arguments)
    return warm_python.run("gradekit.cli", *arguments, cwd=root, env=_surroundings(root, variables))


def start_lab(
    root: Path, *arguments: str, start: str = "", **variables: str
) -> subprocess.Popen[str]:
    """Start the command in a Python of its own, to disturb it or to read along.

    Args:
        start: Python to run first, in the same process.
    """
    _require_sandbox_for(arguments)
    line = (
        ["-c", f"{start}\nfrom gradekit.cli import main\nmain()"]
        if start
        else ["-m", "gradekit.cli"]
    )
    return subprocess.Popen(
        [sys.executable, *line, *arguments],
        cwd=root,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_surroundings(root, variables),
    )


def _require_sandbox_for(arguments: tuple[str, ...]) -> None:
    if "grade" in arguments or "--inputs" in arguments:
        require("sandbox")


def _surroundings(root: Path, variables: Mapping[str, str]) -> dict[str, str]:
    folder = temporary(root)
    folder.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(folder), **variables}


def temporary(root: Path) -> Path:
    """Where :func:`lab` keeps its temporary files."""
    return root.with_name(f"{root.name}-tmp")


def journal_of(root: Path) -> list[dict[str, Any]]:
    """The lines about exercises and hand-ins, without how long they took."""
    lines = (root / "results" / f"{LAB}.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    for values in found:
        values.pop("seconds", None)
    records = [values for values in found if values["kind"] != "stored"]
    return sorted(records, key=lambda values: json.dumps(values, sort_keys=True))


TABLES = (
    "SELECT s.student_id, c.name, g.auto_score, g.manual_score, g.extra_credit,"
    " g.needs_manual_grade, c.max_score FROM grade g {cells}",
    "SELECT s.student_id, c.name, g.auto_comment, g.manual_comment FROM comment g {cells}",
    "SELECT s.student_id, s.timestamp, s.extension, n.late_submission_penalty"
    " FROM submitted_assignment s JOIN submitted_notebook n ON n.assignment_id = s.id",
    "SELECT name, duedate, course_id FROM assignment",
    "SELECT name, type FROM base_cell",
    "SELECT version_num FROM alembic_version",
)
CELLS = (
    "JOIN {grades} c ON c.id = g.cell_id JOIN submitted_notebook n ON n.id = g.notebook_id"
    " JOIN submitted_assignment s ON s.id = n.assignment_id"
)


def gradebook_of(root: Path) -> list[list[tuple[Any, ...]]]:
    """What the gradebook says, without the ids that it made up."""
    cells = "(SELECT b.id, b.name, t.max_score FROM base_cell b LEFT JOIN grade_cells t USING (id))"
    with closing(sqlite3.connect(root / "gradebook.db")) as book:
        return [
            sorted(book.execute(query.format(cells=CELLS.format(grades=cells))), key=repr)
            for query in TABLES
        ]


def autograded_of(root: Path) -> dict[str, bytes]:
    """Every file for formgrader, left-overs included."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted((root / "autograded").rglob("*"))
        if path.is_file()
    }
