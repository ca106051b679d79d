"""How well strings of digits are copied, by length, with attention and without: for the plot.

The two translators differ only in the context. One looks back by attention at every step. The
other gets the same summary of the source at every step: the last state of each direction. Both see
the same strings of 2 to 16 digits, equally often. The one without attention is also trained for
four times as many steps: the shorter training shows how hard its task is to learn, the longer one
how much its summary can hold.

    python autograder/exercises/lab02/train_translator/measure_without_attention.py

It writes without_attention.json (three minutes of CPU time per seed); `attnlab.data.measured_lab02`
holds its numbers for the lab.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.data.dates import BOS, EOS, PAD, Batch
from attnlab.decoding import greedy
from attnlab.models.dates_translator import Encoder, Translator
from attnlab.seq2seq import AttentionDecoderCell, pad_batch, train_translator

SEEDS = range(5)
STEPS, LONGER, SIZE, SHORTEST, LONGEST = 1500, 6000, 64, 2, 16
LENGTHS = range(2, 25, 2)
TRIES = 200  # strings of each length
SYMBOLS = EOS + 1 + 10  # PAD, BOS, EOS and ten digits


class SummaryCell(AttentionDecoderCell):
    """A decoder step whose context is always the same: the encoder's last states."""

    def forward(
        self, y_prev: Tensor, state: Tensor, hidden: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        assert mask is not None
        rows, half = torch.arange(len(hidden)), hidden.shape[-1] // 2
        ends = hidden[rows, mask.sum(1) - 1, :half], hidden[:, 0, half:]
        summary = torch.cat(ends, -1)  # (B, d_hidden)
        new_state = self.gru(torch.cat([self.embedding(y_prev), summary], -1), state)
        return self.out(new_state), new_state, torch.zeros(hidden.shape[:2])


def strings(rng: random.Random, count: int, lengths: Sequence[int]) -> list[list[int]]:
    """`count` strings of random digits, each with one of the lengths."""
    return [
        [rng.randrange(EOS + 1, SYMBOLS) for _ in range(rng.choice(lengths))] for _ in range(count)
    ]


def batch_of(some: list[list[int]]) -> Batch:
    """A batch whose targets are its sources."""
    source, _, source_mask = pad_batch(some, PAD)
    target, _, target_mask = pad_batch([[BOS, *digits, EOS] for digits in some], PAD)
    return Batch(source, source_mask, target, target_mask)


def measure(cell: type[AttentionDecoderCell], steps: int, seed: int) -> dict[str, Any]:
    """Train one translator and copy new strings with it."""
    start = time.process_time()
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = Translator(Encoder(SYMBOLS, 16, 64), cell(SYMBOLS, 16, 64, 64, 32), 64, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps)
    lengths = range(SHORTEST, LONGEST + 1)
    batches = (batch_of(strings(rng, SIZE, lengths)) for _ in range(steps))
    losses = train_translator(model, batches, optimizer, 1.0, scheduler)
    model.eval()
    new = random.Random(1000 + seed)
    right = []
    for length in LENGTHS:
        some = strings(new, TRIES, [length])
        batch = batch_of(some)
        copies = greedy(model, batch.source, batch.source_mask, BOS, EOS, length + 5)
        right.append(sum(copy == digits for copy, digits in zip(copies, some, strict=True)))
    return {
        "right": [count / TRIES for count in right],
        "loss": round(sum(losses[-50:]) / 50, 4),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def main() -> None:
    """Measure, print a table, write the file."""
    torch.set_num_threads(1)
    kinds = {
        "with attention": (AttentionDecoderCell, STEPS),
        "without attention": (SummaryCell, STEPS),
        "without attention, longer": (SummaryCell, LONGER),
    }
    found: dict[str, Any] = {
        "trained_on": [SHORTEST, LONGEST],
        "steps": {name: steps for name, (_, steps) in kinds.items()},
        "batch": SIZE,
        "tries": TRIES,
        "lengths": list(LENGTHS),
        **{name: [] for name in kinds},
    }
    for seed in SEEDS:
        for name, (cell, steps) in kinds.items():
            found[name].append(measure(cell, steps, seed))
            print(seed, name, found[name][-1], flush=True)
    target = Path(__file__).with_name("without_attention.json")
    target.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
