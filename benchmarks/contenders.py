"""What is measured: this grader, nbgrader by itself, Otter by itself, and the floor.

Each gets the same submissions and is started according to its own manual. nbgrader and Otter run
the same checks through :mod:`gradekit.nbgrader.unsandboxed`, in the student's kernel, as both do.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import zipfile
from pathlib import Path

from classes import LAB, Class, new_course, submit

from attnlab.notebook.check import GRADING_VARIABLE
from demo.course_folder import FILES, FOLDERS, REPOSITORY
from demo.usage import Usage, measured
from gradekit.course import Course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import Variants
from gradekit.submissions.notebook import open_notebook, runnable_cells

_LIBRARY = os.pathsep.join(str(REPOSITORY / name) for name in ("lib", "autograder"))
_HERE = Path(__file__).parent
# Only folders are set: every preprocessor is nbgrader's own.
_PLAIN_NBGRADER = """\
c = get_config()
c.CourseDirectory.course_id = "plain"
c.CourseDirectory.source_directory = "solutions"
"""
_OTTER_TEST = """\
OK_FORMAT = True
test = {{"name": {name!r}, "points": {points}, "suites": [{{"type": "doctest", "cases": [
    {{"code": {code!r}, "hidden": True}},
]}}]}}
"""


class Ours:
    """``lab grade`` as a TA types it: sandboxed, judged, written to journal and gradebook."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.course = new_course(folder / "ours")
        self._line = [
            sys.executable,
            "-m",
            "gradekit.cli",
            "grade",
            LAB,
            "--jobs",
            str(jobs),
            "--json",
        ]

    def fresh(self, people: Class) -> None:
        """Forget all grades; `people` have handed in."""
        submit(self.course, people)

    def grade(self, with_memory: bool = False) -> Usage:
        """Grade the new submissions."""
        return measured(self._line, self.course.root, with_memory=with_memory)


class PlainNbgrader:
    """``nbgrader autograde`` without this project's plugins."""

    def __init__(self, folder: Path) -> None:
        self.course = new_course(folder / "nbgrader")
        root = self.course.root
        (root / "nbgrader_config.py").write_text(_PLAIN_NBGRADER)
        self._variables = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": _LIBRARY,
        }

    def grade(self, people: Class) -> Usage:
        """Grade the submissions of `people`, with a new gradebook."""
        submit(self.course, people)
        self._nbgrader("generate_assignment", LAB, "--force")
        return self._nbgrader("autograde", LAB)

    def _nbgrader(self, *arguments: str) -> Usage:
        line = [sys.executable, "-m", "nbgrader", *arguments]
        return measured(line, self.course.root, self._variables)


class Otter:
    """``otter run``, one process per submission, `jobs` of them at a time.

    Args:
        program: the command `otter` of an environment of its own.
    """

    def __init__(self, folder: Path, program: Path, jobs: int) -> None:
        self._folder = folder / "otter"
        self._folder.mkdir()
        self._program, self._jobs = program, jobs
        _write_autograder(self._folder / "autograder.zip", new_course(folder / "otter-course"))

    def grade(self, people: Class) -> Usage:
        """Grade the submissions of `people`."""
        names = []
        for submission in people.submissions:
            (self._folder / submission.student).mkdir(exist_ok=True)
            path = self._folder / submission.student / people.notebook
            path.write_bytes(submission.files[people.notebook])
            names.append(submission.student)
        run = f"{shlex.quote(str(self._program))} run -a autograder.zip --no-logo"
        each = f"{run} -o $0 $0/{people.notebook} >$0/said 2>&1"
        listed = shlex.quote("\n".join(names))
        line = f"printf %s {listed} | xargs -P {self._jobs} -n 1 sh -c {shlex.quote(each)}"
        variables = {"PYTHONPATH": _LIBRARY, "PYTHONDONTWRITEBYTECODE": "1"}
        return measured(["sh", "-c", line], self._folder, variables)

    def points(self, people: Class) -> list[float]:
        """The points that it gave, by student."""
        found = []
        for submission in people.submissions:
            results = json.loads((self._folder / submission.student / "results.json").read_text())
            found.append(sum(test.get("score", 0.0) for test in results["tests"]))
        return found


class Floor:
    """Fork and `exec`, and nothing else: see floor.py."""

    def __init__(self, folder: Path, course: Course) -> None:
        self._folder = folder / "floor"
        self._folder.mkdir(exist_ok=True)
        lab = load_lab(course, LAB)
        variants = Variants(lab)
        self._probes = [p.to_json() for e in lab.exercises for p in variants.probes(e, 0)]

    def grade(self, people: Class, jobs: int) -> Usage:
        """Run the submissions of `people`, `jobs` of them at a time."""
        work = []
        for submission in people.submissions:
            notebook, _ = open_notebook(submission.files[people.notebook])
            sources = [cell.source for cell in runnable_cells(notebook)]
            work.append({"cells": sources, "probes": self._probes})
        (self._folder / "work.json").write_text(json.dumps(work))
        line = [sys.executable, str(_HERE / "floor.py"), "work.json", str(jobs)]
        variables = {"OMP_NUM_THREADS": "1", "PYTHONPATH": _LIBRARY, GRADING_VARIABLE: "1"}
        return measured(line, self._folder, variables)


def _write_autograder(path: Path, course: Course) -> None:
    """Write an Otter assignment with one test per exercise, which runs all its checks."""
    with zipfile.ZipFile(path, "w") as archive:
        for exercise in load_lab(course, LAB).exercises:
            code = (
                ">>> import gradekit.nbgrader.unsandboxed\n"
                f">>> gradekit.nbgrader.unsandboxed.check({exercise.name!r}, lab={LAB!r})\n"
                f"{float(exercise.points)}"
            )
            text = _OTTER_TEST.format(name=exercise.name, points=exercise.points, code=code)
            archive.writestr(f"tests/{exercise.name}.py", text)
        for name in FILES:
            archive.write(course.root / name, f"files/{name}")
        for folder in FOLDERS:
            for file in sorted((course.root / folder).rglob("*")):
                if file.is_file() and (file.suffix == ".py" or LAB in file.name):
                    archive.write(file, f"files/{file.relative_to(course.root)}")
