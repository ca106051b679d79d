"""The first figure of lab 8 shows every step that builds a part of the Trainer."""

from __future__ import annotations

import re

import pytest

from attnlab.plots.one_update import one_update
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")


def test_each_step_has_its_box_and_says_what_it_is_for() -> None:
    drawn = one_update()
    assert_fits_a_page(drawn)
    figure = drawn.axes[0].figure
    steps = sorted(int(step) for step in re.findall(r"8\.(\d+)", figure.alt))
    assert steps == [*range(1, 10), 11]
    assert len(figure.tips) == len(steps)
    assert all(len(text.split()) >= 4 for text in figure.tips.values())
