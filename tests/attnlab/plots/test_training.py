"""The figure of trainings shows what their logs hold."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attnlab.metrics import corpus_bleu
from attnlab.models.number_words import Trained
from attnlab.plots import training
from attnlab.training_log import Record, TrainingLog
from attnlab.training_runs import Run
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def record(step: int, validation: float | None) -> Record:
    return Record(step, 0, 4.0 / step, validation, 0.1 * step, 1.0, 0, 100.0, None, 0, 1.0)


def test_losses_and_rates_of_two_trainings(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("fp32", "bf16")}
    for folder in folders.values():
        log = TrainingLog(folder)
        for made in (record(1, None), record(2, 1.5)):
            log.write(made)
    drawn = training.logs(folders)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    assert drawn.data["step, bf16"].tolist() == [1, 2]
    assert drawn.data["loss, fp32"].tolist() == [4, 2]
    validated = drawn.data["validation_loss, fp32"]
    assert validated.isnan().tolist() == [True, False]
    assert validated[1] == 1.5
    line, dots = drawn.axes[0].get_lines()[:2]
    assert (line.get_ydata().tolist(), dots.get_marker()) == ([4, 2], "o")
    torch.testing.assert_close(drawn.data["lr, bf16"], torch.tensor([0.1, 0.2]).double())


def test_the_same_training_in_several_ways() -> None:
    right = ["mille", "deux", "cent", "trois"]
    runs = [Run(name, 900.0, 2**28, 0.5, 0.25, 9.0, Path()) for name in ("fp32", "two processes")]
    found = [Trained(run, [right], [[right]]) for run in runs]
    drawn = training.ways(found, corpus_bleu)
    assert_named(drawn)
    assert_fits_a_page(drawn)
    expected = {"tokens/s": 900, "memory": 256, "loss": 0.5, "exact match": 25, "BLEU": 100}
    assert {title: values.tolist() for title, values in drawn.data.items()} == {
        title: pytest.approx([value, value]) for title, value in expected.items()
    }
    assert training.ways(None, corpus_bleu).missing
    assert training.ways(found, unwritten).missing == "No picture yet: `unwritten` is not written."
