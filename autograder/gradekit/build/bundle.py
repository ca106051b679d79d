"""The student's bundle, as a folder and a zip: all that a lab needs, and no answer.

release/lab01/   the notebook, checks.safetensors, attnlab/ (the student's library),
                 requirements.txt, environment.yml, HOW_TO_HAND_IN.md, LECTURES.md
release/lab01.zip
"""

from __future__ import annotations

import ast
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import metadata, requires
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

import nbformat

from gradekit.build.build import RELEASED, build_labs
from gradekit.build.calendar import closing_later, conflicts, open_labs, refuse_early
from gradekit.build.disclosure import disclosures
from gradekit.build.exchange import exchange_step, run_step
from gradekit.build.student_library import blank_references, write_student_library
from gradekit.course import BUNDLES, Course
from gradekit.course.dates import human_date, short_date
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.late import answers_public_after

PAGE, LECTURES = "HOW_TO_HAND_IN.md", "LECTURES.md"
PROJECT = "attention-labs"
# Students need this besides the library's own dependencies, to open notebooks.
_ALSO = ("jupyterlab",)
_EXTRA = re.compile(r"""\s*;\s*extra\s*==\s*["'](?P<extra>[\w-]+)["']\s*$""")
_ENVIRONMENT = f"""\
# conda env create -f environment.yml && conda activate {PROJECT}
name: {PROJECT}
channels:
  - conda-forge
dependencies:
  - python{{python}}
  - pip
  - pip:
      - -r requirements.txt
"""


@dataclass(frozen=True)
class Bundle:
    """A finished bundle: the folder, and the same as a zip."""

    folder: Path
    zip: Path


def release_bundle(
    labs: CourseLabs, lab: str, now: datetime, *, early: bool = False, exchange: bool = False
) -> Iterator[str]:
    """Make the bundle of `lab`, and publish it if asked; a line for each thing done or to know.

    Args:
        now: with its time zone.
        early: allow it before the lab's release date.

    Raises:
        CourseError, ExerciseError: as :func:`make_bundle` and :func:`publish`; the release date
            has not passed.
    """
    course = labs.course
    if not early:
        refuse_early(course, lab, now)
    made = make_bundle(labs, lab)
    yield " and ".join(str(path.relative_to(course.root)) for path in (made.folder, made.zip))
    for other in open_labs(course, lab):
        until = short_date(answers_public_after(course, other))
        yield f"its library is blank for {other}, which is open until {until}"
    for other in closing_later(course, lab, now):
        until = short_date(answers_public_after(course, other))
        yield f"careful: it holds the answers of {other}, which is open until {until}"
    if exchange:
        publish(course, lab)
        yield "published to nbgrader's exchange"


def make_bundle(labs: CourseLabs, lab: str) -> Bundle:
    """Build `lab` and make its bundle in ``release/``, replacing an older one.

    Raises:
        CourseError, ExerciseError: the sources contradict each other, the bundle needs answers of a
            lab that is still open, or it would disclose something that students must not see.
    """
    course = labs.course
    for conflict in conflicts(labs, lab):
        raise CourseError(f"{lab}: {conflict.sentence}")
    build_labs(labs, [lab])
    _refuse_blank_imports(labs, lab)
    folder = course.root / BUNDLES / lab
    with TemporaryDirectory() as temporary:
        bundle = Path(temporary) / lab
        shutil.copytree(course.root / RELEASED / lab, bundle)
        write_student_library(labs, lab, bundle)
        _write_pages(course, lab, bundle)
        found = disclosures(labs, lab, bundle)
        if found:
            raise CourseError(
                f"{lab}: {found[0]}; students must not see that, so no bundle was made"
            )
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(bundle, folder)
    archive = folder.with_suffix(".zip")
    _write_zip(archive, folder, course.lab(lab).release)
    return Bundle(folder, archive)


def publish(course: Course, lab: str) -> None:
    """Put the bundle of `lab` into nbgrader's exchange, where students' nbgrader fetches it.

    It replaces an earlier one there. Students who have fetched that keep it.

    Raises:
        CourseError: there is no bundle yet, or the exchange refuses.
    """
    if not (course.root / BUNDLES / lab).is_dir():
        raise CourseError(f"{BUNDLES}/{lab} is not there; run `lab release {lab}` first")
    step = exchange_step(course, lab, "ReleaseAssignment", release_directory=BUNDLES)
    step.force = True
    run_step(step, f"{lab}: nbgrader's exchange refuses the bundle")


def student_requirements() -> list[str]:
    """A student's requirements: the library's dependencies and a program that opens notebooks."""
    wanted = []
    for line in requires(PROJECT) or []:
        extra = _EXTRA.search(line)
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if extra is None or name in _ALSO:
            wanted.append(_EXTRA.sub("", line))
    return sorted(set(wanted))


def _refuse_blank_imports(labs: CourseLabs, lab: str) -> None:
    """Refuse a notebook that imports the answer of a lab that is still open, even a later one."""
    path = labs.course.released(lab)
    blank = blank_references(labs, lab)
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if not isinstance(node, ast.ImportFrom):
                continue
            for alias in node.names:
                if (node.module, alias.name) in blank:
                    raise CourseError(
                        f"{lab}: its notebook imports {node.module}.{alias.name}, the answer to a "
                        f"lab that is open when {lab} is released; move a date in course.toml"
                    )


def _write_pages(course: Course, lab: str, bundle: Path) -> None:
    python = metadata(PROJECT)["Requires-Python"]
    table = course.lab(lab)
    (notebook,) = bundle.glob("*.ipynb")
    templates = files("gradekit.build") / "templates"
    page = Template((templates / "how_to_hand_in.md").read_text("utf-8"))
    fields = {
        "course": course.values.course.name,
        "due": human_date(table.due),
        "lab": lab,
        "notebook": notebook.name,
        "python": f"{python.removeprefix('>=')} or later",
        "title": table.title,
    }
    lines = [f"# What {lab} needs besides this folder.", *student_requirements()]
    (bundle / PAGE).write_text(page.substitute(fields), "utf-8")
    (bundle / LECTURES).write_text((templates / "lectures.md").read_text("utf-8"), "utf-8")
    (bundle / "requirements.txt").write_text("\n".join([*lines, ""]), "utf-8")
    (bundle / "environment.yml").write_text(_ENVIRONMENT.format(python=python), "utf-8")


def _write_zip(archive: Path, folder: Path, moment: datetime) -> None:
    paths: Sequence[Path] = sorted(path for path in folder.rglob("*") if path.is_file())
    # One time for all files, the lab's release, so that equal bundles are equal bytes.
    when = moment.timetuple()[:6]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for path in paths:
            info = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix(), when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, on every machine, for the mode below
            info.external_attr = 0o100644 << 16
            bundle.writestr(info, path.read_bytes())
