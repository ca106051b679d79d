"""The tables of course.toml, each strict about its values.

Tested in tests/gradekit/course/test_course.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gradekit.course.dates import FIRST, LAST, in_zone, moment

FILE_NAME = "course.toml"
Disclosure = Literal["withheld", "known"]


class Values(BaseModel):
    """Frozen, and strict about unknown keys, so that a typo is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class About(Values):
    """The ``[course]`` table.

    Attributes:
        errata: whether the labs have their errata hunts, which are about five public lectures.
        solutions: for all labs that do not say it themselves, see :class:`LabTable`.
    """

    name: str
    timezone: str = "UTC"
    errata: bool = True
    solutions: Disclosure = "withheld"

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError("not a time zone; write one like Europe/Zurich") from error
        return value


class LateRule(Values):
    """The ``[late]`` table.

    Attributes:
        grace_minutes: minutes after the due date in which a hand-in is still on time.
        percent_per_day: of the points earned, taken off for each day or part of a day.
        last_day: after this number of days, a hand-in earns nothing.
        slip_days: late days in the whole course that cost a student nothing, used in the order of
            the labs.
    """

    grace_minutes: int = Field(default=0, ge=0)
    percent_per_day: float = Field(default=10, ge=0, le=100)
    last_day: int = Field(default=5, ge=0)
    slip_days: int = Field(default=0, ge=0)


class TermRule(Values):
    """The ``[term]`` table: how the labs become one result.

    Attributes:
        drop_lowest: of each student, so many labs with the lowest share of their points do not
            count.
        scale: by grade, the percentage from which on it is given.
    """

    drop_lowest: int = Field(default=0, ge=0)
    scale: Mapping[str, float] = Field(default_factory=dict)

    @field_validator("scale")
    @classmethod
    def _with_a_lowest(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        if any(not 0 <= percent <= 100 for percent in value.values()):
            raise ValueError("a grade begins at 0 to 100 per cent")
        if len(set(value.values())) < len(value):
            raise ValueError("two grades begin at the same percentage")
        if value and 0 not in value.values():
            raise ValueError("no grade begins at 0, so some students would have none; add F = 0")
        return value

    def __hash__(self) -> int:
        return hash((self.drop_lowest, tuple(self.scale.items())))


class LimitValues(Values):
    """The ``[limits]`` table: the most that one hand-in may use.

    Attributes:
        cpu_seconds: of each of its processes; by default equal to `submission_seconds`.
    """

    cell_seconds: float = Field(default=60, gt=0)
    exercise_seconds: float = Field(default=20, gt=0)
    submission_seconds: float = Field(default=240, gt=0)
    cpu_seconds: int | None = Field(default=None, ge=1)
    memory_mib: int = Field(default=3072, ge=512)
    output_kib: int = Field(default=1024, ge=16)
    answer_mib: int = Field(default=64, ge=1)
    file_mib: int = Field(default=64, ge=1)
    scratch_mib: int = Field(default=256, ge=1)
    processes: int = Field(default=64, ge=8)


class ExerciseLimitValues(Values):
    """Limits of one exercise of a lab; by default the lab's."""

    exercise_seconds: float | None = Field(default=None, gt=0)
    cpu_seconds: int | None = Field(default=None, ge=1)
    memory_mib: int | None = Field(default=None, ge=512)
    answer_mib: int | None = Field(default=None, ge=1)


class LabTable(Values):
    """One ``[[lab]]`` table. Dates have the course's time zone.

    Attributes:
        release: when students get it; a date without a time means the beginning of that day.
        due: a date without a time means the end of that day.
        points: what its exercises and questions add up to; `lab verify` and `lab doctor` check it.
        weight: how much it counts in the term; by default as much as its points. 0: not at all.
        solutions: "withheld" until the lab closes, or "known" from its due date on, and then other
            bundles and feedback pages may hold its answers while late hand-ins still earn points.
        limits: those that are set only for this lab.
        exercise_limits: those that are set only for one exercise, by its name.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    release: datetime
    due: datetime
    points: float = Field(default=100, ge=0)
    weight: float | None = Field(default=None, ge=0)
    solutions: Disclosure | None = None
    limits: LimitValues = LimitValues()
    exercise_limits: Mapping[str, ExerciseLimitValues] = Field(default_factory=dict)

    @field_validator("release", mode="before")
    @classmethod
    def _from_its_first_moment(cls, value: Any) -> datetime:
        return moment(value, FIRST)

    @field_validator("due", mode="before")
    @classmethod
    def _to_its_last_moment(cls, value: Any) -> datetime:
        return moment(value, LAST)

    @model_validator(mode="after")
    def _in_order(self) -> LabTable:
        release, due = (in_zone(date, UTC) for date in (self.release, self.due))
        if due <= release:
            raise ValueError(f"{self.id} is due before it is released; swap or correct the dates")
        return self

    def __hash__(self) -> int:
        return hash((self.id, self.release, self.due))


class Extension(Values):
    """One ``[[extension]]`` table: more time for some students.

    Attributes:
        student, students, section: for whom; one of the three.
        lab, labs: for one lab, a list of labs, or "all".
        due, days: until when, or how many days after the lab's own due date.
        reason: for the staff; it is not shown to students.
    """

    student: str | None = None
    students: tuple[str, ...] = ()
    section: str | None = None
    lab: str | None = None
    labs: tuple[str, ...] | Literal["all"] = ()
    due: datetime | None = None
    days: float | None = Field(default=None, gt=0)
    reason: str = ""

    @field_validator("due", mode="before")
    @classmethod
    def _to_its_last_moment(cls, value: Any) -> datetime:
        return moment(value, LAST)

    @model_validator(mode="after")
    def _complete(self) -> Extension:
        for question, choices in (
            ("for whom it is", ("student", "students", "section")),
            ("for which lab it is", ("lab", "labs")),
            ("until when it lasts", ("due", "days")),
        ):
            given = [name for name in choices if getattr(self, name) not in (None, ())]
            if len(given) != 1:
                says = f"has both {' and '.join(given)}" if given else f"does not say {question}"
                raise ValueError(f"an extension {says}; write one of {', '.join(choices)}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The students that it names; none if it is for a section."""
        return (self.student,) if self.student is not None else self.students

    def names_of_labs(self, all_labs: tuple[str, ...]) -> tuple[str, ...]:
        """The labs that it is for, among those of the course."""
        if self.labs == "all":
            return all_labs
        return (self.lab,) if self.lab is not None else self.labs


class CourseFile(Values):
    """The whole of course.toml."""

    course: About
    late: LateRule = LateRule()
    term: TermRule = TermRule()
    limits: LimitValues = LimitValues()
    lab: tuple[LabTable, ...]
    extension: tuple[Extension, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> CourseFile:
        ids = [lab.id for lab in self.lab]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"lab {name} appears twice; give each lab one [[lab]] table")
        for lab in self.lab:
            _fit_together(lab, self.limits_of(lab))
        return self

    def limits_of(self, lab: LabTable) -> LimitValues:
        """The course's limits, with the lab's own in their place."""
        return self.limits.model_copy(update=lab.limits.model_dump(exclude_unset=True))


def _fit_together(lab: LabTable, limits: LimitValues) -> None:
    """Check that every limit can be reached.

    Raises:
        ValueError: a part may use more than the whole.
    """
    if limits.file_mib > limits.scratch_mib:
        raise ValueError(
            f"{lab.id}: one file may have {limits.file_mib} MiB (file_mib), but all files together "
            f"only {limits.scratch_mib} (scratch_mib); raise scratch_mib or lower file_mib"
        )
    wholes = {**limits.model_dump(), "exercise_seconds": limits.submission_seconds}
    for name, own in lab.exercise_limits.items():
        for key, value in own.model_dump(exclude_unset=True).items():
            whole = wholes[key]
            if value is not None and whole is not None and value > whole:
                of_all = "submission_seconds" if key == "exercise_seconds" else key
                raise ValueError(
                    f"{lab.id}: exercise {name} has {key} = {value:g}, but a whole hand-in has "
                    f"{of_all} = {whole:g}; raise that one in the lab's limits, or lower this one"
                )
