import io
import re
import xml.dom.minidom

import matplotlib as mpl
import pytest
import torch
from PIL import Image

from attnlab.checking.judges import AtLeast, Close
from attnlab.checking.observation import Raised
from attnlab.checking.picture import picture
from attnlab.checking.render import Report, notice
from attnlab.checking.verdict import KnownMistake, Question, judge_exercise
from attnlab.checking.visible import VisibleCheck, VisibleExercise


def drawn(expected, seen):
    return picture(Close().compare(expected, seen))


def report(expected, seen, judge=None, mistakes=None, title="A title."):
    question = Question("probe", title, 2, False, judge or Close(), expected, mistakes or {})
    known = tuple(KnownMistake(name, "Look <here> & `there`.") for name in mistakes or {})
    source = "import math\n\n\ndef probe(lab, draw):\n    return 1 < 2\n"
    checks = (VisibleCheck(question, source, 5),)
    exercise = VisibleExercise("e", "e: an exercise", 3, 1, checks, known)
    return Report(exercise, judge_exercise([question], {"probe": seen}, known))


def test_the_pictures_words():
    seen = torch.zeros(3, 5, 7)
    seen[1, 2, 3] = 0.25
    words = drawn(torch.zeros(3, 5, 7), seen)
    assert words.caption == "slice [1] of a tensor of shape (3, 5, 7)"
    assert words.alt == (
        "Heat maps of the expected tensor, yours and their difference "
        "(slice [1] of a tensor of shape (3, 5, 7)): here 1 of 35 entries differ, by up to 0.25."
    )


@pytest.mark.parametrize(
    "shape", [(2,), (11,), (3, 5), (2, 3, 4), (2, 2, 3, 4), (100, 200), (1, 500)]
)
@pytest.mark.parametrize("fill", [0.5, float("nan"), float("inf")])
def test_any_shape_is_a_small_picture(shape, fill):
    seen = torch.zeros(shape)
    seen[-1] = fill
    words = drawn(torch.zeros(shape), seen)
    with Image.open(io.BytesIO(words.png)) as image:
        assert image.width == pytest.approx(2 * words.width, abs=1), "sharp on any screen"
        assert words.width <= 800, "numbers are not scaled down by the page"
        assert image.height <= 2 * 420
    assert len(words.png) < 80_000


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.bfloat16])
def test_any_dtype(dtype):
    assert drawn(torch.tensor([0, 1, 1]).to(dtype), torch.tensor([0, 1, 0]).to(dtype)) is not None


def test_all_values_strange():
    nan = float("nan")
    assert drawn(torch.tensor([1.0, 2.0]), torch.tensor([nan, nan])) is not None
    assert drawn(torch.tensor([nan, nan]), torch.tensor([nan, 0.0])) is not None


def test_two_shapes_are_drawn_side_by_side():
    words = drawn(torch.zeros(3, 5), torch.zeros(5))
    assert "expected shape (3, 5), yours (5,)" in words.alt


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        (1.0, 2.0),
        (torch.tensor(1.0), torch.tensor(2.0)),
        (torch.zeros(2), Raised("KeyError")),
        (torch.zeros(2), None),
        (torch.zeros(2, 3), torch.zeros(0, 3)),
        (torch.zeros(2), torch.tensor(0.0)),
    ],
)
def test_nothing_to_draw(expected, seen):
    assert drawn(expected, seen) is None


def test_equal_pictures_are_equal_bytes_and_pyplot_is_left_alone():
    import matplotlib.pyplot as plt

    before = plt.get_fignums(), mpl.get_backend()
    assert drawn(torch.zeros(3), torch.ones(3)) == drawn(torch.zeros(3), torch.ones(3))
    assert (plt.get_fignums(), mpl.get_backend()) == before


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
def test_the_html_is_well_formed_and_holds_no_script_or_markup_of_others(made):
    html = made.html()
    closed = re.sub(r"(<img [^>]*)>", r"\1/>", html)
    xml.dom.minidom.parseString(closed)
    assert "<script" not in html
    assert "<b>" not in html
    assert "class=" not in html


def test_the_probe_is_shown_folded_away_with_its_inputs():
    html = report(1, 2).html()
    assert "<summary" in html
    assert "def probe(lab, draw):\n    return 1 &lt; 2</pre>" in html
    assert "import math" not in html
    assert "draw = Draw(5)" in html
    assert "<summary" not in report(1, 1).html()


def test_two_numbers_are_told_but_a_prediction_is_not():
    number = torch.tensor(1.0986122887, dtype=torch.float64)
    told = report(number, torch.tensor(2.5)).html()
    assert "1.099" in told
    assert "2.5" in told
    assert "1.099" not in report(float(number), 2.5).html()
    assert "blue" not in report("blue", "red").html()


def test_points_of_hidden_checks():
    assert "1 more point is decided by hidden checks" in report(1, 1).text()


def test_colours_in_a_terminal():
    assert "\x1b[31m✗\x1b[0m" in report(1, 2).text(coloured=True)
    assert "\x1b[32m✓\x1b[0m" in report(1, 1).text(coloured=True)
