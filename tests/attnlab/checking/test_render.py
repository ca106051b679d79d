"""A report is well-formed HTML and plain text, and all text of the student's code is escaped."""

import dataclasses
import re
import xml.dom.minidom

import pytest
import torch

from attnlab.checking.judges import AtLeast, Close
from attnlab.checking.observation import Raised
from attnlab.checking.render import Report, notice
from attnlab.checking.verdict import KnownMistake, PreparedCheck, judge_exercise
from attnlab.checking.visible import VisibleCheck, VisibleExercise


def report(expected, seen, judge=None, mistakes=None, title="A title."):
    prepared = PreparedCheck("probe", title, 2, False, judge or Close(), expected, mistakes or {})
    known = tuple(KnownMistake(name, "Look <here> & `there`.") for name in mistakes or {})
    source = "import math\n\n\ndef probe(lab, draw):\n    return 1 < 2\n"
    checks = (VisibleCheck(prepared, source, 5),)
    exercise = VisibleExercise("e", "e: an exercise", 3, 1, checks, known)
    return Report(exercise, judge_exercise([prepared], {"probe": seen}, known))


@pytest.mark.parametrize(
    "made",
    [
        report(torch.zeros(2, 3), torch.zeros(2, 3)),
        report(torch.zeros(2, 3), torch.ones(2, 3), mistakes={"m": torch.ones(2, 3)}),
        report(1.0, Raised("<b>", "</div><script>", "`<i>`")),
        report("a", "</pre><script>alert(1)</script>"),
        report({"a": 1}, {"<script>": 1}),
        report(1.0, 0.5, AtLeast(0.9)),
        report(1.0, 2.0, title="Title with <b> & `code`."),
        notice('There is no "<script>".'),
    ],
)
def test_the_html_is_well_formed_and_contains_no_script_or_foreign_markup(made):
    html = made.html()
    closed = re.sub(r"(<img [^>]*)>", r"\1/>", html)
    xml.dom.minidom.parseString(closed)
    assert "<script" not in html
    assert "<b>" not in html
    assert "class=" not in html


def test_a_failed_check_shows_its_probe_in_a_fold():
    html = report(1, 2).html()
    assert "<summary" in html
    assert "def probe(lab, draw):\n    return 1 &lt; 2</pre>" in html
    assert "import math" not in html
    assert "draw = Draw(5)" in html
    assert "<summary" not in report(1, 1).html()


def test_what_is_shown_is_what_the_advice_quotes():
    right = torch.rand(3, dtype=torch.float64)
    values = PreparedCheck("values", "Is right.", 1, False, Close(), right, {})
    kind = PreparedCheck("kind", "Keeps the dtype.", 1, False, Close(), "float64", {})
    sources = {
        "values": "def values(lab, draw):\n    first",
        "kind": "def kind(lab, draw):\n    two",
    }
    checks = [VisibleCheck(one, sources[one.name], 5) for one in (values, kind)]
    exercise = VisibleExercise("e", "e: an exercise", 3, 1, tuple(checks), ())
    seen = {"values": right.float().double(), "kind": "float32"}
    html = Report(exercise, judge_exercise([values, kind], seen, ())).html()
    assert "“Keeps the dtype”" in html
    assert sources["kind"] in html
    assert sources["values"] not in html
    assert "<img" not in html


def test_two_numbers_are_shown_but_the_answer_to_a_prediction_is_not():
    number = torch.tensor(1.0986122887, dtype=torch.float64)
    told = report(number, torch.tensor(2.5)).html()
    assert "1.099" in told
    assert "2.5" in told
    assert "1.099" not in report(float(number), 2.5).html()
    assert "blue" not in report("blue", "red").html()


def test_a_right_number_is_no_rounding_error_beside_infinity():
    right = torch.tensor(4578.2, dtype=torch.float64)
    told = report(right, torch.tensor(torch.inf, dtype=torch.float64)).html()
    assert "4578" in told
    assert "expected <code>0<" not in told


def test_points_of_hidden_checks():
    assert "1 more point is decided after you hand in, by hidden checks." in report(1, 1).text()


def test_colours_in_a_terminal():
    assert "\x1b[31m✗\x1b[0m" in report(1, 2).text(coloured=True)
    assert "\x1b[32m✓\x1b[0m" in report(1, 1).text(coloured=True)


def test_a_blank_dictionary_is_not_listed_entry_by_entry():
    full = report({"P1": 1.0}, {})
    assert "P1" in full.text()
    blank = dataclasses.replace(full, blank=True)
    assert "Nothing is written here yet. The line with TODO says what belongs here." in blank.text()
    assert "P1" not in blank.text()
    assert "What this check does" not in blank.html()
