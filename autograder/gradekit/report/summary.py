"""The report in a few sentences, for the top of the page and for the terminal.

Tested in tests/gradekit/report/test_report.py.
"""

from __future__ import annotations

from gradekit.export.scores import ScoreState
from gradekit.report.report import Report
from gradekit.wording import counted

_TROUBLE = {
    ScoreState.THEIRS: "could not be run",
    ScoreState.OURS: "failed in the grader",
    ScoreState.NOT_GRADED: "not graded yet",
}
# What each state means, because a state has one word, and a late hand-in may need manual grading.
STATES = {
    **_TROUBLE,
    ScoreState.MISSING: "no hand-in",
    ScoreState.OPEN: "needs manual grading",
    ScoreState.GRADED: "final, on time",
    ScoreState.LATE: "final, late",
}


def sentences(report: Report) -> list[str]:
    """What to know first; each sentence stands alone."""
    return [*_who(report), *_scores(report), *_steps(report), *_misconceptions(report)]


def percent(share: float | None) -> str:
    """A share for people; a dash if there is none."""
    return "–" if share is None else f"{100 * share:.0f} %"


def students(count: int) -> str:
    """A number of students in words."""
    return counted(count, "student")


def number(value: float | None) -> str:
    """A number with at most one digit after the point; a dash if there is none."""
    return "–" if value is None else f"{round(value, 1):g}"


def signed(value: float) -> str:
    """A number with two digits and a true minus sign."""
    return f"{value:.2f}".replace("-", "−")


def _who(report: Report) -> list[str]:
    whole = report.whole
    late = f", {report.late} of them late" if report.late else ""
    more = [
        f"{count} {words}"
        for state, words in _TROUBLE.items()
        if (count := report.score_states.get(str(state), 0))
    ]
    rest = f" ({', '.join(more)})" if more else ""
    return [f"{whole.handed_in} of {students(whole.students)} handed in{late}{rest}."]


def _scores(report: Report) -> list[str]:
    whole = report.whole
    if whole.median is None:
        return []
    waiting = report.score_states.get(str(ScoreState.OPEN), 0)
    verb = "needs" if waiting == 1 else "need"
    so_far = f" so far, because {students(waiting)} {verb} manual grading" if waiting else ""
    return [
        f"The median score is {number(whole.median)} of {report.points:g} points, "
        f"the mean {number(whole.mean)}{so_far}."
    ]


def _steps(report: Report) -> list[str]:
    hardest = report.hardest
    if not hardest:
        return []
    step = hardest[0]
    return [f"The hardest step is {step.title}: on average {percent(step.share)} of its points."]


def _misconceptions(report: Report) -> list[str]:
    if not report.misconceptions:
        return ["No known mistake was recognised."]
    first = report.misconceptions[0]
    count = len(report.misconceptions)
    kinds = "known mistake was" if count == 1 else "different known mistakes were"
    return [
        f"{count} {kinds} recognised. The most frequent: {first.name}, in {first.title} "
        f"({students(len(first.students))})."
    ]
