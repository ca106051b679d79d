"""A copy of the repository's course, so that grading never changes the repository itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FILES = ("course.toml", "nbgrader_config.py")
FOLDERS = ("solutions", "labs", "autograder/exercises")
# Small enough that an infinite loop costs seconds, large enough for two slow cores.
SMALL_LIMITS = {"cell_seconds": 5, "exercise_seconds": 5, "submission_seconds": 60}


def copy_course(target: Path, limits: Mapping[str, float] | None = None) -> Path:
    """Make a course in `target`, which must not exist yet, with some limits changed.

    Raises:
        ValueError: course.toml sets no such limit.
    """
    target.mkdir(parents=True)
    for name in FILES:
        if (REPOSITORY / name).exists():
            shutil.copy(REPOSITORY / name, target / name)
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in FOLDERS:
        if (REPOSITORY / name).exists():
            shutil.copytree(REPOSITORY / name, target / name, ignore=ignored)
    path = target / "course.toml"
    path.write_text(_with_values(path.read_text("utf-8"), limits or {}), "utf-8")
    return target


def _with_values(text: str, values: Mapping[str, float]) -> str:
    for key, value in values.items():
        text, count = re.subn(rf"^{key} = [\d.]+", f"{key} = {value}", text, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"course.toml sets {key} {count} times; one line was expected")
    return text
