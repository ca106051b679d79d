"""Writes the files of a new lab or exercise, with a mark wherever the author has to write.

What it writes builds. ``lab verify`` names each mark that is left (:mod:`.unfinished`).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

from gradekit.build.library_files import PACKAGE
from gradekit.course import FILE_NAME, SOLVED, Course, load_course
from gradekit.course.dates import LAST
from gradekit.errors import CourseError
from gradekit.exercise.loader import exercise_files
from gradekit.exercise.source import read_source

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
_WEEK = timedelta(days=7)
# A new step's cells go above the first of these.
_LAST_CELLS = ("# %% [markdown] free_text=", "# %% [markdown]\n# ## What you can", "# %%\ncheck()")


def new_lab(course: Course, lab: str, title: str) -> list[Path]:
    """Add a lab to course.toml, a week after the last one, and write its source.

    Returns:
        The files written.

    Raises:
        CourseError: the course has such a lab, or the name is not one.
    """
    _check_name(lab)
    if lab in course.labs:
        raise CourseError(f"{FILE_NAME} has a lab {lab} already; choose another name")
    word = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_").partition("_")[0] or "topic"
    source = course.root / SOLVED / f"{lab}_{word}.py"
    if list((course.root / SOLVED).glob(f"{lab}_*.py")):
        raise CourseError(f"{SOLVED}/ has a source of {lab} already; remove it or choose another")
    table = _table(course, lab, title)
    path = course.root / FILE_NAME
    text = _after_last_lab(path.read_text("utf-8"), table)
    fields = {"number": _number(lab), "file": source.name}
    source.parent.mkdir(exist_ok=True)
    source.write_text(_filled("new_lab", fields), "utf-8")
    path.write_text(text, "utf-8")
    load_course(course.root)
    course.exercises(lab).mkdir(parents=True, exist_ok=True)
    return [path, source]


def new_exercise(course: Course, lab: str, name: str, points: int = 10) -> list[Path]:
    """Write an exercise of `lab` with its reference, and add its cells to the lab's source.

    Returns:
        The files written.

    Raises:
        CourseError: there is such an exercise or such a file, or the library is not in a clone.
    """
    _check_name(name)
    source, folder = course.source(lab), course.exercises(lab)
    if name in exercise_files(folder):
        raise CourseError(f"{lab} has an exercise {name} already; choose another name")
    library = _library()
    visible = (points + 1) // 2
    fields = {
        "name": name,
        "points": str(points),
        "visible": str(visible),
        "hidden": str(points - visible),
        "step": f"{_number(lab)}.{len(read_source(source).of('exercise')) + 1}",
    }
    tests = library.parents[1] / "tests" / PACKAGE
    texts = {
        folder / f"{name}.py": _filled("new_exercise", fields),
        library / f"{name}.py": _filled("new_reference", fields),
        **({tests / f"test_{name}.py": _filled("new_test", fields)} if tests.is_dir() else {}),
    }
    for path in texts:
        if path.exists():
            raise CourseError(f"{path} is already there; choose another name for the exercise")
    texts[source] = _with_cells(source.read_text("utf-8"), _filled("new_cells", fields))
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(texts)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise CourseError(
            f"{name!r} cannot be a name; use small letters, digits and _, and begin with a letter"
        )


def _library() -> Path:
    """The folder of the students' library, whose files can be edited.

    Raises:
        CourseError: it is installed like any other package.
    """
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    if "site-packages" in folder.parts:
        raise CourseError(
            f"{PACKAGE} is installed in {folder}, where new references would be lost; work in a "
            "clone of this project, installed with pip install -e"
        )
    return folder


def _table(course: Course, lab: str, title: str) -> str:
    """The [[lab]] table, dated a week after the last one."""
    table = course.lab(course.labs[-1]) if course.labs else None
    release = table.release + _WEEK if table else datetime(2026, 9, 14, 8)
    due = table.due + _WEEK if table else datetime(2026, 9, 18, 23, 59, 59)
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    lines = [
        "[[lab]]",
        f'id = "{lab}"',
        f'title = "{quoted}"',
        f"release = {release:%Y-%m-%dT%H:%M:%S}",
        f"due = {due:%Y-%m-%d}" if due.time() == LAST else f"due = {due:%Y-%m-%dT%H:%M:%S}",
    ]
    return "\n".join(lines)


def _after_last_lab(text: str, table: str) -> str:
    """course.toml with another [[lab]] table behind the last one, its own sub-tables included."""
    lines = text.rstrip("\n").split("\n")
    heads = [n for n, line in enumerate(lines) if line.startswith(("[[lab]]", "[lab."))]
    end = heads[-1] + 1 if heads else len(lines)
    while end < len(lines) and lines[end].strip() and not lines[end].startswith(("[", "#")):
        end += 1
    return "\n".join([*lines[:end], "", table, *lines[end:], ""])


def _with_cells(text: str, cells: str) -> str:
    positions = [text.find(mark) for mark in _LAST_CELLS if mark in text]
    if not positions:
        return f"{text.rstrip()}\n\n{cells.rstrip()}\n"
    return text[: min(positions)] + cells + text[min(positions) :]


def _number(lab: str) -> str:
    """The number in a lab's id, as its headings have it: 8 for lab08."""
    digits = re.search(r"\d+", lab)
    return str(int(digits[0])) if digits else lab


def _filled(name: str, fields: dict[str, str]) -> str:
    template = files("gradekit.build") / "templates" / f"{name}.txt"
    return Template(template.read_text("utf-8")).substitute(fields)
