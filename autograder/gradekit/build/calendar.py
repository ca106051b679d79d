"""What a bundle needs of earlier labs, and which of them are still open when it is released.

A lab's bundle holds no answer of a lab that has not closed. Where it cannot work without one, that
is a conflict of dates, which the instructor resolves in course.toml.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from gradekit.build.needs import needed_by
from gradekit.build.student_library import all_references
from gradekit.course import FILE_NAME, Course
from gradekit.course.dates import short_date
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from gradekit.late import answers_public_after, answers_public_after_without_extensions


@dataclass(frozen=True)
class Conflict:
    """A bundle that needs the answers of a lab that is still open when it is released.

    Attributes:
        release: when the bundle is released.
        other: the open lab.
        until: when it closes.
        extended: whether it would be closed by then, but for an extension.
        names: the answers that are needed.
    """

    lab: str
    release: datetime
    other: str
    until: datetime
    extended: bool
    names: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What is wrong and what to change."""
        first, more = self.names[0], len(self.names) - 1
        needed = f"{first} and {more} more answers" if more > 1 else " and ".join(self.names)
        change = "shorten the extension" if self.extended else "lower last_day or move a date"
        return (
            f"its bundle of {short_date(self.release)} needs {needed} of {self.other}, which can "
            f"earn points until {short_date(self.until)}; {change} in {FILE_NAME}, or write "
            f'solutions = "known" for {self.other} there'
        )


def open_labs(course: Course, lab: str) -> list[str]:
    """The earlier labs that are still open when `lab` is released: its bundle is blank for them."""
    release = course.lab(lab).release
    earlier = course.labs[: course.labs.index(lab)]
    return [other for other in earlier if answers_public_after(course, other) > release]


def closing_later(course: Course, lab: str, now: datetime) -> list[str]:
    """The labs that close before `lab` is released, but after `now`: its bundle is made early."""
    earlier = course.labs[: course.labs.index(lab)]
    still_open = open_labs(course, lab)
    return [o for o in earlier if o not in still_open and answers_public_after(course, o) > now]


def with_date_passed(
    course: Course, chosen: Sequence[str], now: datetime, solutions: bool = False
) -> list[str]:
    """Those of the labs `chosen` whose release is not later than `now`.

    Args:
        solutions: the release of their solutions.

    Raises:
        CourseError: there is none.
    """
    if solutions:
        found = [lab for lab in chosen if answers_public_after(course, lab) < now]
    else:
        found = [lab for lab in chosen if course.lab(lab).release <= now]
    if not found:
        what = "has closed" if solutions else "has been released"
        raise CourseError(f"no lab {what} yet, according to {FILE_NAME}")
    return found


def refuse_early(course: Course, lab: str, now: datetime) -> None:
    """Check that `lab` may be released.

    Raises:
        CourseError: its release date is later than `now`.
    """
    release = course.lab(lab).release
    if now < release:
        raise CourseError(
            f"{lab}: its release is on {short_date(release)}; add --early to release it now"
        )


def conflicts(labs: CourseLabs, lab: str) -> Iterator[Conflict]:
    """The conflicts of the bundle of `lab`, one for each open lab that it needs.

    Raises:
        CourseError, ExerciseError: the sources contradict each other.
    """
    course = labs.course
    still_open = open_labs(course, lab)
    if not still_open:
        return
    references, needed = all_references(labs), _needs(labs, lab)
    release = course.lab(lab).release
    for other in still_open:
        names = (references[other] - references[lab]) & needed
        if names:
            shown = tuple(sorted(name for _, name in names))
            extended = answers_public_after_without_extensions(course, other) <= release
            until = answers_public_after(course, other)
            yield Conflict(lab, release, other, until, extended, shown)


def _needs(labs: CourseLabs, lab: str) -> frozenset[tuple[str, str]]:
    """The definitions that students of `lab` run: cells, visible checks, and what they build on."""
    found = labs[lab]
    cells = "\n".join(_python(cell.text) for cell in found.source.of("code"))
    probes = [check.source for e in found.exercises for check in e.checks if not check.hidden]
    uses = {(f.__module__, f.__name__) for e in found.exercises for f in (*e.uses, *e.references)}
    return needed_by([cells, *probes], uses)


def _python(cell: str) -> str:
    """A cell without IPython's own lines (%magic, !shell)."""
    lines = cell.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
