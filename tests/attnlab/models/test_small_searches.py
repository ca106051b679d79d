"""The small models of lab 2's predictions give the answers that the lab counts as right."""

from __future__ import annotations

import math

import pytest

from attnlab.decoding import beam_search
from attnlab.models import small_searches


def test_the_answers_of_the_predictions() -> None:
    chance = small_searches.chance_of_a_date(beam_search, 0.02)
    assert chance == pytest.approx(math.exp(-0.22), abs=1e-5)
    assert small_searches.candidates_of_a_step(beam_search) == 2 * 14 + 1
    assert small_searches.winner_of_two(beam_search) == pytest.approx(-0.3)
