"""`lab return --as exchange`: nbgrader's exchange gets each page under its own student's secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash

from gradekit.course import Course
from gradekit.errors import CourseError, ReturnError
from gradekit.returns.exchange import SECRET
from gradekit.returns.returns import Way, return_pages
from tests.helpers.collected import course_in
from tests.helpers.recorded import Points, record_lab
from tests.helpers.submissions import LAB, NAME

# nbgrader leaves the files of times open.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECRETS = {"ada": "secret of ada", "bob": "secret of bob"}
# Who handed in what: bob another name, cyd not through the exchange, dan no notebook.
NOTEBOOKS = {"ada": NAME, "bob": "mine", "cyd": NAME, "dan": ""}


@pytest.fixture
def exchange(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture
def course(tmp_path: Path, exchange: Path) -> Course:
    root = tmp_path / "course"
    course = course_in(root)
    (root / "nbgrader_config.py").write_text(
        f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'attention'\n"
    )
    for student, notebook in NOTEBOOKS.items():
        folder = root / "submitted" / student / LAB
        folder.mkdir(parents=True)
        (folder / "timestamp.txt").write_text("2026-09-19 10:00:00.000000 UTC")
        if notebook:
            (folder / f"{notebook}.ipynb").write_text("{}")
        if student != "cyd":
            (folder / SECRET).write_text(SECRETS.get(student, "another"))
    record_lab(course, LAB, dict.fromkeys(NOTEBOOKS, Points()))
    return course


def test_each_page_lies_where_nbgrader_looks_for_it(course: Course, exchange: Path) -> None:
    done = return_pages(course, LAB, Way.EXCHANGE)
    folder = exchange / "attention" / "feedback"
    assert done.file == folder
    expected = {
        f"{notebook_hash(secret=secret, notebook_id=NOTEBOOKS[student])}.html": student
        for student, secret in SECRETS.items()
    }
    assert {path.name for path in folder.iterdir()} == set(expected)
    for name, student in expected.items():
        page = (folder / name).read_text("utf-8")
        assert student in page
        assert not any(other in page for other in set(SECRETS) - {student})
    assert "did not come from nbgrader's exchange" in done.held["cyd"]
    assert "no notebook was handed in" in done.held["dan"]
    assert not folder.stat().st_mode & 0o044, "students can open a page, and cannot list them"


def test_the_exchange_is_one_place(course: Course, tmp_path: Path) -> None:
    with pytest.raises(ReturnError, match="omit --out"):
        return_pages(course, LAB, Way.EXCHANGE, out=tmp_path / "x")


def test_an_exchange_that_is_not_there_is_one_sentence(course: Course, exchange: Path) -> None:
    exchange.rmdir()
    (exchange.parent / "exchange").touch()
    with pytest.raises(CourseError, match="nbgrader's exchange refuses the pages: "):
        return_pages(course, LAB, Way.EXCHANGE)
