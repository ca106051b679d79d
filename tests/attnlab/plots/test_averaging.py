"""The loss of a mean of checkpoints is drawn beside that of each checkpoint."""

from __future__ import annotations

import pytest

from attnlab.checkpoints import average_checkpoints
from attnlab.plots import averaging
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def test_the_mean_has_a_lower_loss_after_some_updates() -> None:
    drawn = averaging.loss_of_the_mean(average_checkpoints, steps=150)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    single, mean = drawn.data.values()
    assert single[0] == mean[0]
    assert single[1] < mean[1]
    assert mean[-1] < single[-1]
    missing = averaging.loss_of_the_mean(unwritten, steps=0).missing
    assert missing == "No picture yet: `unwritten` is not written."
