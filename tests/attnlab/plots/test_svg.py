"""A figure in a page: no background, the page's own text colour, tips for its parts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from matplotlib.patches import Rectangle

from attnlab.plots.canvas import GRID, INK, PAPER, Described, panels, tip

pytestmark = pytest.mark.usefixtures("no_windows")


def figure(title: str = "a title", text: str = "half of it") -> Described:
    with panels(1, 3, 2, "A description with a < in it.") as (axes,):
        axes.plot([0, 1], [0, 1])
        axes.set_title(title, bbox={"facecolor": PAPER})
        part = Rectangle((0, 0), 1, 1, facecolor="none")
        axes.add_patch(part)
        tip(part, text)
    found = axes.figure
    assert isinstance(found, Described)
    return found


def html(of: Described) -> str:
    return of._repr_mimebundle_()["text/html"]


def drawn(of: Described) -> ElementTree.Element:
    found = ElementTree.fromstring(html(of)).find(".//svg")
    assert found is not None
    return found


def test_text_has_the_colour_of_the_page_and_nothing_covers_its_background() -> None:
    text = html(figure())
    assert "currentColor" in text
    for colour in (INK, PAPER, GRID):
        assert colour.lower() not in re.sub(r"<style>.*?</style>", "", text).lower()
    assert "var(--jp-layout-color0" in text
    assert "@media print" in text
    assert "fill: #ffffff" not in text


def test_the_figure_is_described_and_has_no_script() -> None:
    svg = drawn(figure())
    assert (svg.tag, svg.get("role")) == ("svg", "img")
    assert svg.get("aria-label") == "A description with a < in it."
    assert "script" not in {part.tag for part in svg.iter()}
    assert int(svg.get("width", "0")) == pytest.approx(300, abs=60)


def test_without_its_style_the_page_has_the_description_and_no_scattered_labels() -> None:
    page = ElementTree.fromstring(html(figure()))
    style, instead, whole = list(page)
    assert (instead.text or "").startswith("A description with a < in it. (This notebook is not")
    assert whole.get("hidden") is not None
    assert whole.find("svg") is not None
    assert f".{instead.get('class')}{{display:none}}" in (style.text or "")
    assert f".{whole.get('class')}{{display:block!important}}" in (style.text or "")


def test_a_part_says_its_tip_which_cannot_be_markup() -> None:
    svg = drawn(figure(text="0 <b> 1"))
    (title,) = svg.iter("title")
    assert title.text == "0 <b> 1"
    (group,) = (part for part in svg.iter("g") if title in list(part))
    assert group.get("class") == "tip"
    assert len(list(group)) == 2, "the title and what it is about"


def test_two_figures_of_a_page_share_no_names() -> None:
    one, other = html(figure("one")), html(figure("other"))
    names = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (one, other)]
    assert names[0]
    assert not names[0] & names[1]
    for text, own in zip((one, other), names, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text)) <= own


def test_the_same_figure_is_the_same_text() -> None:
    assert html(figure()) == html(figure())
