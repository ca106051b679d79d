"""From a source to the solved notebook, and by nbgrader's release step to the released one.

``solutions/<lab>/`` and ``labs/<lab>/`` are generated. Both get the file of visible checks, because
nbgrader copies the files beside a solved notebook into the release. Git keeps the one in ``labs/``.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import torch
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from attnlab.checking import visible
from gradekit.build.drift import ANY_PROCESSOR, differences
from gradekit.build.observations import observed_once
from gradekit.build.solved import solved_notebook
from gradekit.course import RELEASED, SOLVED, Course
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.exercise.variants import Variants
from gradekit.nbgrader_settings import nbgrader_config as course_config


def build_labs(labs: CourseLabs, names: Sequence[str]) -> list[Path]:
    """Make the generated files of the labs `names` in the course's folder.

    Files that differ from those there only in the last bits of numbers are not written, so that
    git shows only what a lab's author has changed.

    Returns:
        The generated files, in order.

    Raises:
        CourseError, ExerciseError: the sources contradict themselves.
    """
    written: list[Path] = []
    for lab in names:
        with TemporaryDirectory() as temporary:
            made = Path(temporary)
            with observed_once(labs.course, labs[lab]) as variants:
                build_into(labs, lab, made, variants)
            for step in (SOLVED, RELEASED):
                target = labs.course.root / step / lab
                if differences(made / step / lab, target):
                    if target.exists():
                        shutil.rmtree(target)
                    shutil.copytree(made / step / lab, target)
                written += sorted(path for path in target.rglob("*") if path.is_file())
    return written


def find_drift(labs: CourseLabs, names: Sequence[str]) -> list[str]:
    """What ``lab build`` would change: one line per file that differs.

    All is built again, whatever an earlier build has kept. The numbers of checks may differ as much
    as processors round differently; everything else is compared byte by byte.
    """
    lines: list[str] = []
    for lab in names:
        with TemporaryDirectory() as temporary:
            build_into(labs, lab, Path(temporary), Variants(labs[lab]))
            for step in (SOLVED, RELEASED):
                # The solved notebook's checks file is not kept in git: nbgrader alone needs it.
                ignored = {visible.FILE_NAME} if step == SOLVED else set()
                made, there = Path(temporary, step, lab), labs.course.root / step / lab
                found = differences(made, there, ignored, ANY_PROCESSOR)
                lines += [f"{step}/{lab}/{line}" for line in found]
    return lines


def build_into(labs: CourseLabs, lab: str, root: Path, variants: Variants) -> None:
    """Make ``solutions/<lab>/`` and ``labs/<lab>/`` below `root`.

    Args:
        variants: of this lab.

    Raises:
        CourseError, ExerciseError: the sources contradict themselves.
    """
    exercises = labs[lab]
    notebook = solved_notebook(labs.course, exercises)
    folder = root / SOLVED / lab
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{exercises.source.path.stem}.ipynb")
    with _one_thread():
        visible.write(folder / visible.FILE_NAME, lab, variants.visible_exercises)
    _generate_assignment(labs.course, lab, root)


def _generate_assignment(course: Course, lab: str, root: Path) -> None:
    """nbgrader's own release step, from ``solutions/`` to ``labs/`` below `root`.

    It writes no gradebook, as with nbgrader's option ``--no-db``.
    """
    config = nbgrader_config(course, root)
    config.CourseDirectory.update(
        {"assignment_id": lab, "source_directory": SOLVED, "release_directory": RELEASED}
    )
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    log = _Sentences()
    converter = GenerateAssignment(
        coursedir=CourseDirectory(config=config), config=config, log=log.logger
    )
    try:
        converter.start()
    except NbGraderException as error:
        raise CourseError(
            f"{lab}: nbgrader's release step refuses the notebook: {log.cause or error}"
        ) from error


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread in this block: sums depend on how they are split among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def nbgrader_config(course: Course, root: Path) -> Config:
    """The course's own nbgrader configuration, for the folder `root`."""
    config = course_config(course)
    config.CourseDirectory.root = str(root)
    return config


class _Sentences(logging.Handler):
    """Keeps the errors that nbgrader logs, for our own message; prints nothing."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.logger = logging.Logger("gradekit.build.build")
        self.logger.addHandler(self)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record's lines."""
        self._lines += record.getMessage().strip().splitlines()

    @property
    def cause(self) -> str:
        """The last line of the first traceback; empty if there is none."""
        return next(self._exceptions(), "")

    def _exceptions(self) -> Iterator[str]:
        for number, line in enumerate(self._lines):
            if line.startswith("Traceback"):
                yield from (
                    after for after in self._lines[number + 1 :] if after[:1] not in ("", " ")
                )
