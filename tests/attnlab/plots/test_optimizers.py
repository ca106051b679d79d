"""The figures about optimisers draw what the student's functions return."""

from __future__ import annotations

import pytest

from attnlab.optimizers import Adam, noam
from attnlab.plots import optimizers
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_adam_moves_weights_alike_whatever_the_size_of_their_gradients() -> None:
    drawn = optimizers.first_steps(Adam)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    large, one, small, undecided = (drawn.data[n][-1] for n in list(drawn.data)[2:])
    assert large.item() == pytest.approx(1.0, abs=1e-3)
    assert (large - one).abs() < 1e-3
    assert (large - small).abs() < 1e-3
    assert undecided < 0.2
    assert optimizers.first_steps(unwritten).missing


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
