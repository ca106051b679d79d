"""A TA marks the free-text answer, in nbgrader's own formgrader in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")

from playwright.sync_api import Page, expect

from gradekit.course import Course
from gradekit.grading.grade import Settings, grade_lab
from gradekit.grading.view import progress_bar
from gradekit.results.records import State
from tests.helpers import tiny_class
from tests.helpers.in_one_process import one_sandbox, without_workers
from tests.helpers.servers import serving
from tests.helpers.tiny_class import LAB, NAME

pytestmark = [pytest.mark.browser, pytest.mark.needs("sandbox")]

TOKEN = "a-token-for-this-test"
ANSWER = "The exponential of a large score is **infinity**, and its ratio is not a number."


@pytest.fixture
def graded(tmp_path: Path) -> Iterator[Course]:
    """A course in which ada's solved notebook, with an answer of her own, has been graded."""
    root = tmp_path / "course"
    root.mkdir()
    course = tiny_class.write_course(root)
    tiny_class.hand_in(root, "ada", tiny_class.notebook(root, explain=ANSWER))
    with one_sandbox():
        assert grade(course) == State.GRADED
        yield course


def grade(course: Course, **settings: bool) -> State:
    """What becomes of ada's hand-in in ``lab grade``."""
    with without_workers(), progress_bar(quiet=True) as progress:
        (row,) = grade_lab(course, LAB, Settings(1, **settings), progress).rows
    return row.state


@pytest.fixture
def formgrader(graded: Course, private: dict[str, str]) -> Iterator[str]:
    """Formgrader's address, with a token and where to go on."""
    command = [
        "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
        f"--IdentityProvider.token={TOKEN}",
    ]  # fmt: skip
    with serving(command, graded.root, private) as address:
        yield f"{address}login?token={TOKEN}&next=%2Fformgrader%2Fgradebook"


AUTOMATIC = re.compile(r"^5(\.0)?$")


@pytest.mark.timeout(420)
def test_a_ta_marks_the_answer_and_grading_again_keeps_the_mark(
    page: Page, formgrader: str, graded: Course
) -> None:
    page.goto(formgrader)
    page.get_by_role("link", name=LAB, exact=True).click()
    page.get_by_role("link", name=NAME).click()
    page.get_by_role("link", name="Submission #1").click()

    expect(page.get_by_text("The exponential of a large score is infinity")).to_be_visible()
    checked = page.locator("#check_softmax")
    # formgrader fetches the points after the page has loaded.
    expect(checked).to_have_attribute("placeholder", AUTOMATIC)

    mark = page.locator("#explain")
    mark.scroll_into_view_if_needed()
    mark.fill("3")
    with page.expect_response(re.compile("/formgrader/api/grade/")) as saved:
        mark.press("Tab")
    assert saved.value.ok
    comment = page.locator("textarea.comment").last
    comment.fill("Say where the infinity is divided by infinity.")
    with page.expect_response(re.compile("/formgrader/api/comment/")) as saved:
        comment.press("Tab")
    assert saved.value.ok

    for again in (False, True):
        assert grade(graded, again=again) == State.GRADED
        page.reload()
        expect(mark).to_have_value("3")
        expect(comment).to_have_value("Say where the infinity is divided by infinity.")
        expect(checked).to_have_attribute("placeholder", AUTOMATIC)
