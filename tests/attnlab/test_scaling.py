"""Power laws with a floor, and the four sizes of lab 10 that follow one."""

from __future__ import annotations

import json

import pytest
import torch

from attnlab.data.markov import sparse_source
from attnlab.models.scaling_runs import WIDTHS, trained_sizes
from attnlab.scaling import fit_power_law, num_parameters, power_law
from demo.course_folder import REPOSITORY

BANDS = REPOSITORY / "autograder" / "exercises" / "lab10" / "fit_power_law" / "bands.json"
SIZES = torch.tensor([1336, 4208, 14560, 53696])


def test_points_of_a_law_give_it_back() -> None:
    for floor in (0.0, 1.7):
        losses = power_law(SIZES, 40.0, 0.6, floor)
        assert fit_power_law(SIZES, losses, floor) == pytest.approx((40.0, 0.6))


def test_a_loss_at_the_floor_is_refused() -> None:
    with pytest.raises(ValueError, match="above the floor"):
        fit_power_law(SIZES, torch.tensor([3.0, 2.0, 1.5, 1.0]), 1.0)
    with pytest.raises(ValueError, match="two different"):
        fit_power_law(SIZES[[0, 0]], torch.tensor([3.0, 2.0]), 1.0)


def test_ten_measured_seeds_are_in_the_band() -> None:
    measured = json.loads(BANDS.read_text())
    assert measured["n"] == SIZES.tolist()
    assert measured["floor"] == pytest.approx(sparse_source().entropy_rate, abs=1e-5)
    assert len(measured["runs"]) == 10
    for run in measured["runs"]:
        losses = run["losses"]
        assert losses == sorted(losses, reverse=True)
        assert min(losses) > measured["floor"]
        assert 0.4 < run["floor"]["alpha"] < 1.3
        assert run["no_floor"]["at_a_million"] < measured["floor"] < run["floor"]["at_a_million"]


def test_a_run_has_the_sizes_and_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.models.scaling_runs.STEPS", 12)
    monkeypatch.setattr("attnlab.models.scaling_runs.TEST_SEQUENCES", 20)
    models, losses = trained_sizes()
    assert [num_parameters(model) for model in models] == SIZES.tolist()
    assert len(models) == len(WIDTHS)
    assert not any(model.training for model in models)
    assert bool((losses < 3.3).all())
    assert bool((losses > sparse_source().entropy_rate).all())
