"""The command: what it prints and refuses, and that it goes on after signals, kills and crashes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab import checkpoints, settings, train
from attnlab.checkpoints import read_weights
from attnlab.data.manuals import Manuals
from attnlab.gpt_training import LanguageModelConfig
from attnlab.models import small_gpts
from attnlab.tokenizer import as_tiktoken
from attnlab.training_config import TrainerConfig
from attnlab.training_log import Record

ROOT = Path(__file__).resolve().parents[2]
TINY = (
    "examples=60", "validation=20", "d_model=8", "num_heads=2", "d_ff=16", "layers=1",
    "batch_tokens=80", "steps=4", "log_every=2", "save_every=4",
)  # fmt: skip
TINY_GPT = (
    "context=16", "d_model=8", "num_heads=2", "num_layers=1", "batch_tokens=64", "steps=4",
    "log_every=2", "save_every=4",
)  # fmt: skip
UNFIT = "these settings do not fit the task"
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'lib'}:{ROOT}", "OMP_NUM_THREADS": "1"}


def test_the_time_that_is_left_has_sixty_seconds_a_minute() -> None:
    record = Record(1, 0, 1.0, None, 0.1, 1.0, 0, 10.0, None, 2**20, seconds_left=359.6)
    assert train.line(record, 9).endswith("  6:00 left")


def given(*some: str) -> list[str]:
    return [part for setting in some for part in ("--set", setting)]


def run(folder: Path, *more: str, task: str = "copy") -> int:
    return train.main([task, "--out", str(folder), "--json", *given(*TINY, *more)])


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("task", ["dates", "numbers", "copy"])
def test_a_model_is_trained_saved_and_measured(tmp_path: Path, capsys, task: str) -> None:
    assert run(tmp_path, "seed=3", "dropout=0.1", task=task) == 0
    two, four, end = events(capsys.readouterr().out)
    assert [two["event"], four["event"], end["event"]] == ["log", "log", "end"]
    assert (two["step"], four["step"]) == (2, 4)
    assert two["validation_loss"] is None
    assert 0 < four["validation_loss"] < 10
    assert end["weights"] == str(tmp_path / "last" / "model.safetensors")
    assert 0 <= end["exact_match"] <= 1
    names = {path.name for path in (tmp_path / "last").iterdir()}
    assert names == {"model.safetensors", "training.safetensors", "state.json"}
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 3


@pytest.fixture
def manuals(monkeypatch) -> None:
    """Thirty lines instead of all manuals."""
    text = "Return the number of items in the list, or raise ValueError.\n" * 30
    ids = torch.tensor(as_tiktoken(small_gpts.merges()).encode(text))
    corpus = small_gpts.Corpus(ids, ids, Manuals(text, text))
    monkeypatch.setattr(small_gpts, "corpus", lambda: corpus)


@pytest.mark.parametrize(
    ("task", "measured", "vocabulary"),
    [
        ("markov", {"nats_per_token", "entropy"}, 8),
        ("manuals", {"bits_per_byte", "nats_per_token"}, 768),
        ("gpt2", {"bits_per_byte", "nats_per_token"}, 50_257),
    ],
)
def test_a_language_model_is_trained_saved_and_measured(
    tmp_path: Path, capsys, manuals, task: str, measured: set[str], vocabulary: int
) -> None:
    assert train.main([task, "--out", str(tmp_path), "--json", *given(*TINY_GPT)]) == 0
    two, four, end = events(capsys.readouterr().out)
    assert (two["step"], four["step"]) == (2, 4)
    assert 0 < four["validation_loss"] < 12
    assert set(end) == {"event", "step", "weights", *measured}
    assert read_weights(tmp_path / "last")["tokens.weight"].shape == (vocabulary, 8)


@pytest.mark.parametrize("task", ["markov", "manuals"])
def test_a_task_starts_with_the_settings_of_the_lab(task: str) -> None:
    cfg, sizes = settings.parse(train.TASKS[task].settings, (TrainerConfig, LanguageModelConfig))
    lab = small_gpts.TASKS[task]
    assert replace(cfg, device="cpu", log_every=lab.trainer.log_every) == lab.trainer
    assert sizes.model(lab.cfg, lab.cfg.vocab_size) == lab.cfg


def test_people_get_lines_and_the_same_command_goes_on(tmp_path: Path, capsys) -> None:
    command = ["copy", "--out", str(tmp_path), *given(*TINY)]
    assert train.main(command) == 0
    first = capsys.readouterr().out.splitlines()
    assert first[0].startswith("step 2/4  loss ")
    assert "tokens/s" in first[0]
    assert "validation" in first[1]
    assert first[2].endswith(f"the weights are in {tmp_path}/last/model.safetensors")
    assert train.main(command) == 0
    assert capsys.readouterr().out.splitlines() == ["going on after step 4 of 4", first[2]]


OPTIONS = (
    "schedule=noam", "schedule=cosine", "schedule=one-cycle", "schedule=constant", "dtype=bf16",
    "dtype=fp16", "accumulate=3", "max_norm=none", "weight_decay=0.1", "warmup=2", "device=cpu",
    "smoothing=0.1", "save_every=1", "lr=0.001",
)  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option(tmp_path: Path, capsys, option: str) -> None:
    assert run(tmp_path, option) == 0
    assert events(capsys.readouterr().out)[-1]["event"] == "end"


@pytest.mark.parametrize(("steps", "every"), [(20, 2), (3, 1)])
def test_a_short_training_writes_ten_checkpoints(tmp_path: Path, capsys, steps, every) -> None:
    short = [setting for setting in TINY if not setting.startswith(("steps=", "save_every="))]
    command = ["copy", "--json", "--out", str(tmp_path), *given(*short, f"steps={steps}")]
    assert train.main(command) == 0
    logged = [one for one in events(capsys.readouterr().out) if one["event"] == "log"]
    saved = [one["step"] for one in logged if one["validation_loss"] is not None]
    assert saved == [*range(every, steps + 1, every)]


def test_the_last_k_checkpoints_are_averaged(tmp_path: Path, capsys) -> None:
    assert run(tmp_path, "save_every=1", "keep=3") == 0
    average = events(capsys.readouterr().out)[-1]
    assert (average["event"], average["checkpoints"]) == ("average", 3)
    places = [tmp_path / name for name in ("step-000002", "step-000003", "last")]
    mean = checkpoints.average_checkpoints([read_weights(place) for place in places])
    found = read_weights(tmp_path / "averaged")
    torch.testing.assert_close(found, mean, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("task", "setting", "message"),
    [
        ("copy", "step=4", "there is no setting 'step'; did you mean 'steps'?"),
        ("date", "steps=4", "there is no task 'date'; did you mean 'dates'?"),
        ("zzz", "steps=4", "there is no task 'zzz'; there are dates, numbers, copy, markov, "),
        ("copy", "steps=0", "steps must be 1 or more, not 0"),
        ("copy", "examples=0", "examples must be 1 or more, not 0"),
        (
            "copy",
            "device=cuda:7",
            "there is no device 'cuda:7' on this machine: give device=auto, or one of these: ",
        ),
        (
            "copy",
            "batch_tokens=5",
            f"{UNFIT} copy: a sentence has 13 tokens, and a batch at most 5; allow more, or leave "
            "the sentence out",
        ),
        ("copy", "num_heads=3", f"{UNFIT} copy: "),
        ("markov", "examples=9", "there is no setting 'examples'"),
        ("copy", "context=9", "there is no setting 'context'"),
        (
            "dates",
            "examples=99999999",
            f"{UNFIT} dates: 99999999 pairs of ",
        ),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, capsys, task, setting, message) -> None:
    assert run(tmp_path / "out", setting, task=task) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(message)
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_early_stopping_says_where_the_best_weights_are(tmp_path: Path, capsys) -> None:
    more = ("steps=40", "lr=10", "save_every=1", "patience=3", "max_norm=none")
    for _ in range(2):  # the second time, there is nothing left to do
        assert run(tmp_path, *more) == 0
        *_, best, end = events(capsys.readouterr().out)
        assert (best["event"], end["event"]) == ("best", "end")
        assert best["step"] == end["step"] < 40
        assert best["weights"] == str(tmp_path / "best" / "model.safetensors")
        assert (tmp_path / "best" / "model.safetensors").is_file()


def test_a_checkpoint_of_other_settings_stays(tmp_path: Path, capsys) -> None:
    assert run(tmp_path) == 0
    before = (tmp_path / "last" / "model.safetensors").read_bytes()
    for setting, task in (("d_model=16", "copy"), ("lr=1", "copy"), ("seed=0", "dates")):
        assert run(tmp_path, setting, task=task) == 1
        assert "was trained with" in capsys.readouterr().err
    assert (tmp_path / "last" / "model.safetensors").read_bytes() == before


def test_a_folder_that_is_a_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file") == 1
    assert capsys.readouterr().err == (
        f"{tmp_path / 'file'} is not a folder; give another one with --out\n"
    )


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (checkpoints.PART, "the checkpoint of step 6 could not be written to {} (No sp"),
        (checkpoints.BEST, "{}/best/model.safetensors could not be written (No sp"),
    ],
)
def test_a_full_disk_in_the_middle_of_training(
    tmp_path: Path, capsys, monkeypatch, folder: str, message: str
) -> None:
    assert run(tmp_path) == 0
    capsys.readouterr()
    write = checkpoints._write_to_disk

    def full(path: Path, data: bytes) -> None:
        if path.parent.name != folder:
            return write(path, data)
        path.write_bytes(data[:50])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "_write_to_disk", full)
    assert run(tmp_path, "steps=8", "save_every=2") == 1
    error = capsys.readouterr().err
    assert error.startswith(message.format(tmp_path))
    assert error.count("\n") == 1
    monkeypatch.undo()
    assert run(tmp_path, "steps=8", "save_every=2") == 0
    assert events(capsys.readouterr().out)[0] == {"event": "resume", "step": 4}


def test_the_help_lists_tasks_and_settings(capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        train.main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "dates, numbers, copy" in text
    assert "steps=1000" in text
    assert "markov, manuals, gpt2: size=small" in text
    assert "gpt2 starts with size=gpt2" in text


def command(folder: Path, *more: str) -> list[str]:
    return ["-m", "attnlab.train", "copy", "--out", str(folder), "--json", *given(*TINY, *more)]


def test_a_signal_ends_training_after_a_checkpoint_and_it_goes_on(tmp_path: Path, capsys) -> None:
    long = ("steps=3000", "log_every=1", "save_every=3000")
    process = subprocess.Popen(
        [sys.executable, *command(tmp_path, *long)],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdout.readline()
    process.terminate()
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (128 + signal.SIGTERM, "")
    stop = events(out)[-1]
    step = stop["step"]
    assert (stop["event"], 0 < step < 3000) == ("stop", True)
    saved = checkpoints.read(tmp_path).state
    assert saved["step"] == step

    assert run(tmp_path, "log_every=1", f"steps={step + 3}") == 0
    resumed = events(capsys.readouterr().out)
    assert resumed[0] == {"event": "resume", "step": step}
    assert resumed[1]["step"] == step + 1


def test_ctrl_c_does_the_same_and_handlers_of_signals_are_restored(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    before = signal.getsignal(signal.SIGINT)
    record = train.Output.record

    def interrupted(*arguments: Any) -> None:
        record(*arguments)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(train.Output, "record", interrupted)
    assert run(tmp_path) == 128 + signal.SIGINT
    assert [event["event"] for event in events(capsys.readouterr().out)] == ["log", "stop"]
    assert checkpoints.read(tmp_path).state["step"] == 2
    assert signal.getsignal(signal.SIGINT) == before


def test_two_processes_train_what_one_trains(tmp_path: Path, capsys) -> None:
    more = ("steps=12", "dropout=0", "log_every=3", "accumulate=2", "max_norm=0.5")
    started = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
         *command(tmp_path / "two", *more)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    two = events(started.stdout)
    assert run(tmp_path / "one", *more) == 0
    one = events(capsys.readouterr().out)
    assert [line["event"] for line in two] == [line["event"] for line in one]  # one process logs
    for key in ("step", "epoch", "loss", "validation_loss", "grad_norm", "lr"):
        found, expected = ([line.get(key) or 0 for line in lines] for lines in (two, one))
        assert found == pytest.approx(expected, rel=1e-5)
    weights = read_weights(tmp_path / "two" / "last")
    for name, expected in read_weights(tmp_path / "one" / "last").items():
        # In exact arithmetic its gradient is 0, and Adam makes steps of any rounding error.
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(weights[name], expected, rtol=0, atol=1e-6)
    saved = checkpoints.read(tmp_path / "two").tensors
    assert not torch.equal(saved["random.0.cpu"], saved["random.1.cpu"])


@pytest.mark.slow
def test_two_processes_stop_and_go_on(tmp_path: Path) -> None:
    more = ("steps=400", "log_every=1", "save_every=50", "dropout=0.2")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    whole = [*torchrun, *command(tmp_path / "whole", *more)]
    assert subprocess.run(whole, env=ENVIRONMENT, capture_output=True).returncode == 0
    parts = [*torchrun, *command(tmp_path / "parts", *more)]
    process = subprocess.Popen(parts, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert events(out)[-1]["event"] == "stop"
    assert subprocess.run(parts, env=ENVIRONMENT, capture_output=True).returncode == 0
    one, two = (read_weights(tmp_path / name / "last") for name in ("whole", "parts"))
    torch.testing.assert_close(one, two, rtol=0, atol=0)


def killed(folder: Path, kills: int) -> dict[str, Any]:
    started = subprocess.run(
        [sys.executable, "-m", "tests.helpers.killed_training", str(folder), str(kills)],
        cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    result: dict[str, Any] = json.loads(started.stdout)
    return result


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_it_ends_in_the_same_weights(tmp_path: Path, kills: int) -> None:
    result = killed(tmp_path, kills)
    assert result["same"]
    assert result["files"] == 6
    assert result["reached"] == sorted(result["reached"])
    assert result["in_the_middle"] >= kills // 2
