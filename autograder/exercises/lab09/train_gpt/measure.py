"""Trains the two small GPTs with ten seeds: makes the reference's weights and the bands.

Run it after a change of the data, the models or the training (ten CPU minutes; or one task):

    OMP_NUM_THREADS=1 python autograder/exercises/lab09/train_gpt/measure.py [markov]

It writes bands.json, the weights of seed 0, which the notebook uses, too, and a model of the source
that was trained without a causal mask. What others need for the same text is in bands.json, too.
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
from bands import ROWS, manuals_of_this_python, without_a_mask
from safetensors.torch import save

from attnlab.compression import gzip_bits_per_byte
from attnlab.data import markov
from attnlab.decoder_only import GPT
from attnlab.gpt import init_gpt
from attnlab.language_modeling import bits_per_byte, get_batch, lm_loss, text_loss
from attnlab.models.small_gpts import TASKS, corpus, markov_tokens, small_gpt, train_gpt
from attnlab.notebook.saved import trained

HERE = Path(__file__).parent
SEEDS = range(10)


def measured(task: str, data: torch.Tensor, seed: int) -> dict[str, Any]:
    """Train one model; its loss on new text and more."""
    start = time.process_time()
    build = partial(small_gpt, task, GPT, init_gpt, seed)
    train = partial(train_gpt, task, data=data, lm_loss=lm_loss, get_batch=get_batch, seed=seed)
    if seed == 0:
        model, losses = trained(str(HERE / f"{task}_gpt.safetensors"), build, train, again=True)
        assert model is not None
    else:
        model = build()
        losses = torch.tensor(train(model))
    seconds = time.process_time() - start
    context = TASKS[task].cfg.context
    row: dict[str, Any] = {"seed": seed, "first_loss": round(losses[0].item(), 3)}
    if task == "markov":
        nats = text_loss(model, markov_tokens("hidden", ROWS, 1000 + seed), context)
        row["score"] = round(nats - markov.course_source().entropy_rate, 4)
    else:
        ids, size, pairs = manuals_of_this_python()
        bits = bits_per_byte(text_loss(model, ids, context), len(ids) - 1, size)
        row |= {"bits_per_byte": round(bits, 4), "score": round(bits / pairs, 4)}
    return {**row, "last_loss": round(losses[-1].item(), 3), "cpu_seconds": round(seconds, 1)}


def summary(task: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean and the spread over the seeds: of nats above the entropy, or of pairs' bits."""
    scores = [row["score"] for row in rows]
    mean, sd = statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else 0.0
    return {
        "steps": TASKS[task].trainer.steps,
        "mean": round(mean, 4),
        "sd": round(sd, 4),
        "mean_plus_4_sd": round(mean + 4 * sd, 4),
        "runs": rows,
    }


def leaking(data: torch.Tensor) -> dict[str, Any]:
    """Train a model of the source without a causal mask, and save its weights."""
    model = without_a_mask(small_gpt("markov", GPT, init_gpt))
    losses = train_gpt("markov", model, data, lm_loss, get_batch)
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    (HERE / "without_a_mask.safetensors").write_bytes(save(weights))
    return {"last_loss": round(losses[-1], 4)}


def main(tasks: list[str]) -> None:
    """Train, print, and write the weights of seed 0 and the bands after each run."""
    torch.set_num_threads(1)
    file = HERE / "bands.json"
    report = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    for task in tasks:
        if task == "markov":
            data = markov_tokens("train")
            report["without_a_mask"] = leaking(data)
        else:
            found = corpus()
            data = found.train
            _, size, pairs = manuals_of_this_python()
            gzip = gzip_bits_per_byte(found.text.validation)
            report["others"] = {
                "bytes": size, "pairs_of_tokens": round(pairs, 4), "gzip": round(gzip, 4)
            }  # fmt: skip
        rows: list[dict[str, Any]] = []
        for seed in SEEDS:
            rows.append(measured(task, data, seed))
            report[task] = summary(task, rows)
            print(task, rows[-1], flush=True)
            file.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TASKS))
