"""How pages are made: every word that came from outside is escaped, and nothing is loaded.

Tested in tests/gradekit/feedback/test_page.py and tests/gradekit/report/test_page.py.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from gradekit.errors import ReportError
from gradekit.feedback.plain_text import plain_prose
from gradekit.files import write_whole

FEEDBACK = "feedback"  # the folder of the students' pages
TEMPLATES = Path(__file__).parent / "templates"  # has the style that all pages share
_CODE = re.compile(r"`([^`\n]+)`")


@cache  # compiling a template takes ten times as long as rendering a page
def template(name: str, folder: Path = TEMPLATES) -> Template:
    """A template that escapes everything and fails on a name that it is not given."""
    environment = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_without_controls,
    )
    environment.filters["words"] = _words
    environment.filters["points"] = lambda number: f"{round(number, 2):g}"
    return environment.get_template(name)


def write_report_page(path: Path, html: str) -> Path:
    """Write a page for staff, in the place of an earlier one; returns `path`.

    Raises:
        ReportError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, html)
    except OSError as error:
        raise ReportError(
            f"the report cannot be written to {path} ({error.strerror}); name another file "
            "with --out"
        ) from error
    return path


def _without_controls(value: object) -> object:
    """For every value that the template prints; escaped text stays escaped."""
    return type(value)(plain_prose(value)) if isinstance(value, str) else value


def _words(text: str) -> Markup:
    """Text as HTML: everything is escaped, and text in backticks becomes code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped first
