"""Pages back through nbgrader's exchange, where students press "Fetch Feedback".

nbgrader gives a page to anyone who knows the secret that its exchange put beside the hand-in: the
page's name is a hash of that secret and the notebook's name. Source: nbgrader 0.9.6,
exchange/default/release_feedback.py and fetch_feedback.py.

Tested in tests/gradekit/returns/test_exchange.py.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from gradekit.course import Course
from gradekit.returns.return_paths import NotReturned, ReturnPath
from gradekit.roster.students import Student
from gradekit.submissions.folder import SUBMITTED, TIMESTAMP

SECRET = "submission_secret.txt"  # noqa: S105 - a file's name
_STEP = "ReleaseFeedback"


def exchange_path(course: Course, lab: str, student: Student) -> ReturnPath | NotReturned:
    """A page under the name of the notebook that was handed in: nbgrader looks for that."""
    folder = course.root / SUBMITTED / student.id / lab
    if not all((folder / name).is_file() for name in (SECRET, TIMESTAMP)):
        return NotReturned("the hand-in did not come from nbgrader's exchange")
    names = sorted(path.stem for path in folder.glob("*.ipynb"))
    if not names:
        return NotReturned("no notebook was handed in, and nbgrader asks for a notebook's page")
    expected = course.source(lab).stem
    name = expected if expected in names else names[0]
    return ReturnPath(f"{student.id}/{lab}/{name}.html", student.id)


def feedback_folder(course: Course, lab: str) -> Path:
    """Where the exchange keeps pages."""
    from gradekit.build.exchange import exchange_step  # imports nbgrader, which takes a second

    step = exchange_step(course, lab, _STEP)
    return Path(step.root, step.coursedir.course_id, "feedback")


def release_feedback(course: Course, lab: str, pages: Mapping[str, bytes]) -> None:
    """Have nbgrader put pages into its exchange.

    Args:
        pages: by their paths.

    Raises:
        CourseError: the exchange refuses.
    """
    from gradekit.build.exchange import exchange_step, run_step

    with TemporaryDirectory() as folder:
        for path, html in pages.items():
            page = Path(folder, path)
            page.parent.mkdir(parents=True)
            page.write_bytes(html)
            submitted = course.root / SUBMITTED / page.parent.relative_to(folder)
            for name in (SECRET, TIMESTAMP):
                shutil.copyfile(submitted / name, page.parent / name)
        step = exchange_step(course, lab, _STEP, feedback_directory=folder)
        run_step(step, f"{lab}: nbgrader's exchange refuses the pages")
