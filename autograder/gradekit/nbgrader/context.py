"""The context of an nbgrader command: the course, the submission, the gradebook, the journal.

Tested in tests/gradekit/nbgrader/test_plugins.py.
"""

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
    """One lab, for an nbgrader command.

    Attributes:
        folders: the course's folders, as nbgrader knows them.
        address: of nbgrader's gradebook.
        journal: the path of the lab's results.
    """

    def __init__(self, folders: CourseDirectory, lab: str, level: str) -> None:
        self.folders, self.lab = folders, lab
        self.course: Course = load_course(find_root(Path(folders.root)))
        self.address = Address(folders.db_url, folders.course_id or "default_course")
        self.journal = journal_path(self.course, lab)
        self._level = level

    @property
    def spec(self) -> GraderSpec:
        """The specification of this lab's grader."""
        secret = course_secret(results_folder(self.course))
        return GraderSpec(self.course, self.lab, self._level, secret)

    def folder(self, step: str, student: str) -> Path:
        """A student's folder of this lab, for example in ``autograded/``."""
        return Path(self.folders.format_path(step, student, self.lab))

    def grader(self) -> LabGrader:
        """This process's grader for the lab, which stays warm for the next student."""
        return process_cache().up_to_date(self.spec)


class SubmissionContext(LabContext):
    """One submission, which nbgrader's resources name."""

    def __init__(self, folders: CourseDirectory, student: str, lab: str, level: str) -> None:
        super().__init__(folders, lab, level)
        self.student = student
        self.submitted_folder = self.folder(folders.submitted_directory, student)

    @classmethod
    def of(cls, part: Any, resources: dict[str, Any] | None, level: str) -> Self:
        """The submission that an exporter or preprocessor processes."""
        whose = (resources or {})["nbgrader"]
        return cls(folders_of(part), whose["student"], whose["assignment"], level)

    def submitted(self) -> SubmittedFiles:
        """The submission's files in ``submitted/``, and not nbgrader's copy of them."""
        return read_submitted(self.submitted_folder, self.student, self.lab)


def folders_of(part: Any) -> CourseDirectory:
    """The course's folders, from the nbgrader command that `part` belongs to."""
    while not hasattr(part, "coursedir"):
        part = part.parent
    return part.coursedir


def command_of(part: Any) -> Any:
    """The nbgrader command that `part` belongs to, such as its Autograde."""
    while not hasattr(part, "force") and getattr(part, "parent", None) is not None:
        part = part.parent
    return part
