"""Pretrains the small BERT with many seeds: makes the reference's weights and the bands.

Run it after a change of the data, the model or the training (four CPU minutes):

    OMP_NUM_THREADS=1 python autograder/exercises/lab10/pretrain/measure.py

It writes bands.json, and two files of weights: those of seed 0, which the notebook uses, too, and
those of a training in which no word was hidden.
"""

from __future__ import annotations

import json
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from attnlab.bert import Bert
from attnlab.bert_training import pretraining_batches, pretraining_loss, pretraining_scores
from attnlab.models.topics_bert import held_out, pretrain, small_bert
from attnlab.notebook.saved import trained

HERE = Path(__file__).parent
SEEDS = range(12)


def nothing_hidden(documents: Any, size: int, generator: torch.Generator) -> list[Any]:
    """Batches in which each chosen word can still be read."""
    return [
        batch._replace(ids=torch.where(batch.labels < 0, batch.ids, batch.labels))
        for batch in pretraining_batches(documents, size, generator)
    ]


def measured(seed: int) -> dict[str, Any]:
    """Train one model; its scores on 4,000 new pairs, and its cost."""
    start = time.process_time()
    build = partial(small_bert, Bert, seed)
    train = partial(
        pretrain,
        batches=pretraining_batches,
        loss=pretraining_loss,
        scores=pretraining_scores,
        seed=seed,
    )
    if seed == 0:
        model, curve = trained(str(HERE / "bert.safetensors"), build, train, again=True)
        assert model is not None
    else:
        model = build()
        curve = torch.tensor(train(model))
    seconds = time.process_time() - start
    scores = pretraining_scores(model, held_out(pretraining_batches, 801, 20_000 + seed))
    return {
        "seed": seed,
        "nsp": round(scores.nsp, 4),
        "mlm": round(scores.mlm, 4),
        "first_mlm": round(curve[0].item(), 3),
        "cpu_seconds": round(seconds, 1),
    }


def copier() -> dict[str, float]:
    """Train a model that can read every word it is asked for; its scores when words are hidden."""
    model = small_bert(Bert)
    pretrain(model, nothing_hidden, pretraining_loss, pretraining_scores)
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    save_file(weights, HERE / "nothing_hidden.safetensors")
    scores = pretraining_scores(model, held_out(pretraining_batches, 801, 20_000))
    return {"nsp": round(scores.nsp, 4), "mlm": round(scores.mlm, 4)}


def summary(runs: list[dict[str, Any]], key: str) -> dict[str, float]:
    """The mean and the spread over the seeds."""
    values = [run[key] for run in runs]
    mean, sd = statistics.mean(values), statistics.stdev(values)
    return {"mean": round(mean, 4), "sd": round(sd, 4), "4_sd": round(4 * sd, 4)}


def main() -> None:
    """Train, print, write the weights and what was measured."""
    torch.set_num_threads(1)
    runs = []
    for seed in SEEDS:
        runs.append(measured(seed))
        print(runs[-1], flush=True)
    report = {
        "nsp": summary(runs, "nsp"),
        "mlm": summary(runs, "mlm"),
        "nothing_hidden": copier(),
        "runs": runs,
    }
    (HERE / "bands.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
