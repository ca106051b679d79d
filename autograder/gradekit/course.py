"""course.toml as frozen values. An error names the file, the line and the fix."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gradekit.errors import CourseError

FILE_NAME = "course.toml"
# The folders that nbgrader calls source and release.
SOLVED, RELEASED = "solutions", "labs"


class _Values(BaseModel):
    """Frozen, and strict about unknown keys, so that a typo is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class About(_Values):
    """The ``[course]`` table.

    Attributes:
        errata: whether the labs have their errata hunts, which are about five public lectures.
    """

    name: str
    timezone: str = "UTC"
    errata: bool = True

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
        grace_minutes: minutes after the due date in which a hand-in is still on time.
        percent_per_day: of the points earned, taken off for each day or part of a day.
        last_day: after this number of days, a hand-in earns nothing.
    """

    grace_minutes: int = Field(default=0, ge=0)
    percent_per_day: float = Field(default=10, ge=0, le=100)
    last_day: int = Field(default=5, ge=0)


class LimitValues(_Values):
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


class ExerciseLimitValues(_Values):
    """Limits of one exercise of a lab; by default the lab's."""

    exercise_seconds: float | None = Field(default=None, gt=0)
    cpu_seconds: int | None = Field(default=None, ge=1)
    memory_mib: int | None = Field(default=None, ge=512)
    answer_mib: int | None = Field(default=None, ge=1)


class LabDates(_Values):
    """One ``[[lab]]`` table. Dates have the course's time zone.

    Attributes:
        limits: those that are set only for this lab.
        exercise_limits: those that are set only for one exercise, by its name.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    release: datetime
    due: datetime
    limits: LimitValues = LimitValues()
    exercise_limits: Mapping[str, ExerciseLimitValues] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _in_order(self) -> LabDates:
        if self.due <= self.release:
            raise ValueError(f"{self.id} is due before it is released; swap or correct the dates")
        return self

    def __hash__(self) -> int:
        return hash((self.id, self.release, self.due))


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
                raise ValueError(f"lab {name} appears twice; give each lab one [[lab]] table")
        for extension in self.extension:
            if extension.lab not in ids:
                raise ValueError(
                    f"an extension names lab {extension.lab}, which has no [[lab]] table"
                )
        for lab in self.lab:
            _fit_together(lab, self.limits_of(lab))
        return self

    def limits_of(self, lab: LabDates) -> LimitValues:
        """The course's limits, with the lab's own in their place."""
        return self.limits.model_copy(update=lab.limits.model_dump(exclude_unset=True))


def _fit_together(lab: LabDates, limits: LimitValues) -> None:
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


class Course(_Values):
    """A course: its values and the folder that they were read from."""

    root: Path
    values: CourseFile

    @property
    def labs(self) -> tuple[str, ...]:
        """The labs' ids in the order of the file, which is the order of the weeks."""
        return tuple(lab.id for lab in self.values.lab)

    @property
    def timezone(self) -> tzinfo:
        """The course's time zone."""
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
        """The most that one hand-in of `lab` may use: the lab's own limits, else the course's."""
        return self.values.limits_of(self.dates(lab))

    def exercise_limits(self, lab: str) -> Mapping[str, ExerciseLimitValues]:
        """The limits that are set for single exercises of `lab`, by their names."""
        return self.dates(lab).exercise_limits

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
        self.dates(lab)
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

    def _local(self, moment: datetime) -> datetime:
        return moment if moment.tzinfo else moment.replace(tzinfo=self.timezone)


def find_root(start: Path) -> Path:
    """The nearest folder from `start` upwards that contains course.toml.

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
        CourseError: it is missing, is not TOML, or has a wrong value.
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
    keys = [str(part) if isinstance(part, str) else f"#{part + 1}" for part in first["loc"]]
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    line = _line_of(text, first["loc"])
    where = f"{path.name}, line {line}" if line else path.name
    subject = f"{'.'.join(keys)}: " if keys else ""
    shown = f" (it is {first['input']!r})" if isinstance(first["input"], (str, int, float)) else ""
    return f"{where}: {subject}{message}{shown}"


def _line_of(text: str, location: tuple[int | str, ...]) -> int | None:
    """The line that sets the value at `location`, or the line that begins its table."""
    match location:
        case [str(table), int(number), *keys]:
            head, skip = f"[[{table}]]", number
        case [str(table), *keys]:
            head, skip = f"[{table}]", 0
        case _:
            return None
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    starts = [number for number, line in enumerate(lines) if line == head]
    if len(starts) <= skip:
        return None
    start = starts[skip]
    # The table's own sub-tables ([lab.limits]) belong to it.
    others = (n for n in range(start + 1, len(lines)) if _is_head(lines[n], f"[{table}."))
    inside = range(start + 1, next(others, len(lines)))
    for key in reversed(keys):
        for number in inside:
            if lines[number].split("=")[0].strip(" []").rpartition(".")[2] == key:
                return number + 1
    return start + 1


def _is_head(line: str, but: str) -> bool:
    return line.startswith("[") and not line.startswith(but)
