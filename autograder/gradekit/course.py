"""course.toml as frozen values. An error names the file, the line and the fix."""

from __future__ import annotations

import tomllib
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

FILE_NAME = "course.toml"
# The folders that nbgrader calls source and release.
SOLVED, RELEASED = "solutions", "labs"


class CourseError(ValueError):
    """The course's files contradict themselves. One sentence: what, where, what to do."""


class _Values(BaseModel):
    """Frozen, and strict about unknown keys: a typing error is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class About(_Values):
    """The ``[course]`` table."""

    name: str
    timezone: str = "UTC"

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError("not a time zone; write one like Europe/Zurich") from error
        return value


class LateRule(_Values):
    """The ``[late]`` table.

    Attributes:
        grace_minutes: how long after the due date a hand-in is still in time.
        percent_per_day: of the points earned, taken off for each day or part of one.
        last_day: after so many days a hand-in earns nothing.
    """

    grace_minutes: int = Field(default=0, ge=0)
    percent_per_day: float = Field(default=10, ge=0, le=100)
    last_day: int = Field(default=5, ge=0)


class LimitValues(_Values):
    """The ``[limits]`` table: what one hand-in may use."""

    cell_seconds: float = Field(default=60, gt=0)
    exercise_seconds: float = Field(default=20, gt=0)
    submission_seconds: float = Field(default=240, gt=0)
    memory_mib: int = Field(default=3072, ge=512)
    output_kib: int = Field(default=1024, ge=16)
    file_mib: int = Field(default=64, ge=1)
    processes: int = Field(default=64, ge=8)


class LabDates(_Values):
    """One ``[[lab]]`` table. Dates have the course's time zone.

    Attributes:
        limits: those that are set for this lab alone.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    release: datetime
    due: datetime
    limits: LimitValues = LimitValues()

    @model_validator(mode="after")
    def _in_order(self) -> LabDates:
        if self.due <= self.release:
            raise ValueError(f"{self.id} is due before it is released; swap or mend the two dates")
        return self


class Extension(_Values):
    """One ``[[extension]]`` table: another due date for one student."""

    student: str
    lab: str
    due: datetime


class CourseFile(_Values):
    """The whole of course.toml."""

    course: About
    late: LateRule = LateRule()
    limits: LimitValues = LimitValues()
    lab: tuple[LabDates, ...]
    extension: tuple[Extension, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> CourseFile:
        ids = [lab.id for lab in self.lab]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"lab {name} stands twice; give each lab one [[lab]] table")
        for extension in self.extension:
            if extension.lab not in ids:
                raise ValueError(
                    f"an extension names lab {extension.lab}, which has no [[lab]] table"
                )
        return self


class Course(_Values):
    """A course: its values and the folder they were read from."""

    root: Path
    values: CourseFile

    @property
    def labs(self) -> tuple[str, ...]:
        """The labs' ids in the order of the file, which is the order of the weeks."""
        return tuple(lab.id for lab in self.values.lab)

    @property
    def timezone(self) -> tzinfo:
        """Where the course's clocks hang."""
        return ZoneInfo(self.values.course.timezone)

    def dates(self, lab: str) -> LabDates:
        """The dates of `lab`, with the course's time zone.

        Raises:
            CourseError: course.toml has no such lab.
        """
        for entry in self.values.lab:
            if entry.id == lab:
                return entry.model_copy(
                    update={"release": self._local(entry.release), "due": self._local(entry.due)}
                )
        raise CourseError(
            f"{FILE_NAME} has no lab {lab!r}; it has {', '.join(self.labs) or 'none'}"
        )

    def due(self, lab: str, student: str) -> datetime:
        """When `student` must hand in `lab`, extensions included."""
        for extension in self.values.extension:
            if extension.lab == lab and extension.student == student:
                return self._local(extension.due)
        return self.dates(lab).due

    def limits(self, lab: str) -> LimitValues:
        """What one hand-in of `lab` may use: the course's limits, but for the lab's own."""
        ours = self.dates(lab).limits.model_dump(exclude_unset=True)
        return self.values.limits.model_copy(update=ours)

    def source(self, lab: str) -> Path:
        """The text source of `lab`.

        Raises:
            CourseError: there is none, or more than one.
        """
        self.dates(lab)
        found = sorted((self.root / "solutions").glob(f"{lab}_*.py"))
        if len(found) != 1:
            names = ", ".join(path.name for path in found) or "none"
            raise CourseError(f"solutions/: {lab} needs one source {lab}_….py, found {names}")
        return found[0]

    def exercises(self, lab: str) -> Path:
        """The folder with the exercise files of `lab`."""
        return self.root / "autograder" / "exercises" / lab

    def _local(self, moment: datetime) -> datetime:
        return moment if moment.tzinfo else moment.replace(tzinfo=self.timezone)


def find_root(start: Path) -> Path:
    """The nearest folder from `start` upwards that holds course.toml.

    Raises:
        CourseError: there is none.
    """
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise CourseError(f"no {FILE_NAME} in {start} or above; change into the course's folder")


def load_course(root: Path) -> Course:
    """Read ``root/course.toml``.

    Raises:
        CourseError: it is missing, is not TOML, or holds a wrong value.
    """
    path = root / FILE_NAME
    try:
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is not valid TOML: {error}") from error
    try:
        return Course(root=root.resolve(), values=CourseFile.model_validate(table))
    except ValidationError as error:
        raise CourseError(_sentence(path, text, error)) from error


def _sentence(path: Path, text: str, error: ValidationError) -> str:
    first = error.errors()[0]
    place = [str(part) if isinstance(part, str) else f"#{part + 1}" for part in first["loc"]]
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    key = next((part for part in reversed(first["loc"]) if isinstance(part, str)), "")
    line = _line_of(text, key, first)
    where = f"{path.name}, line {line}" if line else path.name
    subject = f"{'.'.join(place)}: " if place else ""
    shown = f" (it is {first['input']!r})" if isinstance(first["input"], (str, int, float)) else ""
    return f"{where}: {subject}{message}{shown}"


def _line_of(text: str, key: str, error: Any) -> int | None:
    """The line that sets `key`, where only one does or its value tells which."""
    lines = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.split("=")[0].strip() == key
    ]
    numbers = [part for part in error["loc"] if isinstance(part, int)]
    if numbers and len(lines) > numbers[0]:
        return lines[numbers[0]]
    return lines[0] if len(lines) == 1 else None
