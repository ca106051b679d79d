"""Where an nbgrader command is at work: the course, the hand-in, the gradebook, the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from nbgrader.coursedir import CourseDirectory

from gradekit.course import Course, find_root, load_course
from gradekit.gradebook.address import Address
from gradekit.grading.grader import LabGrader
from gradekit.grading.grader_cache import process_cache
from gradekit.grading.task import GraderSpec
from gradekit.results.folder import course_secret, journal_path, results_folder
from gradekit.submissions.folder import SubmittedFiles, read_submitted


class LabContext:
    """One lab as an nbgrader command knows it.

    Attributes:
        journal: the lab's results.
    """

    def __init__(self, folders: CourseDirectory, lab: str, level: str) -> None:
        self.folders, self.lab = folders, lab
        self.course: Course = load_course(find_root(Path(folders.root)))
        self.address = Address(folders.db_url, folders.course_id or "default_course")
        self.journal = journal_path(self.course, lab)
        self._level = level

    @property
    def spec(self) -> GraderSpec:
        """What a grader of this lab is made from."""
        secret = course_secret(results_folder(self.course))
        return GraderSpec(self.course, self.lab, self._level, secret)

    def folder(self, step: str, student: str) -> Path:
        """A student's folder of this lab, such as in ``autograded/``."""
        return Path(self.folders.format_path(step, student, self.lab))

    def grader(self) -> LabGrader:
        """This process's grader for the lab; it stays warm from one student to the next."""
        return process_cache().up_to_date(self.spec)


class SubmissionContext(LabContext):
    """One hand-in as nbgrader's resources name it."""

    def __init__(self, folders: CourseDirectory, student: str, lab: str, level: str) -> None:
        super().__init__(folders, lab, level)
        self.student = student
        self.submitted_folder = self.folder(folders.submitted_directory, student)

    @classmethod
    def of(cls, part: Any, resources: dict[str, Any] | None, level: str) -> Self:
        """The hand-in that an exporter or preprocessor is at work on."""
        whose = (resources or {})["nbgrader"]
        return cls(folders_of(part), whose["student"], whose["assignment"], level)

    def submitted(self) -> SubmittedFiles:
        """What was handed in, as it lies in ``submitted/`` and not as nbgrader copied it."""
        return read_submitted(self.submitted_folder, self.student, self.lab)


def folders_of(part: Any) -> CourseDirectory:
    """The course's folders as the nbgrader command knows them that `part` works for."""
    while not hasattr(part, "coursedir"):
        part = part.parent
    return part.coursedir


def command_of(part: Any) -> Any:
    """The nbgrader command that `part` works for, such as its Autograde."""
    while not hasattr(part, "force") and getattr(part, "parent", None) is not None:
        part = part.parent
    return part
