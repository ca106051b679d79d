"""Learns the merges of the manuals and trains a GPT for longer: what comes with lab 9.

Run it after a change of the manuals or of the model (five CPU minutes), on Python 3.11:

    OMP_NUM_THREADS=1 python autograder/exercises/lab09/train_gpt/measure_longer.py

It writes lib/attnlab/models/manuals_gpt.safetensors (weights in 16 bits, and the merges) and
longer.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch
from torch import Tensor

from attnlab.data import manuals
from attnlab.gpt import GPT, init_gpt
from attnlab.language_modeling import RandomWindows, bits_per_byte, lm_loss, text_loss
from attnlab.models.shipped_gpts import save_gpt
from attnlab.models.small_gpts import NUM_MERGES, SHIPPED, SHIPPED_CONFIG
from attnlab.tokenizer import as_tiktoken, count_pieces, train_bpe
from attnlab.training import Trainer
from attnlab.training_config import TrainerConfig

CFG = TrainerConfig(
    steps=1600, lr=5e-3, warmup=150, batch_tokens=2048, device="cpu", log_every=100, seed=0
)


class LogitsOnly(GPT):
    """The library's GPT in the form that `lm_loss` expects."""

    def forward(self, ids: Tensor) -> Tensor:  # type: ignore[override]
        """Logits alone, without the state."""
        return super().forward(ids).logits


def main() -> None:
    """Learn, train, measure, write."""
    torch.set_num_threads(1)
    start = time.process_time()
    text = manuals.load()
    merges = train_bpe(count_pieces(text.train), NUM_MERGES, tie="greatest")
    numbers = {bytes([byte]): byte for byte in range(256)}
    numbers |= {a + b: 256 + i for i, (a, b) in enumerate(merges)}
    encoding = as_tiktoken(merges)
    train, validation = (torch.tensor(encoding.encode(part)) for part in text)
    model = LogitsOnly(SHIPPED_CONFIG)
    init_gpt(model, generator=torch.Generator().manual_seed(0))
    windows = RandomWindows(
        train, CFG.batch_tokens // SHIPPED_CONFIG.context, SHIPPED_CONFIG.context
    )
    Trainer(model, lm_loss, CFG, on_record=lambda record: print(record, flush=True)).fit(windows)
    pairs = torch.tensor([(numbers[a], numbers[b]) for a, b in merges], dtype=torch.int16)
    save_gpt(model, SHIPPED, merges=pairs)
    nats = text_loss(model, validation, SHIPPED_CONFIG.context)
    size = len(text.validation.encode())
    report = {
        "steps": CFG.steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "bits_per_byte": round(bits_per_byte(nats, len(validation) - 1, size), 4),
        "cpu_seconds": round(time.process_time() - start),
    }
    print(report)
    Path(__file__).with_name("longer.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
