"""nbgrader's commands as a person types them, and hand-ins of every kind to try them on."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat

from demo.damaged import damaged_cells, damaged_files
from demo.honest import half_done, late
from demo.hostile import bombs, cheats, scripted, spies, vandal
from demo.material import Material
from demo.notebook import code
from demo.submission import DemoSubmission, Expected
from gradekit.course import Course
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.marks import Marks
from tests.helpers import warm_python
from tests.helpers.needs import require

LAB = "lab01"


def nbgrader(
    root: Path, *arguments: str, fails: bool = False, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run an nbgrader command in the course's folder, with a home of its own."""
    if arguments[0] in ("autograde", "validate"):
        require("sandbox")
    home = root.with_name(f"{root.name}-home")
    home.mkdir(exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if "JUPYTER" not in key}
    environment |= {
        "HOME": str(home),
        "OMP_NUM_THREADS": "1",
        # nbgrader calls `alembic`, which lies beside this Python.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    run = warm_python.run("nbgrader", *arguments, cwd=root, env=environment | variables)
    assert (run.returncode != 0) == fails, run.stdout + run.stderr
    return run


def telling_part(material: Material) -> tuple[DemoSubmission, ...]:
    """A hand-in of each kind that the demo's class has, without those that take long."""
    many = (
        *damaged_cells(material),
        *damaged_files(material),
        *cheats(material),
        *bombs(material),
        *spies(material),
    )
    few = {"deleter", "copier", "colab", "renamer", "two", "torn", "equal", "quitter", "thief"}
    return (
        half_done(material),
        late(material),
        *(h for h in many if h.student in few),
        vandal(material),
        scripted(material),
        *strangers(material),
    )


def strangers(material: Material) -> tuple[DemoSubmission, ...]:
    """Hand-ins that nbgrader by itself does not see, and a free-text answer, late."""
    words = material.right
    for at in material.right.free_text():
        words = words.with_source(at, "Because infinity is no number.")
    broken = Expected(material.marks.none, "broken: theirs", ("no notebook",))
    return (
        material.of_files(
            "texted", "another ending", {f"{material.name}.txt": material.right.bytes()}
        ),
        material.of_files("nothing", "no notebook at all", {"notes.txt": b"sorry"}, broken),
        material.submission(
            "wordy",
            "free text, late",
            words.appended(code("from IPython.display import HTML\nHTML('<script>P()</script>')")),
            Expected(material.marks.full, state="late", factor=0.8),
            hours_late=30,
        ),
    )


def marks(course: Course) -> dict[str, Marks]:
    """What the gradebook says, by student."""
    with Book(address_of(course)) as book:
        return book.marks(LAB)


def exported(course: Course) -> list[dict[str, str]]:
    """What ``nbgrader export`` says."""
    nbgrader(course.root, "export", "--to", "grades.csv")
    with (course.root / "grades.csv").open(newline="") as file:
        return sorted(csv.DictReader(file), key=lambda row: row["student_id"])


def judged_cells(course: Course, student: str) -> dict[str, Any]:
    """The outputs of a student's test cells, as formgrader shows them."""
    (path,) = (course.root / "autograded" / student / LAB).glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return {
        about["grade_id"]: cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code" and (about := cell.metadata.get("nbgrader", {})).get("grade")
    }
