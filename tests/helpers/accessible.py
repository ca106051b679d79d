"""A page in a browser, asked by axe at several widths and in both colour schemes."""

from __future__ import annotations

from collections.abc import Iterable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def assert_accessible(page: Page, widths: Iterable[int]) -> None:
    """Open all details; axe finds nothing and nothing reaches beyond the window's right edge."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert faults(page) == [], (width, scheme)


def faults(page: Page) -> list[tuple[str, str]]:
    """What axe finds: the rule's id and the first element that breaks it."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found]
