"""The penalty of certainty is drawn from the student's loss."""

from __future__ import annotations

import math

import pytest

from attnlab.losses import label_smoothing_loss
from attnlab.plots import smoothing
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_smoothed_losses_have_a_lowest_point() -> None:
    drawn = smoothing.penalty(label_smoothing_loss)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    floors = {name: losses.min().item() for name, losses in drawn.data.items()}
    assert floors["ε = 0"] == pytest.approx(math.log1p(4 * math.exp(-9)), abs=1e-6)
    for name, floor in (("ε = 0.1", 0.46371), ('"torch"', 0.38967), ('"pad"', 0.43494)):
        assert floors[name] == pytest.approx(floor, abs=1e-3)
    missing = smoothing.penalty(unwritten).missing
    assert missing == "No picture yet: `unwritten` is not written."
