"""The speed of the reference models, compared with torch's own and with those of two packages.

    python benchmarks/models.py            ten minutes; the first time, it installs two packages
    python benchmarks/models.py --quick    two minutes
    python benchmarks/models.py --json     for programs

A row of the first table is one training step (forward, cross-entropy, backward, AdamW) of the
encoder-decoder on one thread. All contenders have the same sizes and the same number of parameters,
and they take turns in one run. A ratio above 1 means that ours needs less processor time than
torch.nn.Transformer. The second table has GPT and BERT (language_models.py); there a ratio above 1
means that ours needs less than the fastest of the others.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

HERE = Path(__file__).resolve().parent
sys.path[0:1] = [str(HERE.parent / "lib"), str(HERE)]

import language_models  # noqa: E402
import torch  # noqa: E402
import typer  # noqa: E402
from machine import machine  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from attnlab import encoder_decoder, transformer  # noqa: E402
from attnlab.positions import sinusoidal_pe  # noqa: E402
from attnlab.transformer_config import TransformerConfig  # noqa: E402

# Least speed of ours, as a share of torch's: with the fused kernel, and as the labs build it. The
# labs write each weight down, and take the softmax in four operations: the longer the texts, the
# more that costs (0.81 at 256 symbols, and 0.88 with torch's softmax in its place).
BUDGETS = {"fused": 1.0, "plain": 0.75}
# Least speed of ours, as a share of the fastest package's (of transformers' when a GPT writes). All
# spend a step in the same kernels of torch, so steps are equally fast up to the noise of a run.
TASKS = {"GPT step": ("gpt", 0.95), "BERT step": ("bert", 0.95), "GPT writes": ("generate", 1.0)}


@dataclass(frozen=True)
class Size:
    """A model and a batch.

    Attributes:
        name: how the table calls it.
        length: symbols of each source and of each target.
    """

    name: str
    d_model: int
    num_heads: int
    layers: int
    vocab: int
    batch: int
    length: int

    @property
    def config(self) -> TransformerConfig:
        """The model's numbers; dropout as in training."""
        return TransformerConfig(
            self.vocab, self.vocab, self.d_model, self.num_heads, 4 * self.d_model, self.layers,
            self.layers, dropout=0.1, norm="pre", tie="output", max_len=self.length,
        )  # fmt: skip


SIZES = (
    Size("dates: 1+1 layers, d=64, 64 x 30", 64, 4, 1, 40, 64, 30),
    Size("small: 2+2 layers, d=128, 16 x 64", 128, 4, 2, 1000, 16, 64),
    Size("long: 2+2 layers, d=128, 4 x 256", 128, 4, 2, 1000, 4, 256),
    Size("wide: 2+2 layers, d=256, 8 x 64", 256, 8, 2, 1000, 8, 64),
)


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        what: which of ours, and at which size.
        ours, peer: processor seconds of a training step, the median of all rounds.
        ratio: the speed of ours, as a share of the peer's.
    """

    what: str
    ours: float
    peer: float
    ratio: float


class TorchModel(nn.Module):
    """torch.nn.Transformer with the same tables, positions and head around it."""

    positions: Tensor

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__()
        self.d_model, self.pad = cfg.d_model, cfg.pad
        self.source_embedding = nn.Embedding(cfg.source_vocab, cfg.d_model)
        self.target_embedding = nn.Embedding(cfg.target_vocab, cfg.d_model)
        self.register_buffer("positions", sinusoidal_pe(cfg.max_len, cfg.d_model))
        self.dropout = nn.Dropout(cfg.dropout)
        with warnings.catch_warnings(action="ignore"):  # about a faster way, for evaluation only
            self.model = nn.Transformer(
                cfg.d_model, cfg.num_heads, cfg.num_encoder_layers, cfg.num_decoder_layers,
                cfg.d_ff, cfg.dropout, batch_first=True, norm_first=cfg.norm == "pre",
            )  # fmt: skip
        self.head = nn.Linear(cfg.d_model, cfg.target_vocab, bias=False)
        self.head.weight = self.target_embedding.weight

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits, (B, T, V)."""
        padding = source == self.pad
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        hidden = self.model(
            self._embed(self.source_embedding, source),
            self._embed(self.target_embedding, target),
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.head(hidden)

    def _embed(self, table: nn.Embedding, symbols: Tensor) -> Tensor:
        x = table(symbols) * math.sqrt(self.d_model)
        return self.dropout(x + self.positions[: symbols.shape[1]])


class LabModel(encoder_decoder.Transformer):
    """The labs' model, called as the others are."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """Logits, (B, T, V)."""
        return super().forward(source, source != self.cfg.pad, target)


CONTENDERS: dict[str, Callable[[TransformerConfig], nn.Module]] = {
    "fused": transformer.Transformer,
    "plain": LabModel,
    "torch": TorchModel,
}


def main(
    quick: Annotated[bool, typer.Option(help="Fewer rounds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Measure, print the table, and fail if a budget is exceeded."""
    torch.set_num_threads(1)
    rounds, console = (5 if quick else 30), Console(stderr=as_json)
    rows: dict[str, list[Row]] = {name: [] for name in BUDGETS}
    for size in SIZES:
        with console.status(size.name):
            seconds = measure(size, rounds)
        for name, found in rows.items():
            ours, peer = seconds[name], seconds["torch"]
            found.append(Row(f"step, {name}, {size.name}", ours, peer, peer / ours))
    with console.status("GPT and BERT"):
        others = language_models.measured(rounds)
    worst = {name: min(row.ratio for row in found) for name, found in rows.items()}
    worst |= language_ratios(others)
    every = [row for found in rows.values() for row in found]
    if as_json:
        ratios = {
            "generate_ratio" if name == "generate" else f"step_ratio_{name}": round(ratio, 3)
            for name, ratio in worst.items()
        }
        shown = {"rows": [asdict(row) for row in every], "language_models": others}
        print(json.dumps({**shown, **ratios}))
    else:
        _show(console, every, rounds)
        _show_language_models(console, others)
    budgets = {**BUDGETS, **dict(TASKS.values())}
    missed = [name for name, ratio in worst.items() if ratio < budgets[name]]
    for name in missed:
        console.print(f"{name}: {worst[name]:.2f}, below its budget of {budgets[name]:g}")
    sys.exit(bool(missed))


def language_ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The lowest ratio of each task over all sizes; no entry if no other package was there."""
    ratios: dict[str, float] = {}
    for row in rows:
        name, _ = TASKS[row["task"]]
        ratio = _ratio(row)
        if ratio is not None:
            ratios[name] = min(ratio, ratios.get(name, math.inf))
    return ratios


def _ratio(row: dict[str, Any]) -> float | None:
    """The peer's seconds divided by ours."""
    seconds = row["seconds"]
    peers = [language_models.HF] if row["task"] == "GPT writes" else list(seconds)
    found = [seconds[name] for name in peers if name in seconds and name != language_models.OURS]
    return min(found) / seconds[language_models.OURS] if found else None


def measure(size: Size, rounds: int) -> dict[str, float]:
    """Processor seconds of one training step, by contender: the median of the rounds.

    The first two steps of each are not counted: torch then makes what it keeps.
    """
    torch.manual_seed(0)
    steps = {name: _step(make(size.config), size) for name, make in CONTENDERS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(2 + rounds):
        # In turns, so that a machine that slows down affects all of them.
        for name, step in steps.items():
            start = time.process_time()
            step()
            if number >= 2:
                seconds[name].append(time.process_time() - start)
    return {name: median(found) for name, found in seconds.items()}


def _step(model: nn.Module, size: Size) -> Callable[[], None]:
    """One training step of a model on a batch of random symbols, a third of them padding."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    shape = size.batch, size.length
    source, target = (torch.randint(1, size.vocab, shape) for _ in range(2))
    lengths = torch.linspace(size.length / 3, size.length, size.batch).long()  # (B,)
    source = source.where(torch.arange(size.length) < lengths[:, None], 0)

    def step() -> None:
        logits = model(source, target)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def _show(console: Console, rows: list[Row], rounds: int) -> None:
    table = Table()
    for heading in ("one training step", "ours, ms", "torch.nn, ms", "torch ÷ ours"):
        table.add_column(heading, justify="left" if heading.startswith("one") else "right")
    for row in rows:
        times = (f"{1000 * seconds:.1f}" for seconds in (row.ours, row.peer))
        table.add_row(row.what, *times, f"{row.ratio:.2f}")
    console.print(table)
    console.print(f"{machine()}; one thread; {rounds} rounds, in turns.", highlight=False)


def _show_language_models(console: Console, rows: list[dict[str, Any]]) -> None:
    names = (language_models.OURS, language_models.HF, language_models.X)
    table = Table()
    for heading in ("GPT and BERT", *(f"{name}, ms" for name in names), "peer ÷ ours"):
        table.add_column(heading, justify="left" if heading.startswith("GPT") else "right")
    for row in rows:
        times = (
            f"{1000 * row['seconds'][name]:.1f}" if name in row["seconds"] else "not installed"
            for name in names
        )
        ratio = _ratio(row)
        table.add_row(
            f"{row['task']}, {row['size']}", *times, "" if ratio is None else f"{ratio:.2f}"
        )
    console.print(table)
    console.print(
        f"A GPT writes {language_models.NEW} tokens after {language_models.PROMPT}, with a cache.",
        highlight=False,
    )


if __name__ == "__main__":
    typer.run(main)
