"""The figures about optimisers draw what the student's functions return."""

from __future__ import annotations

import pytest

from attnlab.optimizers import noam
from attnlab.plots import optimizers
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_each_warm_up_curve_has_its_own_peak() -> None:
    drawn = optimizers.warm_up_curves(noam)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    base, slow, narrow = (rates.max().item() for rates in drawn.data.values())
    assert base == pytest.approx(6.988e-4, rel=1e-2)
    assert base / slow == pytest.approx(2**0.5, rel=1e-2)
    assert narrow / base == pytest.approx(2**0.5, rel=1e-2)
    missing = optimizers.warm_up_curves(unwritten).missing
    assert missing == "No picture yet: `unwritten` is not written."
