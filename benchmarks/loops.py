"""What a training loop costs beside the training itself: ours, Lightning's and accelerate's.

    python benchmarks/loops.py            three minutes; the first time, it installs the other two
    python benchmarks/loops.py --quick    half a minute
    python benchmarks/loops.py --json     for programs

Each loop trains the same small model with the same optimiser and the same limit for gradients, on
one thread, without checkpoints and with a line of the log every 50 steps. Its overhead is the
processor time of a step minus that of a bare loop: forward, backward, clipping, update. Each of
them takes turns with the bare loop in a process of its own, in an environment with its package. All
must end with the same loss. This is not part of models.py because the other environments lack what
that file imports.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
PEERS_HOME = HERE.parent / "build" / "loops"
WITHOUT_CUDA = "https://download.pytorch.org/whl/cpu"
VOCAB, D_MODEL, BATCH, LENGTH, LOG_EVERY = 50, 64, 16, 32, 50
STEPS, LR, MAX_NORM = 100, 1e-3, 1.0
NAMES = {"ours": "ours", "lightning": "Lightning", "accelerate": "accelerate"}


class Model(nn.Module):
    """A Transformer with one layer, from torch alone, so that every environment has it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(VOCAB, D_MODEL)
        self.layer = nn.TransformerEncoderLayer(D_MODEL, 4, 4 * D_MODEL, 0.0, batch_first=True)
        self.head = nn.Linear(D_MODEL, VOCAB)

    def forward(self, x: Tensor) -> Tensor:
        """Logits, (B, T, V)."""
        return self.head(self.layer(self.table(x)))


class Batches:
    """The same batch again and again, and the processor time at which each was asked for."""

    def __init__(self) -> None:
        self.batch = tuple(torch.randint(0, VOCAB, (BATCH, LENGTH)) for _ in range(2))
        self.asked: list[float] = []

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        for _ in range(STEPS):
            self.asked.append(time.process_time())
            yield self.batch

    def epoch(self, number: int, start: int = 0) -> Iterator[tuple[Tensor, ...]]:
        """An epoch, as our Trainer asks for it."""
        return iter(self)

    def seconds(self) -> list[float]:
        """From one batch to the next; the first steps are not counted, and torch warms up there."""
        return [after - before for before, after in pairwise(self.asked[10:])]


def mean_loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    """The cross-entropy per token."""
    x, y = batch
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of every loop."""
    return torch.optim.AdamW(model.parameters(), LR, weight_decay=0.0, fused=True)


def bare(model: nn.Module, batches: Batches) -> None:
    """What a training step has to do, and nothing else."""
    optimizer = adamw(model)
    for batch in batches:
        optimizer.zero_grad()
        mean_loss(model, batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()


def ours(model: nn.Module, batches: Batches) -> None:
    """attnlab's Trainer."""
    from attnlab.train_step import Sums
    from attnlab.training import Parts, Trainer
    from attnlab.training_config import TrainerConfig

    def loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Sums:
        x, y = batch
        total = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        return Sums(total, torch.tensor(y.numel()))

    cfg = TrainerConfig(
        steps=STEPS, lr=LR, batch_tokens=BATCH * LENGTH, max_norm=MAX_NORM, device="cpu",
        schedule="constant", log_every=LOG_EVERY, save_every=10 * STEPS,
    )  # fmt: skip
    parts = Parts(optimizer=lambda model, lr, decay: adamw(model))
    Trainer(model, loss, cfg, parts=parts).fit(batches)


def lightning(model: nn.Module, batches: Batches) -> None:
    """Lightning's Trainer."""
    import lightning as L  # noqa: N812 - as its manual has it
    from lightning.pytorch.loggers import CSVLogger

    class Module(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def training_step(self, batch: tuple[Tensor, ...]) -> Tensor:
            loss = mean_loss(self.model, batch)
            self.log("loss", loss)
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return adamw(self.model)

    with tempfile.TemporaryDirectory() as folder:
        L.Trainer(
            max_epochs=1, accelerator="cpu", devices=1, gradient_clip_val=MAX_NORM,
            log_every_n_steps=LOG_EVERY, logger=CSVLogger(folder), enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        ).fit(Module(), batches)  # fmt: skip


def accelerate(model: nn.Module, batches: Batches) -> None:
    """A loop with accelerate's Accelerator, which leaves the loop to its user."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer = accelerator.prepare(model, adamw(model))
    losses = []
    for batch in batches:
        with accelerator.accumulate(model):
            optimizer.zero_grad()
            loss = mean_loss(model, batch)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
        losses.append(loss.detach())
        if len(losses) == LOG_EVERY:
            torch.stack(losses).mean().item()
            losses.clear()


LOOPS: dict[str, Callable[[nn.Module, Batches], None]] = {
    "ours": ours,
    "lightning": lightning,
    "accelerate": accelerate,
}


def measure(name: str, rounds: int) -> dict[str, float]:
    """Processor seconds of a step of the bare loop and of `name`'s: medians over all rounds.

    Raises:
        SystemExit: they do not end with the same loss.
    """
    torch.set_num_threads(1)
    found: dict[str, list[float]] = {"bare": [], name: []}
    for _ in range(rounds):
        losses = []
        for which, loop in (("bare", bare), (name, LOOPS[name])):
            loss, seconds = trained(loop)
            losses.append(loss)
            found[which] += seconds
        if abs(losses[0] - losses[1]) > 1e-3 * losses[0]:
            raise SystemExit(f"{name} trains another model: its loss and the bare loop's: {losses}")
    return {which: median(seconds) for which, seconds in found.items()}


def trained(loop: Callable[[nn.Module, Batches], None]) -> tuple[float, list[float]]:
    """The loss after a training, and the processor seconds of each step."""
    torch.manual_seed(0)
    model, batches = Model(), Batches()
    loop(model, batches)
    return mean_loss(model.train(), batches.batch).item(), batches.seconds()


def main(quick: bool, as_json: bool) -> None:
    """Measure every loop and print a table."""
    sys.path[0:1] = [str(HERE)]
    from machine import machine

    rounds, peers = (3 if quick else 20), _peers()
    rows = {}
    for name in NAMES:
        program = Path(sys.executable) if name == "ours" else peers
        if program is None:
            continue
        rows[name] = _measured(program, name, rounds)
    overheads = {name: row[name] - row["bare"] for name, row in rows.items()}
    if as_json:
        print(json.dumps({"rows": rows, "overheads": overheads}))
    else:
        print(f"{'loop':12}{'a step, ms':>12}{'bare, ms':>12}{'overhead, ms':>14}")
        for name, row in rows.items():
            times = f"{1000 * row[name]:12.2f}{1000 * row['bare']:12.2f}"
            print(f"{NAMES[name]:12}{times}{1000 * overheads[name]:14.2f}")
        print(f"{machine()}; one thread; {rounds} rounds of {STEPS} steps, in turns.")


def _measured(program: Path, name: str, rounds: int) -> dict[str, float]:
    """The result of `measure` in another process."""
    line = [str(program), str(Path(__file__)), "--loop", name, str(rounds)]
    library = str(HERE.parent / "lib")
    variables = {**os.environ, "PYTHONPATH": library, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(line, env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _peers() -> Path | None:
    """Python with Lightning and accelerate, installed on the first run; None if that fails."""
    program = PEERS_HOME / "bin" / "python"
    if not (PEERS_HOME / "ready").exists():
        print("installing Lightning and accelerate, the first time", file=sys.stderr)
        venv.create(PEERS_HOME, with_pip=True)
        version, _, variant = torch.__version__.partition("+")
        pip = [str(program), "-m", "pip", "install", "--quiet", "--quiet"]
        if variant == "cpu":  # PyPI has builds with CUDA only, which are large
            small = ["--no-deps", "--retries", "1", "--index-url", WITHOUT_CUDA]
            subprocess.run([*pip, *small, f"torch=={torch.__version__}"], check=False)
        wanted = ["-r", str(HERE / "loops.txt"), f"torch=={version}"]
        if subprocess.run([*pip, *wanted], check=False).returncode:
            print("They cannot be installed here, so they are not measured.", file=sys.stderr)
            return None
        (PEERS_HOME / "ready").touch()
    return program


if __name__ == "__main__":
    if "--loop" in sys.argv:
        warnings.simplefilter("ignore")  # the other two warn about settings that are meant
        print(json.dumps(measure(sys.argv[-2], int(sys.argv[-1]))))
    else:
        main("--quick" in sys.argv, "--json" in sys.argv)
