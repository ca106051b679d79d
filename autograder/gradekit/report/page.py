"""Reports as pages of one file: no network, no script.

They are made to be shown in a lecture, read on a phone and printed, so nothing on them depends on
colour or on a pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradekit.course import Course
from gradekit.feedback.html import template, write_report_page
from gradekit.report import summary
from gradekit.report.report import Report
from gradekit.report.weeks import FELL, Weeks

FOLDER = "reports"
MOST_CARDS = 12  # misconceptions with their advice and code; the others follow in a table
_TEMPLATES = Path(__file__).parent / "templates"


def write_report(course: Course, report: Report, with_names: bool, out: Path | None = None) -> Path:
    """Write the page, in the place of an earlier one.

    Args:
        with_names: also name the students, for staff; such a page has another file name.
        out: the file; by default one in ``reports/``.

    Raises:
        ReportError: the file cannot be written.
    """
    name = f"{report.lab}-names.html" if with_names else f"{report.lab}.html"
    return write_report_page(out or course.root / FOLDER / name, render(report, with_names))


def write_weeks(course: Course, weeks: Weeks, out: Path | None = None) -> Path:
    """Write the page of the term, which names every student.

    Raises:
        ReportError: the file cannot be written.
    """
    return write_report_page(out or course.root / FOLDER / "term-names.html", render_weeks(weeks))


def render(report: Report, with_names: bool = False) -> str:
    """The page as HTML, in one file."""
    return template("report.html.j2", _TEMPLATES).render(
        report=report,
        sentences=summary.sentences(report),
        with_names=with_names,
        most=MOST_CARDS,
        percent=summary.percent,
        number=summary.number,
        students=summary.students,
        signed=summary.signed,
        states={str(state): words for state, words in summary.STATES.items()},
    )


def render_weeks(weeks: Weeks) -> str:
    """The page of the term as HTML, in one file."""
    return template("weeks.html.j2", _TEMPLATES).render(
        weeks=weeks,
        medians=_line([week.median for week in weeks.weeks]),
        least=FELL,
        line=_line,
        number=summary.number,
    )


def _line(percents: Sequence[float | None]) -> list[str]:
    """Percentages as points of lines in a box of 100 × 30; a lab without a result ends a line."""
    step = 100 / max(1, len(percents) - 1)
    lines: list[list[str]] = [[]]
    for place, percent in enumerate(percents):
        if percent is None:
            lines.append([])
        else:
            lines[-1].append(f"{step * place:.1f},{28 - 0.26 * min(percent, 100):.1f}")
    return [" ".join(line) for line in lines if line]
