"""The page of ``lab similar`` in a real browser: axe finds nothing, and it fits the window."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")
pytest.importorskip("axe_playwright_python", reason="no axe: install the extra `dev`")

from playwright.sync_api import Page

from gradekit.course import Course
from gradekit.similarity.compare import compare
from gradekit.similarity.hand_ins import read_class
from gradekit.similarity.page import write_page
from tests.gradekit.similarity.conftest import course
from tests.helpers.accessible import assert_accessible
from tests.helpers.submissions import LAB

__all__ = ["course"]
pytestmark = pytest.mark.browser


@pytest.fixture
def address(course: Course) -> str:
    return write_page(course, compare(read_class(course, LAB))).as_uri()


def test_axe_finds_nothing_and_nothing_is_cut_off(page: Page, address: str) -> None:
    page.goto(address)
    assert_accessible(page, widths=(360, 800))
    assert page.locator("pre mark").count() > 0
