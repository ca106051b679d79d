"""The figure of skipped updates draws what the student's functions do."""

from __future__ import annotations

import pytest

from attnlab.plots import precision
from attnlab.train_step import mixed_step, scaler_for
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_weights_stand_still_the_scale_halves_and_the_rate_waits() -> None:
    drawn = precision.skipped_updates(mixed_step, scaler_for, spoiled=(2, 4), updates=5)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert drawn.data["scale"].tolist() == [65536, 32768, 32768, 16384, 16384]
    still = [moved == 0 for moved in drawn.data["moved"].tolist()]
    assert still == [False, True, False, True, False]
    rate = drawn.data["rate"].tolist()
    assert rate[1] == rate[2]
    assert rate[3] == rate[4]
    assert precision.skipped_updates(mixed_step, unwritten).missing
