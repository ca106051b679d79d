"""The results of a class in one lab, as values: what every part of a report is computed from.

Tested in tests/gradekit/report/test_report.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.export.scores import Score, scores_from
from gradekit.results.journal import read_journal
from gradekit.results.records import ExerciseResult, State, SubmissionRecord
from gradekit.submissions.released import Released, TargetCell


@dataclass(frozen=True)
class StudentResults:
    """One student's work in the lab.

    Attributes:
        score: the points that count; also of a student who handed in nothing.
        record: of the latest graded hand-in; None if there is none.
        results: the judge's, by exercise; empty if the hand-in could not be run.
    """

    score: Score
    record: SubmissionRecord | None
    results: Mapping[str, ExerciseResult]

    @property
    def student(self) -> str:
        """The student's id."""
        return self.score.student.id

    def result(self, step: str) -> ExerciseResult | None:
        """The judge's result for a step; None if there is none, or if the grader failed."""
        found = self.results.get(step)
        return found if found and found.broken is None else None

    def left_out(self, step: str) -> bool:
        """Whether the student wrote nothing for a step."""
        result = self.result(step)
        if self.record is None or result is None:
            return False
        return step in self.record.blank and not any(check.earned for check in result.checks)


@dataclass(frozen=True)
class ClassResults:
    """Everyone's results in one lab.

    Attributes:
        steps: the cells that are judged, in the order of the notebook.
        questions: the free-text cells, which a TA marks.
        everyone: those of students.csv, then others who handed in.
    """

    course: Course
    lab: str
    released: Released
    everyone: tuple[StudentResults, ...]

    @property
    def steps(self) -> tuple[TargetCell, ...]:
        """The cells that are judged, in the order of the notebook."""
        return self.released.tests

    @property
    def questions(self) -> tuple[TargetCell, ...]:
        """The free-text cells, which a TA marks."""
        return self.released.answers

    @property
    def graded(self) -> tuple[StudentResults, ...]:
        """The hand-ins whose code was run and judged."""
        return tuple(hand_in for hand_in in self.everyone if hand_in.results)


def read_class(course: Course, lab: str) -> ClassResults:
    """Everyone's results, from the journal and the gradebook.

    Raises:
        CourseError: the lab is not in course.toml, is not built, or nothing was graded yet.
    """
    course.lab(lab)
    with read_journal(course, lab) as journal:
        records = {record.student: record for record in journal.submissions}
        if not records:
            raise CourseError(f"{lab} has no results yet; `lab grade {lab}` makes them")
        released = Released.read(course.released(lab))
        results = {
            student: {
                name: found.result for name, found in journal.results(student, r.digest).items()
            }
            for student, r in records.items()
            if r.state is State.GRADED
        }
    scores = scores_from(course, lab, records.values(), released)
    everyone = [
        StudentResults(
            score,
            records.get(score.student.id),
            released.with_new_names(results.get(score.student.id, {})),
        )
        for score in scores
    ]
    return ClassResults(course, lab, released, tuple(everyone))
