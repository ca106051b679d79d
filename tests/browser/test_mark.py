"""A TA marks a class with the keyboard alone, on the page of ``lab mark`` in a real browser."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="no playwright: install the extra `dev`")
pytest.importorskip("axe_playwright_python", reason="no axe: install the extra `dev`")

from playwright.sync_api import Page, expect

from gradekit.course import Course
from gradekit.feedback.page import pages
from tests.helpers.accessible import assert_accessible
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.marked_class import SCHEME, grade, write_course
from tests.helpers.servers import marking
from tests.helpers.submissions import LAB

pytestmark = pytest.mark.browser
EVIL = "</p><img src=x onerror=\"document.title='PWN'\"><script>document.title='PWN'</script>"
TEXTS = {
    "ada": "It keeps the exponentials finite.",
    "bob": "Nobody knows.",
    "cyd": f"It is safe. {EVIL}",
    "dan": "Because of overflow, and on paper nothing changes.",
}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = write_course(tmp_path / "course", SCHEME)
    grade(made, TEXTS)
    return made


@contextmanager
def served(course: Course) -> Iterator[str]:
    """The address of the page of ``lab mark lab01``, whose server is in this process."""
    with marking(course, LAB) as server:
        yield server.address


@contextmanager
def served_by_the_command(course: Course, marker: str) -> Iterator[str]:
    """The address that ``lab mark lab01`` prints; the command ends with the block."""
    command = [sys.executable, "-m", "gradekit.cli", "mark", LAB, "--as", marker]
    with subprocess.Popen(command, cwd=course.root, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def given(course: Course) -> dict[str, tuple[float | None, str]]:
    """What the feedback pages say of the answers."""
    return {
        page.student: (page.answers[0].earned, page.answers[0].comment)
        for page in pages(course, LAB)
    }


def whose(page: Page) -> str:
    """The student whose answer is shown, as the test knows it."""
    text = page.locator("#answer").inner_text()
    return next(student for student, own in TEXTS.items() if own == text)


def test_a_class_is_marked_with_the_keyboard(page: Page, course: Course) -> None:
    with served_by_the_command(course, "Kim") as address:
        page.goto(address)
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        expected = {}
        for number in range(4):
            student = whose(page)
            keys, points = [("1", 3), ("2", 1), ("0", 0), ("12", 4)][number]
            for key in keys:
                page.keyboard.press(key)
            comment = ""
            if number == 1:
                comment = "Say u, p and 2."
                page.keyboard.press("c")
                page.keyboard.type(comment)
                page.keyboard.press("Escape")
            expected[student] = (points, comment)
            expect(page.locator("#count")).to_have_text(f"{number + 1} of 4 marked")
            page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text(re.compile("Saved|has a mark"))
        page.keyboard.press("u")
        expect(page.locator("#points")).to_have_value("3")  # the second item of the last one
        page.keyboard.press("2")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#which")).to_have_text("Answer 3 of 4")
        page.keyboard.press("p")
        page.keyboard.type("2.5")
        page.keyboard.press("Enter")
        expected[whose(page)] = (2.5, "")
        expect(page.locator("#status")).to_have_text("Saved")
        page.reload()
        expect(page.locator("#count")).to_have_text("4 of 4 marked")
        page.locator("#bank button").first.click()
        expected[whose(page)] = (expected[whose(page)][0], "Say u, p and 2.")
        expect(page.locator("#bank .times")).to_have_text("× 2")
    assert given(course) == expected


def test_hostile_text_is_shown_as_text(page: Page, course: Course) -> None:
    with served(course) as address:
        page.goto(address)
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        for _ in range(4):
            if whose(page) == "cyd":
                break
            page.keyboard.press("ArrowRight")
        expect(page.locator("#answer")).to_have_text(TEXTS["cyd"])
        assert page.locator("#answer *").count() == 0
        page.locator("#comment").fill(EVIL)
        page.locator("#comment").blur()
        expect(page.locator("#status")).to_have_text("Saved")
        expect(page.locator("#bank button")).to_have_count(1)
        assert page.title() == "Marking lab01"
    assert given(course)["cyd"] == (None, EVIL)


def test_a_refused_mark_is_told_and_the_other_one_is_shown(page: Page, course: Course) -> None:
    from gradekit.gradebook.address import address_of

    with served(course) as address:
        page.goto(address)
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        student = whose(page)
        give_manual_mark(address_of(course), student, "explain", 2)
        page.keyboard.press("1")
        expect(page.get_by_role("alert")).to_contain_text("another TA has marked", ignore_case=True)
        expect(page.locator("#points")).to_have_value("2")
        expect(page.locator("#comment")).to_have_value("Well put.")
        page.keyboard.press("ArrowRight")
        other = whose(page)
        grade(course, TEXTS | {other: "Another text."})
        page.keyboard.press("1")
        expect(page.get_by_role("alert")).to_contain_text("has changed since the page was opened")
        expect(page.locator("#points")).to_have_value("")
    page.keyboard.press("2")
    expect(page.get_by_role("alert")).to_contain_text("was not saved")
    expect(page.locator("#points")).to_have_value("")
    marks = given(course)
    assert (marks[student][0], marks[other][0]) == (2, None)


def test_a_changed_text_waits_until_its_points_are_kept(page: Page, course: Course) -> None:
    with served(course) as address:
        page.goto(address)
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        page.keyboard.press("1")
        expect(page.locator("#status")).to_have_text("Saved")
        student = whose(page)
        grade(course, TEXTS | {student: "Another text."})
        page.reload()
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        for _ in range(4):
            if page.locator("#answer").inner_text() == "Another text.":
                break
            page.keyboard.press("ArrowRight")
        expect(page.locator("#flag")).to_have_text("The text has changed since it was marked")
        page.locator("#comment").fill("Better.")
        page.locator("#comment").blur()
        expect(page.locator("#status")).to_have_text("Saved")
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        page.keyboard.press("k")
        expect(page.locator("#count")).to_have_text("1 of 4 marked")
        expect(page.locator("#status")).to_have_text("Saved")
    assert given(course)[student] == (3, "Better.")


def test_axe_finds_nothing_and_nothing_is_cut_off(page: Page, course: Course) -> None:
    with served(course) as address:
        page.goto(address)
        expect(page.locator("#count")).to_have_text("0 of 4 marked")
        page.keyboard.press("1")
        expect(page.locator("#status")).to_have_text("Saved")
        assert_accessible(page, widths=(400, 800, 1280))
