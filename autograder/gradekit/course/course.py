"""A course: its labs, dates, limits and folders."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from gradekit.course.extensions import Extensions, with_zone
from gradekit.course.tables import (
    FILE_NAME,
    CourseFile,
    ExerciseLimitValues,
    LabTable,
    LimitValues,
    Values,
)
from gradekit.errors import CourseError

# The folders that nbgrader calls source and release.
SOLVED, RELEASED = "solutions", "labs"
# The folder of the students' bundles.
BUNDLES = "release"


class Course(Values):
    """A course: its values and the folder that they were read from.

    Attributes:
        extensions: everyone's own due dates.
    """

    root: Path
    values: CourseFile
    extensions: Extensions = Extensions()

    @property
    def labs(self) -> tuple[str, ...]:
        """The labs' ids in the order of the file, which is the order of the weeks."""
        return tuple(lab.id for lab in self.values.lab)

    @property
    def timezone(self) -> tzinfo:
        """The course's time zone."""
        return ZoneInfo(self.values.course.timezone)

    def lab(self, lab: str) -> LabTable:
        """The table of `lab` in course.toml, its dates with the course's time zone.

        Raises:
            CourseError: course.toml has no such lab.
        """
        for entry in self.values.lab:
            if entry.id == lab:
                return with_zone(entry, self.timezone)
        raise CourseError(
            f"{FILE_NAME} has no lab {lab!r}; it has {', '.join(self.labs) or 'none'}"
        )

    def due(self, lab: str, student: str) -> datetime:
        """When `student` must hand in `lab`, extensions included.

        Raises:
            CourseError: an extension is for somebody who is not in the course.
        """
        return self.extensions.of(lab).get(student) or self.lab(lab).due

    def last_due(self, lab: str) -> datetime:
        """The due date of `lab`, or its longest extension.

        Raises:
            CourseError: as :meth:`due`.
        """
        return max([self.lab(lab).due, *self.extensions.of(lab).values()])

    def weight(self, lab: str) -> float:
        """How much `lab` counts in the term: its weight, else its points."""
        table = self.lab(lab)
        return table.points if table.weight is None else table.weight

    def solutions_known(self, lab: str) -> bool:
        """Whether the answers of `lab` may be seen from its due date on."""
        chosen = self.lab(lab).solutions or self.values.course.solutions
        return chosen == "known"

    def limits(self, lab: str) -> LimitValues:
        """The most that one hand-in of `lab` may use: the lab's own limits, else the course's."""
        return self.values.limits_of(self.lab(lab))

    def exercise_limits(self, lab: str) -> Mapping[str, ExerciseLimitValues]:
        """The limits that are set for single exercises of `lab`, by their names."""
        return self.lab(lab).exercise_limits

    def check_exercise_limits(self, lab: str, exercises: Collection[str]) -> None:
        """Check that limits are set only for exercises of the lab.

        Raises:
            CourseError: one is for an exercise that the lab does not have.
        """
        for name in self.exercise_limits(lab):
            if name not in exercises:
                raise CourseError(
                    f"{FILE_NAME}: {lab}'s exercise_limits names {name!r}, which is not one of "
                    f"its exercises; write one of {', '.join(exercises)}, or remove it"
                )

    def source(self, lab: str) -> Path:
        """The text source of `lab`.

        Raises:
            CourseError: there is none, or more than one.
        """
        self.lab(lab)
        found = sorted((self.root / "solutions").glob(f"{lab}_*.py"))
        if len(found) != 1:
            names = ", ".join(path.name for path in found) or "none"
            raise CourseError(f"solutions/: {lab} needs one source {lab}_….py, found {names}")
        return found[0]

    def released(self, lab: str) -> Path:
        """The notebook that students of `lab` get.

        Raises:
            CourseError: it has not been built.
        """
        found = sorted((self.root / RELEASED / lab).glob("*.ipynb"))
        if len(found) != 1:
            raise CourseError(f"{RELEASED}/{lab} has no notebook; `lab build {lab}` makes it")
        return found[0]

    def exercises(self, lab: str) -> Path:
        """The folder with the exercise files of `lab`."""
        return self.root / "autograder" / "exercises" / lab
