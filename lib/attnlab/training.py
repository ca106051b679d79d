"""One Trainer: from a CPU to several GPUs, in full or mixed precision, with exact resumption.

    trainer = Trainer(model, loss, TrainerConfig(steps=1000, lr=3e-3), folder=Path("runs/dates"))
    trainer.resume()                     # goes on from the last checkpoint, if there is one
    records = trainer.fit(data, validation)

`loss(model, batch)` returns the loss as a sum and the number of tokens in it (`Sums`). The steps of
the loop are functions of other modules: see `Parts`. ``python -m attnlab.train`` is the command.
docs/gpu.md has a table for those who know PyTorch Lightning.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from attnlab import checkpoints, metrics
from attnlab.buckets import bucket_batches, share
from attnlab.checkpoints import Checkpoint, CheckpointError
from attnlab.device_agnostic import move
from attnlab.devices import compiled, peak_memory, pick_device
from attnlab.optimizers import fused_adamw, rate_factor
from attnlab.processes import ALONE, Processes
from attnlab.train_step import (
    DTYPES,
    Loss,
    Sums,
    accumulate,
    autocast,
    scaler_for,
    update,
)
from attnlab.training_config import MAY_CHANGE, Epochs, Progress, TrainerConfig, TrainingError
from attnlab.training_log import Record, TrainingLog
from attnlab.training_state import (
    load_optimizer,
    optimizer_tensors,
    own_random_numbers,
    random_states,
    with_prefix,
)

ADVICE = "try a smaller lr or a longer warmup (earlier checkpoints are intact)"


@dataclass(frozen=True)
class Parts:
    """The functions that do the work; pass others with the same promises to train with them.

    `bucket` is for those who make the data; a Trainer gets its batches ready-made.
    """

    pick_device: Callable[[str], torch.device] = pick_device
    bucket: Callable[[Sequence[int], int, int], list[list[int]]] = bucket_batches
    move: Callable[[Any, torch.device], Any] = move
    optimizer: Callable[[nn.Module, float, float], torch.optim.Optimizer] = fused_adamw
    accumulate: Callable[..., Sums] = accumulate
    scaler: Callable[..., torch.amp.GradScaler] = scaler_for
    update: Callable[..., tuple[Tensor, bool]] = update


class Trainer:
    """Trains a model; several processes may do so together, each with a Trainer.

    Each batch is cut into `processes.world * cfg.accumulate` parts. The gradients are those of the
    mean loss over all tokens of the batch, whatever the number of parts.

    Args:
        model: moved to the device and trained in place.
        loss: called as `loss(model, batch)`, on the device.
        cfg: how to train.
        folder: for checkpoints and the log; None: nothing is written.
        about: what else decides the result, such as the model's sizes, for JSON. A checkpoint with
            other values is refused.
        params_per_token: the parameters that a token of the loss passes, for the MFU; None: it is
            not reported.
        parts: the functions that do the work.
        processes: the processes that train together.
        on_record: called with each line of the log, in process 0.

    Attributes:
        model: the model itself, without wrappers.
        progress: how far training has come.

    Raises:
        DeviceError: `cfg.device` is not there.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        cfg: TrainerConfig,
        *,
        folder: Path | None = None,
        about: Mapping[str, Any] = MappingProxyType({}),
        params_per_token: float | None = None,
        parts: Parts = Parts(),
        processes: Processes = ALONE,
        on_record: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self.cfg, self.loss, self.parts, self.processes = cfg, loss, parts, processes
        self.device = parts.pick_device(cfg.device)
        if self.device.type == "cuda" and self.device.index is None:
            self.device = torch.device("cuda", processes.local_rank)
        self.model = model.to(self.device)
        self.optimizer = parts.optimizer(self.model, cfg.lr, cfg.weight_decay)
        self.scaler = parts.scaler(cfg.dtype, self.device, cfg.batch_tokens)
        self.progress = Progress()
        self._wrapped = self._wrap()
        self._about, self._params_per_token = dict(about), params_per_token
        self._folder, self._on_record = folder, on_record
        self._log = TrainingLog(folder if processes.rank == 0 else None)
        self._since_log = Sums(*torch.zeros(2, device=self.device))
        self._random: dict[str, Tensor] | None = None
        self._seed = zlib.crc32(f"{cfg.seed} {processes.rank}".encode())
        self._stopping = False

    def fit(self, data: Epochs, validation: Iterable[Any] = ()) -> list[Record]:
        """Train until `cfg.steps` updates are done, `cfg.patience` is over, or `stop` is called.

        Nothing in the loop waits for the device but the lines of the log (and the scaler in fp16).

        Args:
            data: the batches; each tensor's first dimension counts the rows.
            validation: batches whose loss is measured before each checkpoint. The weights with the
                lowest loss so far are in ``best/model.safetensors``.

        Returns:
            The lines of the log since this call.

        Raises:
            TrainingError: the loss is not finite, or there are no batches.
            CheckpointError: a checkpoint could not be written.
        """
        records: list[Record] = []
        with own_random_numbers(self.device, self._seed, self._random):
            self.model.train()
            clock = self._clock()
            for batch in self._batches(data):
                norm = self._step(batch)
                step = self.progress.step
                saves = self.cfg.saves_after(step)
                if saves or step % self.cfg.log_every == 0:
                    record = self._record(norm, clock)
                    if saves:
                        record = replace(record, validation_loss=self.validate(validation))
                        self._keep_best(record.validation_loss)
                    self.processes.in_first(partial(self._report, record))
                    records.append(record)
                    clock = self._clock()
                stops = self.processes.any(self._stopping)
                if saves or stops:
                    self.save()
                    clock = self._clock()  # the next speed is that of training alone
                if stops:
                    self._stopping = False
                    break
            self._random = random_states(self.device)
        return records

    def stop(self) -> None:
        """Write a checkpoint after the update that is under way, and end `fit`."""
        self._stopping = True

    @torch.no_grad()
    def validate(self, batches: Iterable[Any]) -> float | None:
        """The mean loss over all tokens, in evaluation mode; None if there are none."""
        self.model.eval()
        total = torch.zeros(2, device=self.device)
        for batch in batches:
            mine = share(batch, self.processes.rank, self.processes.world)
            with autocast(self.cfg.dtype, self.device):
                total += torch.stack(self.loss(self.model, self.parts.move(mine, self.device)))
        self.model.train()
        loss, count = self.processes.sum(total).tolist()
        return loss / count if count else None

    def save(self) -> None:
        """Write a checkpoint, in process 0.

        Raises:
            CheckpointError: it could not be written; in every process.
        """
        if self._folder is None:
            return
        folder, checkpoint = self._folder, self._checkpoint()
        self.processes.in_first(lambda: checkpoints.write(folder, checkpoint, self.cfg.keep))

    def resume(self) -> bool:
        """Go on from the newest checkpoint of the folder, as if training had never been ended.

        On one device, the weights are the same bit for bit as without the interruption. With
        another number of processes, dropout is drawn differently.

        Returns:
            Whether there was a checkpoint.

        Raises:
            CheckpointError: it is damaged, of another model, or was trained with other settings.
        """
        found = checkpoints.read(self._folder) if self._folder else None
        if found is None or self._folder is None:
            return False
        place = checkpoints.kept(self._folder)[-1]
        settings = {**asdict(self.cfg), **self._about}
        checkpoints.refuse_other_settings(found, settings, MAY_CHANGE, place)
        checkpoints.load_weights(self.model, found.weights, place)
        try:
            self._load(found)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"{place} does not fit this version of the program ({type(error).__name__}); "
                "give another folder"
            ) from error
        self._log.keep_until(self.progress.step)
        return True

    def _wrap(self) -> nn.Module:
        """The model that is called in training: it exchanges gradients, and may be compiled."""
        wrapped = self.model
        if self.processes.world > 1:
            wrapped = DistributedDataParallel(wrapped)
        return compiled(wrapped, self.device) if self.cfg.compile else wrapped

    def _batches(self, data: Epochs) -> Iterator[Any]:
        """Batches from here on, until training is over."""
        while not self.progress.ends(self.cfg):
            for batch in data.epoch(self.progress.epoch, self.progress.batch):
                self.progress = replace(self.progress, batch=self.progress.batch + 1)
                yield batch
                if self.progress.ends(self.cfg):
                    return
            if self.progress.batch == 0:
                raise TrainingError("there are no batches to train on")
            self.progress = replace(self.progress, epoch=self.progress.epoch + 1, batch=0)

    def _step(self, batch: Any) -> Tensor:
        """One update; returns the length of the gradients."""
        progress = self.progress
        updates = progress.step - progress.skipped + 1
        rate = self.cfg.lr * self._factor(updates)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        found = self.parts.accumulate(self._wrapped, self._loss, self._micro_batches(batch))
        loss = found.loss / self.scaler.scale(torch.ones_like(found.loss))
        norm, updated = self.parts.update(
            self.optimizer, self.scaler, self.model.parameters(), self.cfg.max_norm
        )
        self._since_log = Sums(self._since_log.loss + loss, self._since_log.count + found.count)
        self.progress = replace(
            progress, step=progress.step + 1, skipped=progress.skipped + (not updated)
        )
        return norm

    def _factor(self, updates: int) -> float:
        return rate_factor(self.cfg.schedule, updates, self.cfg.steps, self.cfg.warmup)

    def _micro_batches(self, batch: Any) -> Iterator[Any]:
        """This process's parts of a batch, one after the other."""
        world, rank = self.processes.world, self.processes.rank
        parts = world * self.cfg.accumulate
        for part in range(rank, parts, world):
            last = part + world >= parts
            # Processes exchange gradients once per batch, in the backward pass of the last part.
            alone = nullcontext() if world == 1 or last else self._wrapped.no_sync()  # type: ignore[operator]
            with alone:
                yield self.parts.move(share(batch, part, parts), self.device)

    def _loss(self, model: nn.Module, batch: Any) -> Sums:
        """The loss of a part, in mixed precision, multiplied by the scaler's scale.

        Processes take the mean of their gradients. So gradients of sums must be divided by the mean
        number of their tokens.
        """
        with autocast(self.cfg.dtype, self.device):
            found = self.loss(model, batch)
        count = self.processes.sum(found.count) / self.processes.world
        return Sums(self.scaler.scale(found.loss), count)

    def _clock(self) -> tuple[float, int, float]:
        """The time, the step, and the tokens since the last line of the log."""
        return time.perf_counter(), self.progress.step, float(self._since_log.count)

    def _record(self, norm: Tensor, clock: tuple[float, int, float]) -> Record:
        """A line of the log about the updates since the last line. It waits for the device."""
        world, progress = self.processes.world, self.progress
        loss, tokens = float(self.processes.sum(self._since_log.loss)), float(self._since_log.count)
        if not math.isfinite(loss):
            raise TrainingError(f"the loss is {loss} at step {progress.step}; {ADVICE}")
        then, first_step, tokens_then = clock
        seconds = time.perf_counter() - then
        speed = (tokens - tokens_then) * world / seconds
        self._since_log = Sums(*torch.zeros(2, device=self.device))
        return Record(
            step=progress.step,
            epoch=progress.epoch,
            loss=loss / max(tokens * world, 1),
            validation_loss=None,
            lr=self.optimizer.param_groups[0]["lr"],
            grad_norm=float(norm),
            skipped=progress.skipped,
            tokens_per_second=speed,
            mfu=self._mfu(speed),
            memory=peak_memory(self.device),
            seconds_left=seconds / (progress.step - first_step) * (self.cfg.steps - progress.step),
        )

    def _report(self, record: Record) -> None:
        self._log.write(record)
        self._on_record(record)

    def _keep_best(self, loss: float | None) -> None:
        """Take note of a validation, and write the weights if their loss is the lowest so far."""
        self.progress = self.progress.validated(loss)
        if self._folder is not None and loss is not None and self.progress.worse == 0:
            place, weights = self._folder / checkpoints.BEST, self.model.state_dict()
            self.processes.in_first(lambda: checkpoints.write_weights(place, weights))

    def _mfu(self, tokens_per_second: float) -> float | None:
        peak = metrics.peak_flops(self.device, DTYPES[self.cfg.dtype])
        if peak is None or self._params_per_token is None:
            return None
        return metrics.mfu(tokens_per_second, self._params_per_token, peak * self.processes.world)

    def _checkpoint(self) -> Checkpoint:
        if not all(weight.isfinite().all() for weight in self.model.parameters()):
            raise TrainingError(f"weights are not finite at step {self.progress.step}; {ADVICE}")
        random = random_states(self.device)
        tensors = {
            "since_log": self.processes.sum(torch.stack(self._since_log)),
            **optimizer_tensors(self.optimizer),
            **{
                f"random.{rank}.{name}": state
                for name in random
                for rank, state in enumerate(self.processes.gather(random[name]))
            },
        }
        state = {
            **asdict(self.progress),
            "settings": {**asdict(self.cfg), **self._about},
            "scaler": self.scaler.state_dict(),
        }
        return Checkpoint(self.model.state_dict(), tensors, state)

    def _load(self, found: Checkpoint) -> None:
        """Take over everything but the weights."""
        load_optimizer(self.optimizer, found.tensors)
        self.scaler.load_state_dict(dict(found.state["scaler"]))
        self.progress = Progress.from_state(found.state)
        loss, count = found.tensors["since_log"].to(self.device)
        # The processes' sums are added for the log: one of them takes the old sum.
        self._since_log = Sums(loss * (self.processes.rank == 0), count / self.processes.world)
        self._random = with_prefix(found.tensors, f"random.{self.processes.rank}.") or None
