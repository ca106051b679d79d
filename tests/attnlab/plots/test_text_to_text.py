"""The first figure of lab 9 shows every step that builds a part of the way."""

from __future__ import annotations

import re

import pytest

from attnlab.plots.text_to_text import text_to_text
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")


def test_each_step_has_its_box_and_says_what_it_is_for() -> None:
    drawn = text_to_text()
    assert_fits_a_page(drawn)
    figure = drawn.axes[0].figure
    steps = sorted({int(step) for step in re.findall(r"9\.(\d+)", figure.alt)})
    assert steps == [1, 2, 4, 5, 6, 7, 8]
    assert len(figure.tips) == 8
    assert all(len(text.split()) >= 4 for text in figure.tips.values())
