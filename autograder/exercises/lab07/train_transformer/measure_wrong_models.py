"""Trains the copying model without a causal mask, and without positions: what do they learn?

Run it after a change of the model or the training (a CPU minute):

    OMP_NUM_THREADS=1 python autograder/exercises/lab07/train_transformer/measure_wrong_models.py

It writes wrong_models.json and the weights of seed 0, which the known mistakes of this exercise
use.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from attnlab.batching import make_batch
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.evaluation import forced_and_free
from attnlab.models.small_transformers import (
    TASKS,
    small_transformer,
    train_on,
    without_a_mask,
    without_positions,
)
from attnlab.seq2seq_training import train_transformer

HERE = Path(__file__).parent
SEEDS = range(2)
HIDDEN = 500
CHANGES: dict[str, Callable[[Any], Any]] = {
    "without_a_mask": without_a_mask,
    "without_positions": without_positions,
}


def main() -> None:
    """Train, print a table, write the weights of seed 0 and what was measured."""
    torch.set_num_threads(1)
    report: dict[str, list[dict[str, float]]] = {name: [] for name in CHANGES}
    for name, change in CHANGES.items():
        for seed in SEEDS:
            model = change(small_transformer("copy", Transformer, init_weights, seed))
            losses = train_on("copy", model, train_transformer, make_batch, seed)
            hidden = make_batch(TASKS["copy"].unseen(HIDDEN, 1000 + seed, "test"))
            forced, free = forced_and_free(model, hidden)
            row = {
                "last_loss": round(sum(losses[-50:]) / 50, 4),
                "symbols_forced": round(forced.symbols, 3),
                "exact_match": free.exact,
            }
            print(name, seed, row, flush=True)
            report[name].append(row)
            if seed == 0:
                weights = {key: value.clone() for key, value in model.state_dict().items()}
                save_file(weights, HERE / f"{name}.safetensors")
    (HERE / "wrong_models.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
