"""The material for submissions: the two notebooks, the exercises, the expected points."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from demo.answers import all_right
from demo.marks import Marks
from demo.notebook import Notebook
from demo.submission import DemoSubmission, Expected
from gradekit.exercise.loader import LabExercises


@dataclass(frozen=True)
class Material:
    """One lab's notebooks and exercises.

    Attributes:
        name: the notebook's file name.
        released: the students' notebook.
        solved: the instructor's notebook.
        due: the due date.
    """

    lab: LabExercises
    name: str
    released: Notebook
    solved: Notebook
    due: datetime

    @cached_property
    def right(self) -> Notebook:
        """The released notebook with every answer right."""
        return all_right(self.released, self.solved, self.lab)

    @cached_property
    def marks(self) -> Marks:
        """Computes the points that code should earn."""
        return Marks(self.lab)

    def without(self, *lost: str) -> dict[str, float]:
        """All points except those of the exercises `lost`."""
        assert set(lost) <= set(self.marks.full), f"no such exercise among {lost}"
        return {name: 0.0 if name in lost else p for name, p in self.marks.full.items()}

    def submission(
        self,
        student: str,
        why: str,
        notebook: Notebook,
        expected: Expected | None = None,
        hours_late: float = -5,
        hostile: bool = False,
    ) -> DemoSubmission:
        """A submission of one notebook under its own name; by default it should earn all points."""
        files = {self.name: notebook.bytes()}
        return self.of_files(student, why, files, expected, hours_late, hostile)

    def of_files(
        self,
        student: str,
        why: str,
        files: dict[str, bytes],
        expected: Expected | None = None,
        hours_late: float = -5,
        hostile: bool = False,
    ) -> DemoSubmission:
        """A submission of any files, with its time stamp."""
        moment = self.due + timedelta(hours=hours_late)
        stamp = f"{moment:%Y-%m-%d %H:%M:%S %z}\n".encode()
        return DemoSubmission(
            student,
            why,
            {**files, "timestamp.txt": stamp},
            expected or Expected(self.marks.full),
            hostile=hostile,
        )
