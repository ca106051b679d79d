"""How hard each step and each check was, and what it says about a student.

The figures are those of classical test theory: the mean share of the points (its *difficulty*), and
the correlation with the points of all other steps (its *discrimination*; for a check, which is
passed or not, this is the point-biserial correlation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, mean

from gradekit.report.class_results import ClassResults, StudentResults
from gradekit.results.records import CheckResult, ExerciseResult
from gradekit.submissions.released import TargetCell

FEWEST_FOR_LINK = 20  # of fewer students, a correlation is mostly chance
WEAK_LINK = 0.1


@dataclass(frozen=True)
class CheckItem:
    """One check, over the students who wrote its step.

    Attributes:
        students: how many wrote the step.
        passed: how many of them passed.
        link: the correlation of passing with the points of all other checks, from -1 to 1; None if
            there are too few students, or if all have the same.
    """

    name: str
    title: str
    hidden: bool
    points: float
    students: int
    passed: int
    link: float | None

    @property
    def share(self) -> float:
        """The share of students who passed."""
        return self.passed / self.students if self.students else 0.0

    @property
    def remark(self) -> str:
        """Why to look at this check; empty for an ordinary one."""
        if not self.students:
            return "not written by anyone"
        if self.passed == self.students:
            return "everyone passes"
        if not self.passed:
            return "no one passes"
        if self.link is not None and self.link < WEAK_LINK:
            return "weak link"
        return ""


@dataclass(frozen=True)
class StepItem:
    """One step, over all graded hand-ins.

    Attributes:
        title: the heading above it in the notebook.
        students: graded hand-ins.
        mean: of the points that they earn; a step that was left out earns none.
        full, none: how many earn everything and nothing; those who left it out are in neither.
        left_out: how many wrote nothing.
        unexplained: how many lost points without a recognised mistake; those who left it out are
            not counted.
        link: the correlation with the points of all other steps; see :class:`CheckItem`.
    """

    name: str
    title: str
    points: float
    students: int
    mean: float
    full: int
    none: int
    left_out: int
    unexplained: int
    link: float | None
    checks: tuple[CheckItem, ...]

    @property
    def share(self) -> float | None:
        """The mean share of the points; None if the step is not graded."""
        return self.mean / self.points if self.points else None


def steps_of(results: ClassResults) -> tuple[StepItem, ...]:
    """The steps with their checks, in the order of the notebook."""
    return tuple(_step(step, results.graded) for step in results.steps)


def hardest_first(steps: Sequence[StepItem]) -> tuple[StepItem, ...]:
    """The graded steps by their mean share of the points; ties in the order of the notebook."""
    graded = [step for step in steps if step.share is not None and step.students]
    return tuple(sorted(graded, key=lambda step: step.share or 0.0))


def _step(step: TargetCell, graded: Sequence[StudentResults]) -> StepItem:
    name = step.exercise
    known = [(h, result) for h in graded if (result := h.result(name)) is not None]
    wrote = [(h, result) for h, result in known if not h.left_out(name)]
    earned = [result.earned or 0.0 for _, result in known]
    whole = [_points(hand_in) for hand_in, _ in known]
    passed = [all(check.passed for check in result.checks) for _, result in wrote]
    return StepItem(
        name=name,
        title=step.heading or name,
        points=step.points,
        students=len(known),
        mean=mean(earned) if earned else 0.0,
        full=sum(passed),
        none=sum(not any(check.earned for check in result.checks) for _, result in wrote),
        left_out=len(known) - len(wrote),
        unexplained=sum(
            not (done or result.mistakes) for (_, result), done in zip(wrote, passed, strict=True)
        ),
        link=_link(earned, [points - own for points, own in zip(whole, earned, strict=True)]),
        checks=_checks(wrote),
    )


def _checks(wrote: Sequence[tuple[StudentResults, ExerciseResult]]) -> tuple[CheckItem, ...]:
    """The checks of the latest version of a step; an earlier version may have had others."""
    if not wrote:
        return ()
    whole = {hand_in.student: _points(hand_in) for hand_in, _ in wrote}
    results = [(hand_in.student, check) for hand_in, r in wrote for check in r.checks]
    names = dict.fromkeys(check.name for check in wrote[-1][1].checks)
    return tuple(
        _check([(whole[student], check) for student, check in results if check.name == name])
        for name in names
    )


def _check(found: Sequence[tuple[float, CheckResult]]) -> CheckItem:
    _, check = found[-1]
    passed = [float(result.passed) for _, result in found]
    rest = [whole - result.earned for whole, result in found]
    return CheckItem(
        check.name,
        check.title,
        check.hidden,
        check.points,
        len(found),
        int(sum(passed)),
        _link(passed, rest),
    )


def _points(hand_in: StudentResults) -> float:
    return sum(result.earned or 0.0 for result in hand_in.results.values())


def _link(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Their correlation; None if it would say nothing."""
    if len(one) < FEWEST_FOR_LINK:
        return None
    try:
        return round(correlation(one, other), 2)
    except StatisticsError:  # one of them is the same for all
        return None
