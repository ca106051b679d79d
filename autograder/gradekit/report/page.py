"""The report as one page: no network, no script, and without names unless they are asked for.

It is made to be shown in a lecture, read on a phone and printed, so nothing on it depends on colour
or on a pointer.
"""

from __future__ import annotations

from pathlib import Path

from gradekit.course import Course
from gradekit.errors import ReportError
from gradekit.feedback.html import template
from gradekit.files import write_whole
from gradekit.report import summary
from gradekit.report.report import Report

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
    path = out or course.root / FOLDER / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, render(report, with_names))
    except OSError as error:
        raise ReportError(
            f"the report cannot be written to {path} ({error.strerror}); name another file "
            "with --out"
        ) from error
    return path


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
    )
