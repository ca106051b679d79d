"""A student's whole term: each lab's bundle is solved, handed in, graded, marked and returned.

Every step is the command that a student or the staff type. The answers are the library's own, so
each lab must come back with all its points, and so must the term.
"""

from __future__ import annotations

import json
import re
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from attnlab.notebook.submit import pack_submission
from demo.answers import all_right
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.notebook import Notebook
from gradekit.build import bundle as bundles
from gradekit.cli import app
from gradekit.course import Course, load_course
from gradekit.exercise.loader import CourseLabs
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark, give_mark
from tests.helpers.exports import packed
from tests.helpers.our_labs import OUR_LABS

STUDENTS = "id,name,canvas_id\nada,Ada Lovelace,1001\n"
ANSWER = "The exponentials stay finite, because the largest is 1."
COMMENT = "Well put."
# The cheapest to grade, for every run.
FEW = ("lab00", "lab03")


def course_of(folder: Path, labs: tuple[str, ...]) -> Course:
    """A course with these labs, and one student in its list."""
    root = copy_course(folder / "course", SMALL_LIMITS if labs == FEW else None)
    path = root / "course.toml"
    about, *tables = path.read_text("utf-8").split("[[lab]]")
    named = [re.search(r'^id = "(\w+)"', table, re.MULTILINE) for table in tables]
    kept = [table for table, name in zip(tables, named, strict=True) if name and name[1] in labs]
    path.write_text("[[lab]]".join([about, *kept]), "utf-8")
    (root / "students.csv").write_text(STUDENTS, "utf-8")
    return load_course(root)


def lab(course: Course, *arguments: str) -> str:
    """What a command of `lab` prints; it must succeed."""
    done = CliRunner().invoke(app, [*arguments, "--course", str(course.root)])
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    return str(done.stdout)


def handed_in(course: Course, labs: CourseLabs, name: str, home: Path) -> Path:
    """Ada unpacks the bundle, answers everything, and packs her hand-in as the page says."""
    with zipfile.ZipFile(course.root / "release" / f"{name}.zip") as archive:
        archive.extractall(home)
    (path,) = (home / name).glob("*.ipynb")
    solved = Notebook.parse((course.root / "solutions" / name / path.name).read_bytes())
    notebook = all_right(Notebook.parse(path.read_bytes()), solved, labs[name])
    for at in notebook.free_text():
        notebook = notebook.with_source(at, ANSWER)
    path.write_bytes(notebook.bytes())
    for exercise in labs[name].exercises:
        for weights in exercise.saved_paths:  # training takes minutes; other tests do it
            (home / name / weights.name).write_bytes(weights.read_bytes())
    done = pack_submission(home / name)
    wrong = (*done.unwritten_steps, *done.missing, *done.gone, *done.left_out)
    assert wrong == (), done.summary()
    return done.path


def collected(course: Course, name: str, file: Path) -> None:
    """The staff collect what Canvas gives them, and the time of it."""
    when: datetime = course.lab(name).due - timedelta(hours=5)
    download, times = course.root / f"{name}.zip", course.root / f"{name}-times.csv"
    download.write_bytes(packed({f"lovelaceada_1001_77001_{file.name}": file.read_bytes()}, when))
    times.write_text(f"id,when\nada,{when:%Y-%m-%d %H:%M}\n", "utf-8")
    assert "1 collected" in lab(course, "collect", name, str(download), "--times", str(times))


def graded(course: Course, labs: CourseLabs, name: str) -> None:
    (row,) = json.loads(lab(course, "grade", name, "--json", "--jobs", "1"))
    assert (row["student"], row["state"]) == ("ada", "graded"), row
    assert row["points"] == {one.name: one.points for one in labs[name].exercises}, row


def marked(course: Course, labs: CourseLabs, name: str) -> None:
    """A TA gives full marks for the free text."""
    questions = labs[name].source.of("free_text")
    assert bool(questions) == (name != "lab00")
    for one in questions:
        with Book(address_of(course)) as book:
            give_mark(
                book,
                name,
                "ada",
                one.name,
                ManualMark(),
                ManualMark(one.points, COMMENT, needs_manual_grade=False),
            )


def returned(course: Course, name: str) -> None:
    """The page that goes back through Canvas has all the points and the TA's words."""
    done = json.loads(lab(course, "return", name, "--as", "canvas", "--no-solutions", "--json"))
    assert done["held"] == []
    (one,) = done["returned"]
    with zipfile.ZipFile(done["file"]) as archive:
        page = archive.read(one["path"]).decode("utf-8")
    full = course.lab(name).points
    assert f"{full:g} of {full:g}" in " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert (COMMENT in page) == (name != "lab00")


def term_of_ada(course: Course) -> Any:
    (row,) = json.loads(lab(course, "term", "--json"))["students"]
    return row


@pytest.mark.needs("sandbox")
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    "names", [FEW, pytest.param(OUR_LABS, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_a_student_walks_through_the_term(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if names == FEW:  # test_committed.py compares what building would make
        monkeypatch.setattr(bundles, "build_labs", lambda labs, names: [])
    course = course_of(tmp_path, names)
    labs = CourseLabs(course)
    for name in names:
        assert f"release/{name}.zip" in lab(course, "release", name, "--early")
        collected(course, name, handed_in(course, labs, name, tmp_path / "ada"))
        graded(course, labs, name)
        marked(course, labs, name)
        returned(course, name)
    row = term_of_ada(course)
    assert {name: one["percent"] for name, one in row["labs"].items()} == dict.fromkeys(names, 100)
    assert (row["total"], row["missing"], row["days_late"]) == (100, [], 0)
