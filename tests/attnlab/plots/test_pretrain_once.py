"""The first figure of lab 10 shows every step that builds a part of the way."""

from __future__ import annotations

import re

import pytest

from attnlab.plots.pretrain_once import pretrain_once
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")


def test_each_step_has_its_box_and_says_what_it_is_for() -> None:
    drawn = pretrain_once()
    assert_fits_a_page(drawn)
    figure = drawn.axes[0].figure
    steps = sorted({int(step) for step in re.findall(r"10\.(\d+)", figure.alt)})
    assert steps == list(range(1, 9))
    assert len(figure.tips) == 8
    assert all(len(text.split()) >= 4 for text in figure.tips.values())
