"""The Trainer: goes on bit for bit, cuts batches as promised, skips what is not finite."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from attnlab import checkpoints, devices
from attnlab.checkpoints import CheckpointError
from attnlab.devices import DeviceError
from attnlab.optimizers import Adam
from attnlab.train_step import Sums
from attnlab.training import Parts, Trainer
from attnlab.training_config import TrainerConfig, TrainingError
from attnlab.translation import TASKS, Task, TranslatorConfig

SIZES = TranslatorConfig(60, 30, d_model=8, num_heads=2, d_ff=16, layers=1, dropout=0.2)
CFG = TrainerConfig(steps=20, lr=0.01, batch_tokens=80, log_every=3, save_every=8)


class StopsAfter:
    """Data of a trainer that is told to stop after some batches."""

    def __init__(self, data: Any, batches: int) -> None:
        self.data, self.left = data, batches
        self.trainer: Trainer | None = None

    def epoch(self, number: int, start: int = 0) -> Iterator[Any]:
        for batch in self.data.epoch(number, start):
            self.left -= 1
            if self.left == 0:
                self.trainer.stop()
            yield batch


def task(cfg: TrainerConfig = CFG, **sizes: Any) -> Task:
    return TASKS["copy"](replace(SIZES, **sizes), cfg)


def trainer(cfg: TrainerConfig, folder: Path | None, made: Task | None = None, **rest) -> Trainer:
    made = made or task(cfg)
    return Trainer(made.model, made.loss, cfg, folder=folder, **rest)


def train(cfg: TrainerConfig, folder: Path | None = None, stop_after: int = 0, **sizes) -> Trainer:
    """Train, or go on; stop after some batches, or at the end."""
    made = task(cfg, **sizes)
    data = StopsAfter(made.data, stop_after)
    data.trainer = trainer(cfg, folder, made)
    data.trainer.resume()
    data.trainer.fit(data, made.validation[:2])
    return data.trainer


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "last").iterdir()}


def rows(folder: Path) -> list[dict[str, str]]:
    """The lines of the log, without what depends on time and memory."""
    changing = {"tokens_per_second", "seconds_left", "memory"}
    with (folder / "log.csv").open(newline="") as file:
        return [{k: row[k] for k in row if k not in changing} for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("cfg", "stops"),
    [
        (CFG, [10]),
        (replace(CFG, schedule="noam", warmup=4, keep=2), [1, 7, 8]),
        (replace(CFG, dtype="fp16", accumulate=2), [10]),
        (replace(CFG, dtype="bf16", max_norm=None, weight_decay=0.1), [13]),
    ],
)
def test_going_on_equals_never_stopping_bit_for_bit(tmp_path: Path, cfg, stops) -> None:
    whole = train(cfg, tmp_path / "whole")
    for stop in stops:
        torch.rand(stop)  # the program's own random numbers do not matter
        assert train(cfg, tmp_path / "parts", stop).progress.step < 20
    assert train(cfg, tmp_path / "parts").progress == whole.progress
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")
    assert whole.progress.epoch > 0


def test_going_on_after_the_last_batch_of_an_epoch(tmp_path: Path) -> None:
    length = len(list(task().data.epoch(0)))
    whole = train(replace(CFG, steps=length + 2), tmp_path / "whole")
    train(replace(CFG, steps=length + 2), tmp_path / "parts", stop_after=length)
    train(replace(CFG, steps=length + 2), tmp_path / "parts")
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    assert (whole.progress.epoch, whole.progress.batch) == (1, 2)


def test_a_finished_training_is_not_trained_further_but_for_more_steps(tmp_path: Path) -> None:
    cfg = replace(CFG, schedule="constant")
    train(replace(cfg, steps=10), tmp_path / "parts")
    before = files(tmp_path / "parts")
    assert train(replace(cfg, steps=10), tmp_path / "parts").progress.step == 10
    assert files(tmp_path / "parts") == before
    train(cfg, tmp_path / "parts")
    train(cfg, tmp_path / "whole")
    ours, theirs = (checkpoints.read_weights(tmp_path / x / "last") for x in ("parts", "whole"))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def losses_are(made: Trainer, found: list[float | None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next validations find these losses."""
    left = iter(found)
    monkeypatch.setattr(made, "validate", lambda batches: next(left))


def test_training_ends_early_and_the_best_weights_are_kept(tmp_path: Path, monkeypatch) -> None:
    cfg = replace(CFG, save_every=2, patience=2)
    made = trainer(cfg, tmp_path)
    losses_are(made, [3.0, 2.0, math.nan, 1.5, 1.5, 1.6, 0.0], monkeypatch)
    seen, validated = {}, made.validate

    def validate(batches: Any) -> float | None:
        weights = {name: x.clone() for name, x in made.model.state_dict().items()}
        seen[made.progress.step] = weights
        return validated(batches)

    monkeypatch.setattr(made, "validate", validate)
    made.fit(task().data)
    assert made.progress.ends(cfg)
    assert (made.progress.step, made.progress.best, made.progress.worse) == (12, 1.5, 2)
    best = checkpoints.read_weights(tmp_path / "best")
    torch.testing.assert_close(best, seen[8], rtol=0, atol=0)

    again = trainer(cfg, tmp_path)
    assert again.resume()
    assert again.progress == made.progress
    assert again.fit(task().data) == []
    patient = trainer(replace(cfg, patience=5), tmp_path)
    patient.resume()
    losses_are(patient, [1.4, 1.3, 1.3, 1.2], monkeypatch)
    assert [record.step for record in patient.fit(task().data) if record.validation_loss] == [
        14, 16, 18, 20,
    ]  # fmt: skip
    assert (patient.progress.best, patient.progress.worse) == (1.2, 0)


def test_the_lowest_loss_survives_an_interruption(tmp_path: Path) -> None:
    cfg = replace(CFG, save_every=2)
    whole = train(cfg, tmp_path / "whole")
    train(cfg, tmp_path / "parts", 9)
    parts = train(cfg, tmp_path / "parts")
    assert parts.progress == whole.progress
    assert whole.progress.best is not None
    one, other = (tmp_path / name / "best" / checkpoints.MODEL for name in ("whole", "parts"))
    assert one.read_bytes() == other.read_bytes()


def test_the_programs_random_numbers_stay(tmp_path: Path) -> None:
    before = torch.get_rng_state()
    train(replace(CFG, steps=2))
    assert torch.equal(torch.get_rng_state(), before)


def parameters(cfg: TrainerConfig, **rest: Any) -> dict[str, torch.Tensor]:
    made = task(cfg, dropout=0.0)
    made.model.double()
    Trainer(made.model, made.loss, cfg, **rest).fit(made.data)
    return dict(made.model.state_dict())


def test_micro_batches_of_unequal_token_counts_equal_the_large_batch() -> None:
    cfg = replace(CFG, steps=8, max_norm=0.5)
    whole = parameters(cfg)
    for count in (2, 3, 50):  # 50 are more than a batch has rows, so some are empty
        cut = parameters(replace(cfg, accumulate=count))
        torch.testing.assert_close(cut, whole, rtol=1e-7, atol=1e-7)


def test_other_parts_with_the_same_promises_train_the_same_model() -> None:
    def optimizer(model: nn.Module, lr: float, weight_decay: float) -> Adam:
        return Adam(model.parameters(), lr, (0.9, 0.98), 1e-9, weight_decay, True)

    ours = parameters(replace(CFG, steps=5), parts=Parts(optimizer=optimizer))
    torch.testing.assert_close(ours, parameters(replace(CFG, steps=5)), rtol=1e-9, atol=1e-9)


def test_bf16_learns_what_fp32_learns_within_its_rounding() -> None:
    losses = {}
    for dtype in ("fp32", "bf16"):
        cfg = replace(CFG, dtype=dtype, log_every=1)
        made = task(cfg, dropout=0.0)
        losses[dtype] = torch.tensor(
            [record.loss for record in trainer(cfg, None, made).fit(made.data)]
        )
        assert {p.dtype for p in made.model.parameters()} == {torch.float32}
    assert not torch.equal(losses["bf16"], losses["fp32"])
    torch.testing.assert_close(losses["bf16"], losses["fp32"], rtol=2**-6, atol=0)


class Spoils:
    """A loss whose gradient is NaN in some of its calls; its value never is."""

    def __init__(self, loss: Any, calls: set[int]) -> None:
        self.loss, self.calls, self.count = loss, calls, 0

    def __call__(self, model: nn.Module, batch: Any) -> Sums:
        found = self.loss(model, batch)
        self.count += 1
        if self.count in self.calls:
            weight = next(model.parameters()).sum()
            return Sums(found.loss + (weight * 0).sqrt(), found.count)
        return found


def test_fp16_skips_an_update_that_is_not_finite_and_halves_the_scale() -> None:
    cfg = replace(CFG, dtype="fp16", log_every=1, steps=6, schedule="constant", warmup=6)
    made = task(cfg)
    mine = trainer(cfg, None, replace(made, loss=Spoils(made.loss, {1, 4})))
    before = [p.detach().clone() for p in made.model.parameters()]
    seen = []
    mine._on_record = lambda record: seen.append(
        all(map(torch.equal, made.model.parameters(), before))
    )
    records = mine.fit(made.data)
    assert [record.skipped for record in records] == [1, 1, 1, 2, 2, 2]
    assert mine.scaler.get_scale() == 65536 / 64 / 4  # a batch has about 64 tokens
    assert seen == [True, False, False, False, False, False]
    rates = [round(record.lr / cfg.lr * 6) for record in records]
    assert rates == [1, 1, 2, 3, 3, 4]  # the schedule waits
    assert all(math.isfinite(record.loss) for record in records)


def test_without_a_scaler_such_a_gradient_ends_training_and_the_checkpoint_stays(
    tmp_path: Path,
) -> None:
    made = task()
    mine = trainer(CFG, tmp_path, replace(made, loss=Spoils(made.loss, {10})))
    with pytest.raises(TrainingError, match="the loss is nan at step 12; try a smaller lr"):
        mine.fit(made.data)
    assert checkpoints.read(tmp_path).state["step"] == 8
    made = task()
    mine = trainer(CFG, tmp_path / "stopped", replace(made, loss=Spoils(made.loss, {1})))
    data = StopsAfter(made.data, 1)
    data.trainer = mine
    with pytest.raises(TrainingError, match="weights are not finite at step 1"):
        mine.fit(data)
    assert checkpoints.read(tmp_path / "stopped") is None


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    train(replace(CFG, steps=2), tmp_path)
    before = files(tmp_path)
    other = trainer(CFG, tmp_path, task(CFG, d_model=12))
    with pytest.raises(CheckpointError, match=r"last is a checkpoint of another model \('dec"):
        other.resume()
    assert files(tmp_path) == before


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    made = task()
    trainer(replace(CFG, steps=2), tmp_path, about={"size": 1}).fit(made.data)
    for cfg, about, names in (
        (replace(CFG, lr=0.02), {"size": 1}, "lr=0.01, not lr=0.02"),
        (CFG, {"size": 2}, "size=1, not size=2"),
    ):
        with pytest.raises(CheckpointError, match=f"was trained with {names}; give the same"):
            trainer(cfg, tmp_path, about=about).resume()
    assert trainer(replace(CFG, log_every=1), tmp_path, about={"size": 1}).resume()


@pytest.mark.parametrize("key", ["skipped", "scaler", "epoch"])
def test_a_state_of_another_version_is_one_sentence(tmp_path: Path, key: str) -> None:
    train(replace(CFG, steps=2), tmp_path)
    path = tmp_path / "last" / "state.json"
    path.write_text(path.read_text().replace(f'"{key}"', '"renamed"'))
    with pytest.raises(CheckpointError, match="does not fit this version"):
        trainer(replace(CFG, steps=2), tmp_path).resume()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("steps", 0, "steps must be 1 or more, not 0"),
        ("keep", 0, "keep must be 1 or more, not 0"),
        ("save_every", 0, "save_every must be 1 or more, not 0"),
        ("warmup", -1, "warmup must be 0 or more, not -1"),
        ("lr", 0.0, "lr must be above 0 and finite, not 0.0"),
        ("lr", math.nan, "lr must be above 0 and finite, not nan"),
        ("max_norm", -1.0, "max_norm must be above 0 and finite, not -1.0"),
        ("dtype", "fp8", "dtype must be one of fp32, bf16, fp16, not 'fp8'"),
        ("schedule", "linear", "schedule must be one of noam, .* not 'linear'"),
    ],
)
def test_a_number_out_of_range_is_one_sentence(name: str, value: Any, message: str) -> None:
    with pytest.raises(TrainingError, match=f"^{message}$"):
        replace(CFG, **{name: value})


def test_data_without_batches_and_a_device_that_is_not_there() -> None:
    with pytest.raises(TrainingError, match="no batches"):
        trainer(CFG, None).fit(replace(task().data, examples=[], lengths=[]))
    with pytest.raises(DeviceError, match="'cuda:99'"):
        trainer(replace(CFG, device="cuda:99"), None)


def test_records_count_tokens_and_are_means_over_them() -> None:
    cfg = replace(CFG, steps=5, log_every=1, save_every=3)
    made, counts = task(cfg, dropout=0.0), []
    fresh = task(cfg, dropout=0.0).model

    def loss(model: nn.Module, batch: Any) -> Sums:
        found = made.loss(model, batch)
        if model.training:
            counts.append(int((batch.labels != 0).sum()))
        return found

    told: list[Any] = []
    mine = trainer(cfg, None, replace(made, loss=loss), on_record=told.append)
    records = mine.fit(made.data, made.validation[:2])
    assert records == told
    assert [record.step for record in records] == [1, 2, 3, 4, 5]
    assert [record.validation_loss is not None for record in records] == [0, 0, 1, 0, 1]
    first = next(made.data.epoch(0))
    torch.testing.assert_close(
        records[0].loss, made.loss(fresh, first).loss.item() / counts[0], rtol=1e-5, atol=1e-5
    )
    assert all(record.tokens_per_second > 0 and record.mfu is None for record in records)
    assert records[-1].seconds_left == 0


def test_the_speed_does_not_count_what_a_checkpoint_takes(monkeypatch, tmp_path) -> None:
    seconds = [0.0]
    monkeypatch.setattr("attnlab.training.time.perf_counter", lambda: seconds[0])
    made, whole = task(), Trainer.save

    def loss(model: torch.nn.Module, batch: Any) -> Any:
        seconds[0] += 1.0
        return made.loss(model, batch)

    def save(self: Trainer) -> None:
        whole(self)
        seconds[0] += 100.0

    monkeypatch.setattr(Trainer, "save", save)
    cfg = replace(CFG, steps=4, log_every=1, save_every=2)
    records = trainer(cfg, tmp_path, replace(made, loss=loss)).fit(made.data)
    assert [record.seconds_left for record in records] == [3, 2, 1, 0]


def test_the_share_of_the_peak_is_reported_where_it_is_known(monkeypatch) -> None:
    monkeypatch.setattr("attnlab.metrics.peak_flops", lambda device, dtype: 1e9)
    (record,) = trainer(replace(CFG, steps=1), None, params_per_token=100).fit(task().data)
    assert record.mfu == pytest.approx(600 * record.tokens_per_second / 1e9)


def test_validation_is_in_evaluation_mode_and_means_over_tokens() -> None:
    made = task()
    mine = trainer(CFG, None, made)
    mine.model.train()
    found = mine.validate(made.validation)
    assert found == mine.validate(made.validation)  # no dropout
    assert mine.model.training
    assert mine.validate([]) is None
    mine.model.eval()
    sums = [made.loss(mine.model, batch) for batch in made.validation]
    expected = sum(x.loss.item() for x in sums) / sum(x.count.item() for x in sums)
    assert found == pytest.approx(expected)


def test_lines_after_the_checkpoint_are_dropped_from_the_log(tmp_path: Path) -> None:
    train(CFG, tmp_path, stop_after=10)
    log = tmp_path / "log.csv"
    text = log.read_text()
    line = text.splitlines()[-1]
    log.write_text(text + line.replace("9,", "12,", 1) + "\n" + "1")  # killed while it wrote
    train(CFG, tmp_path)
    assert [int(row["step"]) for row in rows(tmp_path)] == [3, 6, 8, 9, 12, 15, 16, 18, 20]


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "log.csv").mkdir()
    made = task()
    with pytest.raises(CheckpointError, match=r"log.csv could not be written \(Is a directory\)"):
        trainer(CFG, tmp_path, made).fit(made.data)


def test_tensorboard_gets_every_number_where_it_is_installed(tmp_path: Path, monkeypatch) -> None:
    written: list[tuple[str, float, int]] = []

    class SummaryWriter:
        def __init__(self, folder: str, purge_step: int) -> None:
            written.append((Path(folder).name, purge_step, -1))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.append((name, value, step))

        def flush(self) -> None:
            pass

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    made = task()
    (record,) = trainer(replace(CFG, steps=1), tmp_path, made).fit(made.data)
    assert written[0] == ("tensorboard", 1, -1)
    assert ("loss", record.loss, 1) in written
    assert not {name for name, _, _ in written} & {"mfu", "validation_loss"}  # not known


def test_without_a_compiler_the_model_runs_uncompiled_and_says_so(monkeypatch, caplog) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert devices.missing_compiler(torch.device("cpu")) == "a C++ compiler"
    cfg = replace(CFG, steps=2)
    made = task(cfg)
    trainer(replace(cfg, compile=True), None, made).fit(made.data)
    (message,) = caplog.messages
    assert message == "compile=true, but a C++ compiler is not there: the model is not compiled."
    plain = task(cfg)
    trainer(cfg, None, plain).fit(plain.data)
    torch.testing.assert_close(made.model.state_dict(), plain.model.state_dict(), rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler
@pytest.mark.skipif(
    devices.missing_compiler(torch.device("cpu")) is not None, reason="no C++ compiler"
)
def test_a_compiled_model_learns_the_same(tmp_path: Path) -> None:
    cfg = replace(CFG, steps=4)
    compiled, plain = task(cfg, dropout=0.0), task(cfg, dropout=0.0)
    trainer(replace(cfg, compile=True), tmp_path, compiled).fit(compiled.data)
    trainer(cfg, None, plain).fit(plain.data)
    found = checkpoints.read_weights(tmp_path / "last")  # under the model's own names
    for name, expected in plain.model.state_dict().items():
        if not name.endswith("k_proj.bias"):  # in exact arithmetic, its gradient is 0
            torch.testing.assert_close(found[name], expected, rtol=1e-4, atol=1e-5)
