"""The page: the two answers side by side, every word escaped, and nobody accused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import ReportError
from gradekit.similarity.compare import Similarity, compare
from gradekit.similarity.hand_ins import read_class
from gradekit.similarity.page import MOST_TEXT, pair_view, render, write_page
from gradekit.similarity.words import NOT_A_PROOF, by_chance
from tests.helpers.pages import active
from tests.helpers.submissions import LAB

ACCUSING = re.compile(r"cheat|plagiar|guilt|copied|copies|copying|suspect|suspicious|fraud|caught")


@pytest.fixture
def found(course: Course) -> Similarity:
    return compare(read_class(course, LAB))


def test_the_pair_is_shown_with_what_it_shares_marked(course: Course, found: Similarity) -> None:
    (pair,) = found.pairs
    assert (pair.first.label, pair.second.label) == ("s04", "zoe")
    step = next(s for s in pair_view(found, pair).steps if s.agreement.step == "softmax")
    assert "".join(piece.text for piece in step.first) == pair.first.text("softmax")
    assert any(piece.shared and "narrow(2, 4, 15)" in piece.text for piece in step.first)
    html = render(course, found)
    assert "<mark>t2 = x.narrow(2, 4, 15) * 6</mark>" in html
    assert "s04 and zoe" in html


def test_hostile_text_is_text(course: Course, found: Similarity) -> None:
    html = render(course, found)
    assert "&lt;script&gt;PWN()" in html
    assert active(html) == []
    for word in ("<script", "http://", "https://", "src=", "url("):
        assert word not in html


def test_nobody_is_accused(course: Course, found: Similarity) -> None:
    words = re.sub(r"<style>.*?</style>|<pre>.*?</pre>", "", render(course, found), flags=re.DOTALL)
    assert ACCUSING.findall(f"{words} {NOT_A_PROOF}".lower()) == []


def test_a_long_answer_is_cut_on_the_page(found: Similarity) -> None:
    (pair,) = found.pairs
    long = {"softmax": pair.first.text("softmax") + "\n#" + "x" * MOST_TEXT}
    object.__setattr__(pair.first, "code", long)
    step = next(s for s in pair_view(found, pair).steps if s.agreement.step == "softmax")
    assert step.first[-1].text.endswith("more characters are not shown]")


def test_a_page_that_cannot_be_written_is_an_error(course: Course, found: Similarity) -> None:
    (course.root / "file").write_text("")
    with pytest.raises(ReportError, match="name another file with --out"):
        write_page(course, found, course.root / "file" / "page.html")
    assert write_page(course, found) == Path(course.root / "reports" / "lab01-similar.html")


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (1e-12, "once in over a million classes"),
        (0.00123, "once in about 810 classes"),
        (0.000001234, "once in about 810,000 classes"),
        (3.4, "about 3 such in a class like this"),
    ],
)
def test_chance_in_words(expected: float, words: str) -> None:
    assert by_chance(expected) == words
