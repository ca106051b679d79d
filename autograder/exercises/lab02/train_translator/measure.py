"""Trains the translator with many seeds: makes the reference's weights and the exercise's bands.

Run it after a change of the data, the model or the training (three CPU minutes):

    OMP_NUM_THREADS=1 python autograder/exercises/lab02/train_translator/measure.py

It writes bands.json and dates.safetensors (from the seed that the notebook uses).
"""

from __future__ import annotations

import json
import statistics
import time
from functools import partial
from pathlib import Path

import torch

from attnlab.data import dates
from attnlab.decoding import greedy
from attnlab.models.dates_translator import Translator, dates_translator, train_on_dates
from attnlab.notebook.saved import trained
from attnlab.seq2seq import AttentionDecoderCell, pad_batch, train_translator

HERE = Path(__file__).parent
SEEDS = range(12)
HIDDEN = 2000


def exact_match(model: Translator, some: list[dates.Pair]) -> float:
    """The share of pairs that the model translates correctly."""
    batch = dates.batch_of(some, pad_batch)
    written = greedy(model, batch.source, batch.source_mask, dates.BOS, dates.EOS, 12)
    return dates.exact_match(written, some)


def main() -> None:
    """Train, print a table, write the weights of seed 0 and the bands."""
    torch.set_num_threads(1)
    rows = []
    for seed in SEEDS:
        start = time.process_time()
        train = partial(train_on_dates, train=train_translator, pad_batch=pad_batch, seed=seed)
        build = partial(dates_translator, AttentionDecoderCell, seed)
        if seed == 0:
            model, losses = trained(str(HERE / "dates.safetensors"), build, train, again=True)
            assert model is not None
        else:
            model = build()
            losses = torch.tensor(train(model))
            model.eval()
        row = {
            "seed": seed,
            "exact_match": exact_match(model, dates.pairs(HIDDEN, 1000 + seed, "test")),
            "last_loss": round(losses[-50:].mean().item(), 4),
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        print(row, flush=True)
        rows.append(row)
    scores = [row["exact_match"] for row in rows]
    mean, sd = statistics.mean(scores), statistics.stdev(scores)
    report = {
        "hidden_dates": HIDDEN,
        "mean": round(mean, 5),
        "sd": round(sd, 5),
        "mean_minus_4_sd": round(mean - 4 * sd, 5),
        "runs": rows,
    }
    print(f"mean {mean:.4f}, sd {sd:.4f}, mean - 4 sd {mean - 4 * sd:.4f}")
    text = json.dumps(report, indent=1) + "\n"
    (HERE / "bands.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
