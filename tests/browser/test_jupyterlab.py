"""A student's first step, in a real JupyterLab in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")

from playwright.sync_api import Locator, Page, expect

from tests.helpers.servers import serving

pytestmark = pytest.mark.browser

TOKEN = "a-token-for-this-test"
WRONG = """\
def softmax(x, dim=-1):
    exp = (x - x.amax(-1, keepdim=True)).exp()
    return exp / exp.sum(-1, keepdim=True)
"""
MENDED = """\
def softmax(x, dim=-1):
    x = x if x.is_floating_point() else x.double()
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)
"""


@pytest.fixture
def lab_url(released_lab: Path, private: dict[str, str]) -> Iterator[str]:
    """JupyterLab in the student's folder, without a network."""
    command = [
        "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
        f"--IdentityProvider.token={TOKEN}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    with serving(command, released_lab, private) as address:
        yield f"{address}lab/tree/lab01_softmax.ipynb?token={TOKEN}"


def cell(page: Page, text: str | re.Pattern[str]) -> Locator:
    """The code cell that holds `text`."""
    return page.locator(".jp-Notebook .jp-CodeCell").filter(has_text=text)


def write(page: Page, place: Locator, source: str) -> None:
    """Replace what a cell holds."""
    place.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def run(page: Page, place: Locator) -> None:
    place.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(place.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=60_000)


@pytest.mark.timeout(240)
def test_a_student_gets_softmax_wrong_and_mends_it(
    page: Page, lab_url: str, released_lab: Path
) -> None:
    page.goto(lab_url)
    step = cell(page, "def softmax(")
    expect(step).to_be_visible(timeout=60_000)
    # The notebook is ready where its kernel is; what is run before that is lost.
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60_000)
    first = page.locator(".jp-Notebook .jp-CodeCell").first
    run(page, first)
    write(page, first, "check()")
    run(page, first)
    assert_columns_are_apart(first.locator(".jp-OutputArea-output").last)
    checked = cell(page, 'check("softmax")')

    run(page, checked)
    expect(checked).to_contain_text("Your notebook does not define softmax")

    write(page, step, WRONG)
    run(page, step)
    run(page, checked)
    output = checked.locator(".jp-OutputArea-output").last
    expect(output).to_contain_text("visible points")
    expect(output).to_contain_text("✗")
    expect(output).to_contain_text("the same for every dim")
    picture = output.get_by_role("img", name=re.compile("Heat maps of the expected tensor"))
    picture.scroll_into_view_if_needed()
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
    assert width(picture) <= width(output)
    assert picture.evaluate(
        "image => image.parentElement.scrollWidth <= image.parentElement.clientWidth"
    )

    write(page, step, MENDED)
    run(page, step)
    run(page, checked)
    expect(checked.locator(".jp-OutputArea-output").last).not_to_contain_text("✗")
    expect(checked).to_contain_text("✓")
    expect(checked.locator("img")).to_have_count(0)

    page.keyboard.press("Control+s")
    saved = released_lab / "lab01_softmax.ipynb"
    assert float(saved_number(page, saved, 'check("softmax")')) > 0, "as nbgrader reads it"


def assert_columns_are_apart(table: Locator) -> None:
    """No cell of the table reaches into the next one."""
    row = table.locator("tr").filter(has_text="not written").first
    expect(row).to_be_visible()
    assert row.locator("td").count() == 4
    assert row.evaluate("row => [...row.cells].every(cell => cell.scrollWidth <= cell.clientWidth)")


def width(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["width"]


def saved_number(page: Page, notebook: Path, source: str) -> str:
    """The plain value of the cell with `source` in the file, once it has been saved."""
    for _ in range(100):
        with suppress(ValueError):  # half of the file may be written
            cells = json.loads(notebook.read_text("utf-8"))["cells"]
            for output in next(c["outputs"] for c in cells if "".join(c["source"]) == source):
                return "".join(output["data"]["text/plain"])
        page.wait_for_timeout(100)
    raise AssertionError(f"{notebook} was not saved")
