"""Functions of a file take the place of the Trainer's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from attnlab import optimizers, train, train_step, training
from attnlab.own_parts import parts_of
from attnlab.settings import SettingError

TINY = (
    "examples=40", "validation=10", "d_model=8", "num_heads=2", "d_ff=16", "batch_tokens=80",
    "steps=2", "log_every=1",
)  # fmt: skip


def written(folder: Path, text: str) -> Path:
    path = folder / "my_parts.py"
    path.write_text(text, "utf-8")
    return path


def test_what_a_file_defines_is_taken_and_the_rest_stays(tmp_path: Path) -> None:
    parts = parts_of(
        written(
            tmp_path,
            "from attnlab.optimizers import Adam\ndef move(batch, device):\n    return 'moved'\n",
        )
    )
    assert parts.move(None, torch.device("cpu")) == "moved"
    assert parts.update is train_step.update
    assert parts.bucket is training.Parts().bucket
    made = parts.optimizer(nn.Linear(3, 2), 0.1, 0.5)
    assert isinstance(made, optimizers.Adam)
    assert [group["weight_decay"] for group in made.param_groups] == [0.5, 0.0]
    assert made.defaults["decoupled_weight_decay"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "defines none of Adam, pick_device"),
        ("import nothing_like_this\n", "fails with ModuleNotFoundError"),
        ("def move(:\n", "fails with SyntaxError"),
        (None, "is not a file of Python"),
    ],
)
def test_a_file_without_parts_is_one_sentence(tmp_path: Path, text, words) -> None:
    path = tmp_path / "missing.py" if text is None else written(tmp_path, text)
    with pytest.raises(SettingError, match=words):
        parts_of(path)


def test_the_command_trains_with_them(tmp_path: Path, capsys) -> None:
    path = written(
        tmp_path,
        "import torch\nfrom attnlab import train_step\n"
        "def update(optimizer, scaler, parameters, max_norm=None):\n"
        "    print('mine')\n"
        "    return train_step.update(optimizer, scaler, parameters, max_norm)\n",
    )
    settings = [word for setting in TINY for word in ("--set", setting)]
    command = ["copy", "--out", str(tmp_path / "run"), "--parts", str(path), *settings]
    assert train.main(command) == 0
    assert capsys.readouterr().out.count("mine") == 2


def test_a_part_that_is_not_written_is_one_sentence(tmp_path: Path, capsys) -> None:
    path = written(tmp_path, "def move(batch, device):\n    raise NotImplementedError\n")
    settings = [word for setting in TINY for word in ("--set", setting)]
    assert train.main(["copy", "--out", str(tmp_path), "--parts", str(path), *settings]) == 1
    assert capsys.readouterr().err.strip() == "`move` is not written yet"
