"""A lab on a real JupyterHub: two students and a TA, each in a browser of their own.

The TA works in JupyterLab's terminal, the students in nbgrader's list of assignments.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.helpers import hub
from tests.helpers.servers import end, free_port
from tests.helpers.tiny_class import LAB, NAME, WRONG, write_course

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.needs("jupyterhub", "sandbox"),
]

RIGHT = "def softmax(x, dim=-1):\n    return x.softmax(dim)"
STARTS = 180_000  # milliseconds, for a server of a user


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="hub-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def course(place: Path) -> Path:
    """The TA's course, whose lab is due in a hundred years."""
    root = place / "home" / "tessa" / "course"
    root.mkdir(parents=True)
    write_course(root)
    toml = root / "course.toml"
    toml.write_text(toml.read_text().replace("due = 2026", "due = 2126"))
    return root


@pytest.fixture
def address(place: Path, course: Path) -> Iterator[str]:
    """A running hub."""
    port = free_port()
    log = place / "hub.log"
    with log.open("wb") as output:
        line = [sys.executable, hub.__file__, str(place), str(port)]
        process = subprocess.Popen(
            line, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        until = time.monotonic() + 120
        while not answers(f"http://127.0.0.1:{port}/hub/health"):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < until, log.read_text()[-3000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        end(process)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def log_in(browser: Browser, address: str, user: str) -> Page:
    """A user's JupyterLab, in a browser session of its own."""
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.goto(f"{address}/hub/login")
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", hub.PASSWORD)
    page.click("[type=submit]")
    page.wait_for_url(re.compile(rf"/user/{user}/lab"), timeout=STARTS)
    expect(page.locator("#jp-main-dock-panel")).to_be_visible(timeout=STARTS)
    return page


class Terminal:
    """A terminal in a user's JupyterLab. The page draws it as pixels, so it writes files, too."""

    def __init__(self, page: Page, address: str, user: str, home: Path) -> None:
        self._page, self._done, self._out = page, home / "done", home / "out"
        page.goto(f"{address}/user/{user}/terminals/1")
        self._screen = page.locator(".xterm-screen")
        expect(self._screen).to_be_visible(timeout=STARTS)
        page.wait_for_timeout(3000)  # what is typed before the shell reads is lost

    def run(self, line: str) -> str:
        """Type a command, and wait until it has ended well; what it printed."""
        self._done.unlink(missing_ok=True)
        self._screen.click()
        self._page.keyboard.type(f"{line} > >(tee {self._out}) 2>&1; echo $? > {self._done}")
        self._page.keyboard.press("Enter")
        until = time.monotonic() + 240
        while not (self._done.exists() and self._done.read_text()):
            assert time.monotonic() < until, line
            self._page.wait_for_timeout(200)
        printed = self._out.read_text()
        assert self._done.read_text() == "0\n", f"{line}\n{printed}"
        return printed


def assignments(page: Page) -> None:
    """Open nbgrader's list, unless JupyterLab has opened it again by itself."""
    page.wait_for_timeout(3000)
    if page.get_by_text("Released assignments").count() == 0:
        page.get_by_role("menuitem", name="Nbgrader").click()
        page.get_by_role("menuitem", name="Assignment List").click()
    expect(page.get_by_text("Released assignments")).to_be_visible()


def run_cell(page: Page, cell: Locator, source: str | None = None) -> None:
    """Run a cell, with another content if one is given."""
    cell.locator(".cm-content").click()
    if source is not None:
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=STARTS)


def do_the_lab(page: Page, address: str, user: str, answer: str, sign: str) -> None:
    """Fetch, write softmax, check it, save, submit."""
    assignments(page)
    page.get_by_role("button", name="Fetch").click()
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    page.goto(f"{address}/user/{user}/lab/tree/{LAB}/{NAME}.ipynb")
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    step = cells.filter(has_text="def softmax(")
    expect(step).to_be_visible(timeout=STARTS)
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=STARTS)
    run_cell(page, cells.first)
    run_cell(page, step, answer)
    checked = cells.filter(has_text='check("softmax")')
    run_cell(page, checked)
    expect(checked).to_contain_text(sign)
    page.keyboard.press("Control+s")
    expect(page.locator("#jp-main-statusbar")).to_contain_text("Saving completed")
    page.goto(f"{address}/user/{user}/lab")
    assignments(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("button", name="Fetch Feedback")).to_be_visible()


def test_a_lab_from_release_to_feedback(
    browser: Browser, address: str, place: Path, course: Path
) -> None:
    staff = log_in(browser, address, "tessa")
    terminal = Terminal(staff, address, "tessa", course.parent)
    terminal.run("cd course")
    terminal.run(f"export PATH={Path(sys.executable).parent}:$PATH")
    terminal.run(f"lab release {LAB} --exchange")

    students = {"ada": RIGHT, "bob": WRONG}
    pages = {user: log_in(browser, address, user) for user in students}
    do_the_lab(pages["ada"], address, "ada", RIGHT, "✓")
    do_the_lab(pages["bob"], address, "bob", WRONG, "✓")  # his mistake is in a hidden check

    inbound = place / "exchange" / "attention-labs" / "inbound"
    assert "2 collected" in terminal.run(f"lab collect {LAB} {inbound}")
    terminal.run(f"lab grade {LAB}")
    # Nobody has marked the students' texts yet.
    assert "2 pages" in terminal.run(f"lab return {LAB} --as exchange --partial")
    for user, points in (("ada", "5 / 5"), ("bob", "3 / 5")):
        page = pages[user]
        page.reload()
        assignments(page)
        page.get_by_role("button", name="Fetch Feedback").click()
        expect(page.get_by_text("view feedback")).to_be_visible()
        (found,) = (place / "home" / user / LAB / "feedback").rglob("*.html")
        assert points in found.read_text("utf-8")
