"""Trains the three models with many seeds: makes the reference's weights and the bands.

Run it after a change of the data, the models or the training (25 CPU minutes; or one task):

    OMP_NUM_THREADS=1 python autograder/exercises/lab07/train_transformer/measure.py [dates]

It writes bands.json, and the weights of seed 0, which the notebook uses, too. Models without a
causal mask and without positions, and a GRU for comparison: measure_wrong_models.py.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch

from attnlab.batching import make_batch
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.evaluation import forced_and_free
from attnlab.models.small_transformers import TASKS, small_transformer, train_on
from attnlab.notebook.saved import trained
from attnlab.seq2seq_training import train_transformer

HERE = Path(__file__).parent
SEEDS = range(10)
HIDDEN = 1000


def measured(task: str, seed: int) -> dict[str, Any]:
    """Train one model; its share of right answers and more."""
    start = time.process_time()
    build = partial(small_transformer, task, Transformer, init_weights, seed)
    train = partial(train_on, task, train=train_transformer, make_batch=make_batch, seed=seed)
    if seed == 0:
        model, losses = trained(str(HERE / f"{task}.safetensors"), build, train, again=True)
        assert model is not None
    else:
        model = build()
        losses = torch.tensor(train(model))
    seconds = time.process_time() - start
    hidden = TASKS[task].unseen(HIDDEN, 1000 + seed, "test")
    forced, free = forced_and_free(model, make_batch(hidden))
    return {
        "seed": seed,
        "exact_match": free.exact,
        "symbols_forced": round(forced.symbols, 4),
        "symbols_free": round(free.symbols, 4),
        "first_loss": round(losses[0].item(), 2),
        "last_loss": round(losses[-50:].mean().item(), 4),
        "cpu_seconds": round(seconds, 1),
    }


def summary(task: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean and the spread over the seeds."""
    scores = [row["exact_match"] for row in rows]
    mean, sd = statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else 0.0
    return {
        "hidden_pairs": HIDDEN,
        "steps": TASKS[task].steps,
        "mean": round(mean, 5),
        "sd": round(sd, 5),
        "mean_minus_4_sd": round(mean - 4 * sd, 5),
        "runs": rows,
    }


def main(tasks: list[str]) -> None:
    """Train, print a table, write the weights of seed 0 and the bands after each run."""
    torch.set_num_threads(1)
    file = HERE / "bands.json"
    report = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    runs: dict[str, list[dict[str, Any]]] = {task: [] for task in tasks}
    for seed in SEEDS:
        for task in tasks:
            runs[task].append(measured(task, seed))
            report[task] = summary(task, runs[task])
            print(task, runs[task][-1], flush=True)
            file.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TASKS))
