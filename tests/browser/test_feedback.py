"""A student's page in a real browser: axe finds nothing, and it fits a phone."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")
pytest.importorskip("axe_playwright_python", reason="no axe: install the extra `dev`")

from playwright.sync_api import Page

from gradekit.feedback.page import pages, write_page
from tests.helpers.accessible import assert_accessible, faults
from tests.helpers.planted_class import LAB, Planted, write_class

pytestmark = pytest.mark.browser

LONG = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)  # " + 60 * "e"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    planted = (Planted("softmax", 1, ("no_max_subtraction",), ("Look at it.",), code=LONG),)
    root = tmp_path_factory.mktemp("feedback") / "course"
    course = write_class(root, 3, planted, with_code=True)
    return write_page(course, next(pages(course, LAB, "s000"))).as_uri()


def test_axe_finds_nothing_and_nothing_is_cut_off(page: Page, address: str) -> None:
    page.goto(address)
    assert LONG in page.content().replace("&gt;", ">")
    assert_accessible(page, widths=(360, 1280))


def test_axe_would_find_code_that_a_keyboard_cannot_scroll(page: Page, address: str) -> None:
    page.goto(address)
    page.set_viewport_size({"width": 360, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.evaluate("document.querySelectorAll('pre').forEach(p => p.removeAttribute('tabindex'))")
    assert [rule for rule, _ in faults(page)] == ["scrollable-region-focusable"]
