"""The page: in one file, without names unless asked for, every word escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import ReportError
from gradekit.export.scores import ScoreState
from gradekit.report.excerpts import Excerpt
from gradekit.report.page import MOST_CARDS, render, write_report
from gradekit.report.report import Report
from gradekit.report.summary import STATES
from tests.helpers.pages import active

EVIL = "<script>PWN()</script>"


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render(report)


def test_each_misconception_is_there_with_its_count(page: str) -> None:
    heads = re.findall(r'<h3 class="mistake">(.*?)</h3><span class="got">(\d+) students', page)
    assert heads == [
        ("double softmax", "63"), ("no max subtraction", "41"), ("always first axis", "17"),
        ("sum for mean or mean of means", "9"), ("forward again", "8"), ("no sum", "8"),
    ]  # fmt: skip
    assert "What does <code>log_softmax</code> expect" in page
    assert "41 students wrote this:" in page


def test_steps_are_in_order_of_difficulty(page: str) -> None:
    found = re.findall(r"<h3>(\d\.\d+) .*?</h3><span class=\"got\">(\d+) %", page)
    assert found[:4] == [("1.3", "75"), ("1.1", "87"), ("1.5", "90"), ("1.4", "97")]


def test_each_state_is_said_in_words(page: str) -> None:
    states = dict(re.findall(r'<th scope="row">([a-z ,-]+)\s*</th><td>(\d+)</td>', page))
    assert states == {"no hand-in": "2", "needs manual grading": "298"}
    assert set(STATES) == set(ScoreState)


def test_no_student_is_named_unless_asked_for(report: Report, page: str) -> None:
    assert not re.search(r"s\d{3}\b|Given", page)
    named = render(report, with_names=True)
    assert "Givens000 Familys000 (s000)" in named
    assert "with names: for staff only" in named
    assert "s298" in named, "missing"


def test_it_needs_no_network_and_no_script(page: str) -> None:
    assert not re.search(r"<script|https?://|src=|@import|url\(", page)
    assert "default-src 'none'" in page


def test_every_word_from_outside_is_escaped(report: Report) -> None:
    first = report.misconceptions[0]
    evil = replace(first, advice=f"{EVIL} `{EVIL}`", title=EVIL, mistakes=(EVIL,), students=(EVIL,))
    steps = tuple(
        replace(s, title=EVIL, checks=tuple(replace(c, title=EVIL) for c in s.checks))
        for s in report.steps
    )
    bad = replace(
        report, course=EVIL, title=EVIL, misconceptions=(evil,), steps=steps,
        excerpts={evil: (Excerpt(f"{EVIL}\n</pre>\x1b[2J", 2),)},
        names={**report.names, EVIL: EVIL},
        sections=tuple(replace(group, name=EVIL) for group in report.sections),
        questions=tuple(replace(question, title=EVIL) for question in report.questions),
    )  # fmt: skip
    for with_names in (False, True):
        html = render(bad, with_names)
        assert active(html) == []
        assert html.count("PWN") >= 10
        assert "\x1b" not in html


def test_rare_misconceptions_follow_in_a_list(report: Report) -> None:
    first = report.misconceptions[0]
    many = tuple(replace(first, mistakes=(f"slip_{n}",)) for n in range(MOST_CARDS + 3))
    html = render(replace(report, misconceptions=many, excerpts=dict.fromkeys(many, ())))
    assert html.count('class="mistake"') == MOST_CARDS
    assert all(f"slip {n}" in html for n in range(MOST_CARDS + 3))


def test_a_class_without_results_has_a_page(report: Report) -> None:
    nothing = replace(
        report, steps=(), misconceptions=(), excerpts={}, questions=(), sections=(), bins=(0,) * 10,
        score_states={}, by_state={}, whole=replace(report.whole, mean=None, median=None),
    )  # fmt: skip
    assert "No known mistake was recognised." in render(nothing)


def test_the_page_with_names_has_another_name(small_class: Course, report: Report) -> None:
    plain, named = (write_report(small_class, report, with_names) for with_names in (False, True))
    assert plain == small_class.root / "reports" / "lab01.html"
    assert named == small_class.root / "reports" / "lab01-names.html"


def test_a_folder_that_cannot_be_written_is_one_sentence(
    small_class: Course, report: Report, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match=r"cannot be written to .*--out"):
        write_report(small_class, report, False, tmp_path / "file" / "report.html")
