"""Every error that the user can correct: one family, one sentence each.

    LabError
    ├── CourseError                course.toml, a source or a built notebook
    ├── RosterError                students.csv, or a list that it is made from
    ├── ExerciseError              an exercise file
    │   └── StandaloneError        a function whose text cannot run alone
    ├── BlankError                 a definition that cannot be blanked
    ├── CollectError               a hand-in, a source of hand-ins, or a file of their times
    ├── RefusedError               a file in a folder or an archive
    ├── NotebookError              a submitted notebook
    ├── SandboxUnavailableError    this machine, and what is missing on it
    ├── GraderError                the grader fails on the lab's own solution
    ├── ResultNotKeptError         a disk that is full or not writable
    ├── JournalError               the file of results
    │   └── JournalLockedError     another process is writing it
    ├── GradebookError             the database of marks
    ├── MarkingError               a mark that cannot be given, or a page for it
    ├── ExportError                a file that scores are written into
    ├── ReturnError                pages that cannot go back to students
    └── ReportError                a report that cannot be written

The message says what is wrong, where, and what to do; ``lab`` prints it and exits with status 1.
Errors that the program handles itself (a sandbox that ended, a malformed frame) are defined next to
their code.
"""

from __future__ import annotations

from attnlab.checking.errors import LabError

__all__ = [
    "BlankError",
    "CollectError",
    "CourseError",
    "ExerciseError",
    "ExportError",
    "GradebookError",
    "GraderError",
    "JournalError",
    "JournalLockedError",
    "LabError",
    "MarkingError",
    "NotebookError",
    "RefusedError",
    "ReportError",
    "ResultNotKeptError",
    "ReturnError",
    "RosterError",
    "SandboxUnavailableError",
    "StandaloneError",
]


class CourseError(LabError):
    """The course's files contradict each other."""


class RosterError(LabError):
    """students.csv, or another table of students, cannot be read or contradicts itself."""


class ExerciseError(LabError):
    """An exercise file contradicts itself."""


class StandaloneError(ExerciseError):
    """A function names something whose text cannot be sent with it."""


class BlankError(LabError):
    """A definition has nothing to blank, or its blank marks do not pair."""


class CollectError(LabError):
    """A hand-in, a source of hand-ins or a file of their times is not there or cannot be used."""


class RefusedError(LabError):
    """A file is refused. The message is the reason in a few words.

    Attributes:
        cost: how many of its bytes were read nevertheless.
    """

    def __init__(self, why: str, cost: int = 0) -> None:
        super().__init__(why)
        self.cost = cost


class NotebookError(LabError):
    """A submitted file is not a notebook. The message says what the student can do."""


class SandboxUnavailableError(LabError):
    """This machine cannot confine student code as asked."""


class GraderError(LabError):
    """The grader cannot be trusted now: it fails on the lab's own solution, or is out of date."""


class ResultNotKeptError(LabError):
    """A result cannot be written, so grading stops."""


class JournalError(LabError):
    """The journal cannot be read or written."""


class JournalLockedError(JournalError):
    """Another process is writing the journal."""


class GradebookError(LabError):
    """The gradebook cannot be used, or contradicts the lab."""


class MarkingError(LabError):
    """A mark that cannot be given, or the page for marking cannot be served."""


class ExportError(LabError):
    """A course system's file does not fit, or the scores are not final."""


class ReturnError(LabError):
    """No page can go back to students this way, or the file for it cannot be written."""


class ReportError(LabError):
    """A report on a class cannot be written."""
