"""``python -m attnlab.train dates --set steps=600 --out runs/dates``: train a model.

The same command again goes on from the last checkpoint in the folder. With several processes:
``torchrun --nproc-per-node 2 -m attnlab.train dates``.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from attnlab import checkpoints, settings, translation
from attnlab.checking.errors import LabError
from attnlab.gpt_training import LanguageModelConfig, manuals_task, markov_task
from attnlab.notebook.unwritten import unwritten_step
from attnlab.own_parts import parts_of
from attnlab.processes import Processes, joined
from attnlab.training import Parts, Trainer
from attnlab.training_config import TrainerConfig
from attnlab.training_log import Record
from attnlab.training_task import Task
from attnlab.translation import TranslatorConfig


@dataclass(frozen=True)
class Recipe:
    """A task by its name.

    Attributes:
        make: makes the task from its sizes, the training's settings and the functions to train
            with.
        sizes: the dataclass of its sizes.
        settings: what it starts with; the command's own settings come later and win.
    """

    make: Callable[[Any, TrainerConfig, Parts], Task]
    sizes: type
    settings: tuple[str, ...] = ()


def _translation(name: str) -> Recipe:
    made = translation.TASKS[name]
    return Recipe(lambda sizes, cfg, parts: made(sizes, cfg, parts.bucket), TranslatorConfig)


def _language_model(
    made: Callable[[LanguageModelConfig, TrainerConfig], Task], *settings: str
) -> Recipe:
    return Recipe(lambda sizes, cfg, _: made(sizes, cfg), LanguageModelConfig, settings)


TASKS = {
    **{name: _translation(name) for name in translation.TASKS},
    "markov": _language_model(
        markov_task, "steps=400", "warmup=40", "lr=0.01", "batch_tokens=1024"
    ),
    "manuals": _language_model(
        manuals_task, "steps=1000", "warmup=100", "lr=0.004", "batch_tokens=1024"
    ),
    # The smallest GPT-2, for a GPU: rates and weight decay as usual for its size, not measured.
    "gpt2": _language_model(
        manuals_task, "size=gpt2", "steps=1000", "warmup=100", "lr=0.0006", "schedule=cosine",
        "weight_decay=0.1", "dropout=0.1", "dtype=bf16", "batch_tokens=32768", "accumulate=4",
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    with joined() as processes:
        show = Output(given.json, processes.rank == 0)
        try:
            return _train(given, processes, show)
        except LabError as error:
            show.error(str(error))
            return 1
        except NotImplementedError as error:
            show.error(f"`{unwritten_step(error)}` is not written yet")
            return 1


class Output:
    """What the command prints: lines for people, or JSON records for programs.

    Args:
        as_json: JSON, one record a line.
        first: whether this is process 0, the only one that prints.
    """

    def __init__(self, as_json: bool, first: bool) -> None:
        self._json, self._first = as_json, first

    def error(self, message: str) -> None:
        """One sentence on standard error."""
        if self._first:
            print(message, file=sys.stderr)

    def event(self, event: str, text: str, **values: Any) -> None:
        """Something happened."""
        if self._first:
            print(json.dumps({"event": event, **values}) if self._json else text, flush=True)

    def record(self, record: Record, steps: int) -> None:
        """A line of the log."""
        self.event("log", line(record, steps), **asdict(record))


def line(record: Record, steps: int) -> str:
    """A record for people: progress, loss, speed, memory, time left."""
    minutes, seconds = divmod(round(record.seconds_left), 60)
    parts = [
        f"step {record.step:>{len(str(steps))}}/{steps}",
        f"loss {record.loss:.4f}",
        f"validation {record.validation_loss:.4f}" if record.validation_loss is not None else "",
        f"lr {record.lr:.2e}",
        f"{record.tokens_per_second:,.0f} tokens/s",
        f"MFU {record.mfu:.1%}" if record.mfu is not None else "",
        f"{record.memory / 2**20:,.0f} MiB",
        f"{record.skipped} skipped" if record.skipped else "",
        f"{minutes}:{seconds:02} left",
    ]
    return "  ".join(part for part in parts if part)


def _train(given: argparse.Namespace, processes: Processes, show: Output) -> int:
    if given.task not in TASKS:
        hint = settings.did_you_mean(given.task, TASKS) or settings.list_of(TASKS)
        raise settings.SettingError(f"there is no task {given.task!r}{hint}")
    recipe = TASKS[given.task]
    chosen = [*recipe.settings, *given.set]
    cfg, sizes = settings.parse(chosen, (TrainerConfig, recipe.sizes))
    if not any(setting.startswith("save_every=") for setting in chosen):
        # Ten checkpoints even in a short training: a program that is killed loses little.
        cfg = replace(cfg, save_every=min(cfg.save_every, max(1, cfg.steps // 10)))
    folder = given.out or Path("runs", given.task)
    if folder.exists() and not folder.is_dir():
        raise settings.SettingError(f"{folder} is not a folder; give another one with --out")
    parts = Parts() if given.parts is None else parts_of(given.parts)
    task = _made(given.task, sizes, cfg, parts)
    trainer = Trainer(
        task.model, task.loss, cfg, folder=folder, about={"task": given.task, **asdict(sizes)},
        params_per_token=task.params_per_token, parts=parts, processes=processes,
        on_record=lambda record: show.record(record, cfg.steps),
    )  # fmt: skip
    if trainer.resume():
        step = trainer.progress.step
        show.event("resume", f"going on after step {step} of {cfg.steps}", step=step)
    with _stopped_by_signals(trainer) as received:
        trainer.fit(task.data, task.validation)
    progress, step = trainer.progress, trainer.progress.step
    if not progress.ends(cfg):
        text = f"stopped after step {step}; the same command goes on from there"
        show.event("stop", text, step=step)
        return 128 + max(received, default=signal.SIGTERM)  # another process may have received it
    if progress.worse:
        place = folder / checkpoints.BEST / checkpoints.MODEL
        early = f"; training ended early, after step {step}" if step < cfg.steps else ""
        show.event(
            "best", f"the lowest validation loss was {progress.best:.4f}, in {place}{early}",
            step=step, validation_loss=progress.best, weights=str(place),
        )  # fmt: skip
    _finish(task, trainer, folder, show)
    return 0


def _made(name: str, sizes: Any, cfg: TrainerConfig, parts: Parts) -> Task:
    try:
        return TASKS[name].make(sizes, cfg, parts)
    except ValueError as error:  # too many examples, sentences longer than a batch, odd sizes
        raise settings.SettingError(
            f"these settings do not fit the task {name}: {error}"
        ) from error


@contextmanager
def _stopped_by_signals(trainer: Trainer) -> Iterator[list[int]]:
    """In this block, SIGTERM and SIGINT (Ctrl-C) end training after a checkpoint.

    Yields the signals received so far.
    """
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        received.append(number)
        trainer.stop()
        signal.signal(number, signal.SIG_DFL)  # the second time, it ends the program at once

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finish(task: Task, trainer: Trainer, folder: Path, show: Output) -> None:
    """Measure the model, and the mean of the last checkpoints if several are kept."""
    if trainer.processes.rank != 0:
        return
    found, step = task.measure(trainer.model, trainer.device), trainer.progress.step
    place = folder / checkpoints.LAST / checkpoints.MODEL
    show.event(
        "end", f"{found.text}; the weights are in {place}",
        step=step, **found.values, weights=str(place),
    )  # fmt: skip
    kept = checkpoints.kept(folder)
    if len(kept) > 1:
        average = checkpoints.average_checkpoints(
            [checkpoints.read_weights(place) for place in kept]
        )
        place = checkpoints.write_weights(folder / checkpoints.AVERAGED, average)
        checkpoints.load_weights(trainer.model, average, place)
        found = task.measure(trainer.model, trainer.device)
        show.event(
            "average", f"{found.text}, with the mean of {len(kept)} checkpoints, in {place}",
            step=step, **found.values, weights=str(place), checkpoints=len(kept),
        )  # fmt: skip


def _described() -> str:
    """All settings with their defaults: of all tasks, of some, and what a task starts with."""
    lines = [
        f"all: {settings.described([TrainerConfig])}",
        "     (if you do not give save_every, a tenth of the steps where that is less)",
    ]
    for sizes in dict.fromkeys(recipe.sizes for recipe in TASKS.values()):
        names = [name for name, recipe in TASKS.items() if recipe.sizes is sizes]
        lines.append(f"{', '.join(names)}: {settings.described([sizes])}")
    lines += [
        f"{name} starts with {' '.join(recipe.settings)}"
        for name, recipe in TASKS.items()
        if recipe.settings
    ]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m attnlab.train",
        description="Train a model. The same command again goes on from the last checkpoint.",
        epilog=f"settings and their defaults:\n{_described()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", help=", ".join(TASKS))
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; may be repeated"
    )
    parser.add_argument("--out", type=Path, help="folder of checkpoints and log (runs/TASK)")
    parser.add_argument(
        "--parts", type=Path, metavar="FILE", help="Python: functions to train with, by their names"
    )
    parser.add_argument("--json", action="store_true", help="one JSON record a line, for programs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
