"""The report in a real browser: axe finds nothing, it fits a phone, and it prints."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")
pytest.importorskip("axe_playwright_python", reason="no axe: install the extra `dev`")

from playwright.sync_api import Page

from gradekit.report.page import write_report, write_weeks
from gradekit.report.report import make_report
from gradekit.report.weeks import weeks_of
from tests.helpers.accessible import assert_accessible, faults
from tests.helpers.planted_class import LAB, write_class
from tests.helpers.terms import term_with

pytestmark = pytest.mark.browser


NOW = datetime(2026, 9, 21, 7, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def term_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("term")
    results = {f"student{n:02}": [60 + (7 * n * lab) % 40 for lab in range(12)] for n in range(20)}
    term = term_with(root, results | {"falls": [90] * 10 + [20, None]})
    weeks = weeks_of(term, NOW)
    return write_weeks(term.course, weeks).as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    course = write_class(tmp_path_factory.mktemp("report") / "course", 300, with_code=True)
    report = make_report(course, LAB, NOW)
    return write_report(course, report, with_names=True).as_uri()


@pytest.mark.parametrize("which", ["address", "term_address"])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    page: Page, request: pytest.FixtureRequest, which: str
) -> None:
    page.goto(request.getfixturevalue(which))
    assert_accessible(page, widths=(360, 1280))


def test_axe_would_find_a_fault(page: Page) -> None:
    page.set_content("<p style='color: #ccc'>pale</p>")
    assert {"color-contrast", "html-has-lang"} <= {rule for rule, _ in faults(page)}


def test_on_paper_it_is_black_on_white_and_neither_a_check_nor_a_short_card_is_torn(
    page: Page, address: str, tmp_path: Path
) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(address)
    colours = page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    for parts in (".card:not(.long)", ".checks li"):
        breaks = page.eval_on_selector_all(
            parts, "parts => parts.map(part => getComputedStyle(part).breakInside)"
        )
        assert set(breaks) == {"avoid"}
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000


def test_long_lists_are_continued_on_the_next_sheet(page: Page, term_address: str) -> None:
    page.emulate_media(media="print")
    page.goto(term_address)
    breaks = page.eval_on_selector_all(
        ".card", "cards => cards.map(card => getComputedStyle(card).breakInside)"
    )
    assert breaks == ["avoid", "avoid", "auto", "auto"]
