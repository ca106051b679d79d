"""Lab 8's trainings with the functions of a file, and what their models write."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attnlab.models import number_words
from attnlab.training_runs import PLAIN

SMALL = ("steps=2", "log_every=1", "examples=30", "validation=500", "batch_tokens=2048")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    path = tmp_path / "my_parts.py"
    path.write_text("from attnlab.optimizers import Adam\n", "utf-8")
    return path


def test_a_training_and_its_translations(parts, monkeypatch, capsys) -> None:
    monkeypatch.setattr(number_words, "ways", lambda device: [PLAIN])
    monkeypatch.setattr(number_words, "missing_compiler", lambda device: "a C++ compiler")
    (one,) = number_words.train_all(parts, settings=SMALL)
    assert len(one.hypotheses) == len(one.references) == 500
    assert {"mille", "-"} <= {word for (row,) in one.references for word in row}
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "a C++ compiler is not on this machine: nothing is compiled."
    assert said[1].startswith("fp32: ")


def test_a_part_that_is_not_written_is_named(parts, monkeypatch, capsys) -> None:
    monkeypatch.setattr(number_words, "ways", lambda device: [PLAIN])
    parts.write_text("def update(*arguments):\n    raise NotImplementedError\n", "utf-8")
    assert number_words.train_all(parts, settings=SMALL) is None
    assert "the training 'fp32' has failed: `update` is not written yet" in capsys.readouterr().out


def test_nothing_is_trained_without_parts_while_grading_or_without_the_gpu(
    parts, monkeypatch, capsys
) -> None:
    assert number_words.train_all(None) is None
    if not torch.cuda.is_available():
        assert number_words.train_all(parts, torch.device("cuda")) is None
        assert "torch can use no NVIDIA GPU on this machine" in capsys.readouterr().out
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert number_words.train_all(parts) is None
