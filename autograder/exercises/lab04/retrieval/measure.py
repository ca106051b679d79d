"""Trains the retrieval models of lab 4 from many seeds and writes the results down.

    python autograder/exercises/lab04/retrieval/measure.py

prints a table and writes, in this folder, bands.json (the result of each seed, on hidden data) and
the weights of the first seed, which are the reference's. The bands in __init__.py enclose these
numbers; a test compares them.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from attnlab.data.retrieval import questions
from attnlab.models.retriever import D_MODEL, FEATURES, Retriever, share_right, train_retriever
from attnlab.multihead import MultiHeadAttention
from attnlab.retrieval import answer_loss

HERE = Path(__file__).parent
FILES = {1: "retrieval_1_head.safetensors", 2: "retrieval_2_heads.safetensors"}
SEEDS = range(12)


def main() -> None:
    """Train from each seed, print a row for each, and write the files."""
    torch.set_num_threads(1)
    table: dict[str, dict[str, object]] = {}
    for heads, file in FILES.items():
        rows = []
        for seed in SEEDS:
            model, row = measured(heads, seed)
            print(f"{heads} heads, seed {seed:2}: {row}")
            rows.append(row)
            if seed == SEEDS[0]:
                save_file(model.state_dict(), HERE / file)
                (HERE / file).chmod(0o644)
        table[file] = {"seeds": rows, **summary(rows)}
        print(f"{heads} heads: {summary(rows)}")
    (HERE / "bands.json").write_text(json.dumps(table, indent=1) + "\n", "utf-8")


def measured(heads: int, seed: int) -> tuple[Retriever, dict[str, float]]:
    """A trained model, its shares of right answers, and its CPU seconds of training."""
    torch.manual_seed(seed)
    per_head = FEATURES // heads
    model = Retriever(MultiHeadAttention(D_MODEL, heads, d_k=per_head, d_v=per_head))
    start = time.process_time()
    train_retriever(model, answer_loss, seed=seed)
    spent = time.process_time() - start
    first, second, both = share_right(model.eval(), questions("test", 4000, seed=1)).tolist()
    return model, {
        "first": round(first, 4),
        "second": round(second, 4),
        "both": round(both, 4),
        "each": round((first + second) / 2, 4),
        "cpu_seconds": round(spent, 2),
    }


def summary(rows: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Mean, standard deviation, and the mean minus and plus four standard deviations."""
    found = {}
    for key in ("both", "each"):
        values = [row[key] for row in rows]
        mean, sd = statistics.mean(values), statistics.stdev(values)
        found[key] = {
            "mean": round(mean, 4),
            "sd": round(sd, 4),
            "mean - 4 sd": round(mean - 4 * sd, 4),
            "mean + 4 sd": round(mean + 4 * sd, 4),
        }
    return found


if __name__ == "__main__":
    main()
