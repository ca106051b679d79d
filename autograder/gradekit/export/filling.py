"""Filling a course system's file: which student a row is about, and what is written there.

Tested in tests/gradekit/export/test_canvas.py and test_moodle.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gradekit.errors import ExportError
from gradekit.export.csv_text import Cell, CsvText
from gradekit.export.numbers import decimal_sign, written
from gradekit.export.scores import Score
from gradekit.roster.people import Directory, Person, Unknown
from gradekit.roster.students import Roster, Student
from gradekit.wording import first_of

_MOST_LISTED = 10  # with a line each
_MOST_NAMED = 20  # in one sentence


@dataclass(frozen=True)
class Filled:
    """A file with scores in it.

    Attributes:
        data: the whole file.
        students: the number of rows that have a score now.
        notes: who is in one list only, one sentence each.
    """

    data: bytes
    students: int
    notes: tuple[str, ...]


@dataclass
class Filling:
    """The scores of a lab, and the cells that they were written into.

    Attributes:
        lab: its id.
        title: its title.
        scores: one for each student.
        scale: whether scores are converted to the points that the system counts.
        numbers: students' ids by the system's numbers for this assignment, as far as collecting
            hand-ins showed them.
    """

    lab: str
    title: str
    scores: Iterable[Score]
    scale: bool = False
    numbers: Mapping[str, str] = field(default_factory=dict)
    _by_id: Mapping[str, Score] = field(init=False)
    _directory: Directory = field(init=False)
    _cells: list[tuple[Cell, float]] = field(default_factory=list)
    _comments: dict[Cell, str] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _unknown: list[str] = field(default_factory=list)
    _kept: list[str] = field(default_factory=list)
    _factor: float = 1.0

    def __post_init__(self) -> None:
        self._by_id = {score.student.id: score for score in self.scores}
        students = (_with_name(score.student) for score in self._by_id.values())
        self._directory = Directory(Roster(tuple(students)))

    def same_points(self, theirs: float | None, where: str) -> None:
        """Take note of the points that the system counts for the lab.

        Raises:
            ExportError: they are not the lab's, and scores are not to be converted.
        """
        ours = next((score.of for score in self._by_id.values()), 0.0)
        if not theirs or not ours or abs(theirs - ours) < 0.005:
            return
        if not self.scale:
            raise ExportError(
                f"{self.lab} has {ours:g} points, but {where!r} counts {theirs:g}; correct that "
                "there, or convert the scores with --scale"
            )
        self._factor = theirs / ours

    def fill(
        self, person: Person, cell: Cell, comment: Cell | None = None, number: str = ""
    ) -> None:
        """Write a person's score into a cell; a person without one keeps what stands there.

        Args:
            comment: the cell for a comment, which tells a late penalty.
            number: the system's number of the person for this assignment, if it has one.

        Raises:
            ExportError: two rows are about one student.
        """
        student = self._student(person, number)
        if isinstance(student, Unknown):
            self._unknown.append(f"{person.shown}: {student.reason}")
            return
        if student.id in self._seen:
            raise ExportError(f"{_named(student)} has two rows in the file")
        self._seen.add(student.id)
        score = self._by_id[student.id]
        if score.score is None:
            return
        self._cells.append((cell, score.score * self._factor))
        if comment is not None and score.late:
            self._comments[comment] = score.late

    def keep(self, person: Person, why: str, number: str = "") -> None:
        """Leave a person's row as it is, and tell it if there is a score.

        Args:
            why: such as "excused there".
            number: as for :meth:`fill`.
        """
        student = self._student(person, number)
        if isinstance(student, Unknown):
            return
        self._seen.add(student.id)
        score = self._by_id[student.id].score
        if score is not None:
            self._kept.append(f"{_named(student)} has {score:g} points, but is {why}")

    def _student(self, person: Person, number: str) -> Student | Unknown:
        known = self._by_id.get(self.numbers.get(number, ""))
        return known.student if known else self._directory.find(person)

    def done(self, file: CsvText) -> Filled:
        """The file with all that was filled in."""
        numbers = (cell.value for row in file.rows for cell in row)
        sign = decimal_sign(numbers)
        values = {cell: written(value, sign, cell.value) for cell, value in self._cells}
        data = file.with_values({**values, **self._comments})
        notes = (*self._unknown, *self._kept, *self._absent(file.name))
        return Filled(data, len(values), notes)

    def _absent(self, name: str) -> list[str]:
        """Who has a score and no row; many are one sentence, because a course has two systems."""
        absent = [
            score
            for score in self._by_id.values()
            if score.score is not None and score.student.id not in self._seen
        ]
        if len(absent) > _MOST_LISTED:
            ids = first_of((score.student.id for score in absent), _MOST_NAMED)
            return [f"{len(absent)} students have points, but are not in {name}: {ids}"]
        return [
            f"{_named(score.student)} has {score.score:g} points, but is not in {name}"
            for score in absent
        ]


def _with_name(student: Student) -> Student:
    """A person who is not in students.csv is found by the id."""
    return student if student.name else Student(student.id, student.id)


def _named(student: Student) -> str:
    return f"{student.name} ({student.id})" if student.name else student.id
