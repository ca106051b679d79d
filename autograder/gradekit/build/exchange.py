"""nbgrader's exchange: the folder through which a machine's users get labs and hand them in.

The steps are nbgrader's own, so that another exchange (ngshare, for example) works as well, if the
settings name it. Tested in tests/gradekit/build/test_bundle.py and
tests/gradekit/returns/test_exchange.py.
"""

from __future__ import annotations

from typing import Any

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.nbgrader_settings import exchange_config


def exchange_step(course: Course, lab: str, name: str, **folders: str) -> Any:
    """One of nbgrader's steps for this course and lab.

    Args:
        name: as in nbgrader's ``ExchangeFactory``, such as ``"ReleaseAssignment"``.
        folders: settings of nbgrader's ``CourseDirectory``.
    """
    config = exchange_config(course)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.update({**folders, "assignment_id": lab})
    return getattr(ExchangeFactory(config=config), name)(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )


def run_step(step: Any, refused: str) -> None:
    """Take a step.

    Args:
        refused: the beginning of a sentence, for when nbgrader does not take it.

    Raises:
        CourseError: nbgrader refuses.
    """
    try:
        step.start()
    except ExchangeError as error:
        raise CourseError(f"{refused}: {error}") from error
